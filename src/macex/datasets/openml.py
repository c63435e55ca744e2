"""Datasets from OpenML: the description of a dataset, its file in ARFF, and a pinned checksum.

OpenML says where the file lies and what its md5 is. The sha256 is known here for files that could
be checked; any other is written down beside the file when it first arrives, and a file that later
has another one is refused.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from macex.datasets.download import cache_folder, digest, fetch
from macex.errors import DataError

ADDRESS = "https://www.openml.org"
ADDRESS_VARIABLE = "MACEX_OPENML"  # another address, or "off"
ATTRIBUTE = re.compile(
    r"""@attribute\s+("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\S+)\s+(.+)""", re.IGNORECASE
)
VALUE = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^,]*?)\s*(?:,|$)""")
NUMBERS = {"numeric", "real", "integer"}


@dataclass(frozen=True, slots=True)
class OpenML:
    """A dataset of OpenML, and how its columns become those of the file it stands for."""

    data_id: int
    convert: Callable[[pd.DataFrame], pd.DataFrame]
    note: str  # in what it differs
    sha256: str | None = None


def table(source: OpenML, *, progress: bool = False) -> pd.DataFrame:
    """The dataset as a raw table; it is fetched once and then read from the cache."""
    path = cache_folder() / f"openml-{source.data_id}.arff"
    if not path.is_file():
        _fetch(source, path, progress=progress)
    _check_pin(path)
    raw = read_arff(path.read_text(encoding="utf-8"))
    try:
        return source.convert(raw)
    except KeyError as error:
        raise DataError(f"OpenML's dataset {source.data_id} has no column {error}") from error


def address() -> str | None:
    """The address of OpenML; None if it must not be asked."""
    given = os.environ.get(ADDRESS_VARIABLE, ADDRESS)
    return None if given.lower() in ("", "off") else given.rstrip("/")


def _fetch(source: OpenML, path: Path, *, progress: bool) -> None:
    host = address()
    if host is None:
        raise DataError(f"downloads are turned off ({ADDRESS_VARIABLE})")
    described = _description(source.data_id, host, path)
    url, md5 = described.get("url"), described.get("md5_checksum")
    if not isinstance(url, str):
        raise DataError(f"OpenML's description of dataset {source.data_id} names no file")
    if url.startswith(ADDRESS):
        url = host + url.removeprefix(ADDRESS)
    fetch(url, path, md5=md5, sha256=source.sha256, progress=progress)
    _pin(path).write_text(digest(path) + "\n", encoding="ascii")


def _description(data_id: int, host: str, path: Path) -> dict[str, Any]:
    where = path.with_suffix(".json")
    fetch(f"{host}/api/v1/json/data/{data_id}", where)
    try:
        described = json.loads(where.read_text(encoding="utf-8"))["data_set_description"]
        return dict(described)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{host} described dataset {data_id} in an unknown form") from error
    finally:
        where.unlink()


def _pin(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _check_pin(path: Path) -> None:
    """Refuse a cached file that has changed since it arrived."""
    pin = _pin(path)
    if not pin.is_file():
        pin.write_text(digest(path) + "\n", encoding="ascii")
    elif pin.read_text(encoding="ascii").strip() != digest(path):
        raise DataError(f"{path} has changed since it was fetched; delete it to fetch it again")


def compas(raw: pd.DataFrame) -> pd.DataFrame:
    """Dataset 42193: two races, categories as 0 and 1."""
    yes = raw.apply(pd.to_numeric) == 1
    return pd.DataFrame(
        {
            "age": pd.to_numeric(raw["age"]).astype("int64"),
            "c_charge_degree": yes["c_charge_degree_F"].map({True: "F", False: "M"}),
            "sex": yes["sex"].map({True: "Male", False: "Female"}),
            "race": yes["race_African-American"].map(
                {True: "African-American", False: "Caucasian"}
            ),
            "priors_count": pd.to_numeric(raw["priors_count"]).astype("int64"),
            "two_year_recid": yes["twoyearrecid"].astype("int64"),
            "in_propublica_sample": 1,
        }
    )


def credit(raw: pd.DataFrame) -> pd.DataFrame:
    """Dataset 40981: the same columns, the class is called A15."""
    numbers = raw.apply(pd.to_numeric).rename(columns={"A15": "class"})
    whole = [name for name in numbers if (numbers[name] == numbers[name].round()).all()]
    columns = [f"A{place}" for place in range(1, 15)]
    return numbers.astype(dict.fromkeys(whole, "int64"))[[*columns, "class"]]


def titanic(raw: pd.DataFrame) -> pd.DataFrame:
    """Dataset 40945: 1309 passengers; one fare is missing and takes the median."""
    columns = ["survived", "pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]
    whole = dict.fromkeys(["survived", "pclass", "sibsp", "parch"], "int64")
    found = raw[columns].astype({"survived": "float64"}).astype(whole)
    return found.assign(fare=found["fare"].fillna(found["fare"].median()))


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
