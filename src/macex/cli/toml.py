"""Constraints and corrected columns from TOML files; what is wrong is said with its line."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import tomli_w

from macex.ask.compilation import check
from macex.ask.constraints import Constraints
from macex.ask.units import Ground
from macex.causes import Causes, check_causes
from macex.errors import ConstraintError, MacexError, OptionError, SchemaError
from macex.render.names import Name, with_codes
from macex.schema import Column, Kind, Schema
from macex.schema.schema import kinds_stated, stated
from macex.structure import Structure


def read_constraints(path: Path, ground: Ground) -> Constraints:
    """The constraints in a file, checked against the training rows and the causes in it."""
    text, document = _read(path)
    document.pop("structure", None)
    document.pop("causes", None)
    document.pop("costs", None)
    for part, piece, words in _pieces(document):
        try:
            check(Constraints.from_dict({part: piece}), ground)
        except MacexError as error:
            said = str(error).splitlines()[0]
            raise ConstraintError(f"{_place(path, text, part, words)}: {said}") from error
    constraints = Constraints.from_dict(document)
    try:
        check(constraints, ground)
    except MacexError as error:
        raise ConstraintError(f"{path}: {error}") from error
    causes = read_causes(path)
    if causes is not None:
        try:
            causes.check(ground.schema)
            check_causes(constraints, causes)
        except MacexError as error:
            raise ConstraintError(f"{_place(path, text, 'causes', ())}: {error}") from error
    return constraints


def read_structure(path: Path | None) -> str | Structure | None:
    """What a file of constraints says of structure: a word, a list of relations, or nothing."""
    if path is None:
        return None
    text, document = _read(path)
    stated = document.get("structure")
    if stated is None or isinstance(stated, str):
        return stated
    try:
        return Structure.from_list(stated)
    except MacexError as error:
        raise ConstraintError(f"{_place(path, text, 'structure', ())}: {error}") from error


def read_causes(path: Path | None) -> Causes | None:
    """What a file of constraints says of causes, if anything."""
    if path is None:
        return None
    text, document = _read(path)
    if "causes" not in document:
        return None
    try:
        return Causes.from_dict(document["causes"])
    except MacexError as error:
        raise ConstraintError(f"{_place(path, text, 'causes', ())}: {error}") from error


def read_costs(path: Path | None) -> dict[str, Any]:
    """What a file of constraints says of costs: by column a number, or a text with a unit."""
    if path is None:
        return {}
    text, document = _read(path)
    costs = document.get("costs", {})
    if not isinstance(costs, dict):
        raise ConstraintError(
            f"{_place(path, text, 'costs', ())}: costs are a table such as school = '2 years'"
        )
    return costs


def written_structure(structure: Structure, source: str) -> str:
    """The relations of a structure as a file to be edited."""
    head = (
        f"# What holds between the columns of {source}. Remove what should not be kept, and give\n"
        "# this file as --constraints, alone or with other constraints above.\n\n"
    )
    return head + tomli_w.dumps({"structure": structure.to_list()})


def read_kinds(path: Path) -> dict[str, Kind]:
    """What a file says of some columns."""
    text, document = _read(path)
    kinds: dict[str, Kind] = {}
    for column, parts in document.items():
        try:
            kinds |= kinds_stated({column: parts})
        except MacexError as error:
            raise SchemaError(f"{_place(path, text, column, ())}: {error}") from error
    return kinds


def read_codes(path: Path, rows: Any) -> dict[str, str | Name]:
    """The names of columns with the reason codes in a file."""
    text, document = _read(path)
    columns = [str(column) for column in rows.columns]
    for column, entry in document.items():
        try:
            with_codes({}, {column: entry}, columns)
        except MacexError as error:
            raise OptionError(f"{_place(path, text, column, ())}: {error}") from error
    return with_codes({}, document, columns)


def written_kinds(schema: Schema, source: str) -> str:
    """The columns of a schema as a file to be edited."""
    told = stated(schema)
    tables = [
        _remark(column) + tomli_w.dumps({column.name: told[column.name]})
        for column in schema.columns
    ]
    head = (
        f"# The columns of {source} as macex reads them. Correct what is wrong, remove what is\n"
        "# right, and give this file as --schema. Kinds: categorical, ordered (with values, least\n"
        "# first), continuous (with step, low, high; step 0 is no grid), datetime,\n"
        "# one-hot (with columns: columns of zeros and ones that are one choice).\n"
    )
    return "\n".join([head, *tables])


def _remark(column: Column) -> str:
    if column.kind != "categorical":
        return ""
    values = ", ".join(map(str, column.table[:8])) + (", …" if len(column.table) > 8 else "")
    return f"# {len(column.table)} values: {' '.join(values.split())}\n"


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_bytes().decode("utf-8")
        return text, tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise ConstraintError(f"{path} is not UTF-8 text: {error}") from error
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"at line (\d+)", str(error))
        line = int(found[1]) if found else len(text.splitlines())
        said = re.sub(r"\s*\(at .*\)", "", str(error))
        raise ConstraintError(f"{_quoted(path, text, line)}: {said}") from error


def _pieces(document: Mapping[str, Any]) -> Iterator[tuple[str, Any, tuple[str, ...]]]:
    """Each part entry by entry, with the words by which its line is found."""
    for part, value in document.items():
        if isinstance(value, Mapping):
            for key, entry in value.items():
                yield part, {key: entry}, (key, *_words(entry))
        elif isinstance(value, list):
            for entry in value:
                yield part, [entry], _words(entry)
        else:
            yield part, value, ()


def _words(entry: Any) -> tuple[str, ...]:
    if isinstance(entry, str):
        return (entry,)
    return tuple(word for word in entry if isinstance(word, str)) if isinstance(entry, list) else ()


def _place(path: Path, text: str, part: str, words: tuple[str, ...]) -> str:
    """The line that holds an entry: below the beginning of its part, the first with its words."""
    lines = text.splitlines()
    head = re.compile(rf"""\s*\[?\[?\s*["']?{re.escape(part)}["']?\s*(\]|=|\.)""")
    first = next((at for at, line in enumerate(lines) if head.match(line)), 0)
    best = max(
        range(first, len(lines)),
        key=lambda at: (sum(word in lines[at] for word in words), -at),
        default=0,
    )
    return _quoted(path, text, best + 1)


def _quoted(path: Path, text: str, line: int) -> str:
    lines = text.splitlines()
    shown = lines[line - 1].strip() if 0 < line <= len(lines) else ""
    return f"{path} line {line}, `{shown}`"
