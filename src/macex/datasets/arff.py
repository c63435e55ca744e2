"""Reading ARFF, the text format of OpenML: a header of attributes, then lines of values.

Dense files only. Numbers become floats, everything else text; a question mark is a missing value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pandas as pd

from macex.errors import DataError

ATTRIBUTE = re.compile(
    r"""@attribute\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\S+)\s+(.+)""", re.IGNORECASE
)
VALUE = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,]*?)\s*(?:,|$)""")
NUMBERS = {"numeric", "real", "integer"}


def read_arff(text: str) -> pd.DataFrame:
    r"""The table of an ARFF file.

    >>> read_arff("@relation r\n@attribute age real\n@attribute 'a b' string\n@data\n1,'x, y'\n?,z")
       age   a b
    0  1.0  x, y
    1  NaN     z
    """
    lines = enumerate(text.splitlines(), 1)
    kinds = _header(lines)
    cells: list[list[str | None]] = [[] for _ in kinds]
    for number, line in lines:
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        values = list(_values(line))
        if len(values) != len(kinds):
            raise DataError(f"line {number} has {len(values)} values for {len(kinds)} attributes")
        for column, value in zip(cells, values, strict=True):
            column.append(value)
    return pd.DataFrame(
        {
            name: _typed(name, kind, column)
            for (name, kind), column in zip(kinds.items(), cells, strict=True)
        }
    )


def _header(lines: Iterator[tuple[int, str]]) -> dict[str, str]:
    """Attributes and their types, up to the line that says @data."""
    kinds: dict[str, str] = {}
    for number, line in lines:
        if line.strip().lower().startswith("@data"):
            return kinds
        if line.strip().lower().startswith("@attribute"):
            found = ATTRIBUTE.match(line.strip())
            if found is None:
                raise DataError(f"line {number} is no attribute: {line!r}")
            kinds[_unquoted(found[1])] = found[2].strip().lower()
    raise DataError("the text has no line @data: it is no ARFF file, or not a whole one")


def _values(line: str) -> Iterator[str | None]:
    place = 0
    while place <= len(line):
        found = VALUE.match(line, place)
        if found is None:
            raise DataError(f"a quotation mark is not closed: {line!r}")
        yield None if found[1] == "?" else _unquoted(found[1])
        if found.end() == len(line) and not found[0].endswith(","):
            return
        place = found.end()


def _unquoted(word: str) -> str:
    if word[:1] in ("'", '"'):
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    return word


def _typed(name: str, kind: str, column: list[str | None]) -> pd.Series:
    if kind not in NUMBERS:
        return pd.Series(column, dtype="str")
    try:
        return pd.Series(column, dtype="object").astype("float64")
    except ValueError as error:
        raise DataError(
            f"attribute {name!r} holds a value that is not a number: {error}"
        ) from error
