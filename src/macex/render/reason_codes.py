"""Reason codes: the main reasons for a decision by the codes of the caller's own table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from macex.errors import OptionError, closest, require_count
from macex.render.names import Name, Names, called

CodeTable: TypeAlias = Mapping[str, str | tuple[str, str] | Sequence[str] | Mapping[str, str]]


SEPARATOR = ";"  # between the codes of a cell


class ReasonCode(NamedTuple):
    """A reason for a decision: its code, its text, and the column it stands for."""

    code: str
    text: str
    column: str
    weight: float

    def __str__(self) -> str:
        return f"{self.code} {self.text}".rstrip()


def codes_named(names: Names) -> dict[str, tuple[str, str]]:
    """The table of reason codes that the names of columns hold.

    >>> codes_named({"pay": Name("pay", code="R3", reason="Income too low"), "age": "age"})
    {'pay': ('R3', 'Income too low')}
    """
    named = {column: name for column, name in names.items() if isinstance(name, Name)}
    return {column: (name.code, name.reason) for column, name in named.items() if name.code}


def with_codes(names: Names, table: CodeTable, columns: Sequence[str]) -> dict[str, str | Name]:
    """The names of columns with a table of reason codes."""
    found = dict(names)
    for column, (code, text) in _read(table, columns).items():
        own = found.get(column, called(column, {}))
        own = own if isinstance(own, Name) else Name(own)
        found[column] = replace(own, code=code, reason=text)
    return found


def told_codes(explanation: Any) -> str:
    """The codes of an explanation in one cell, the strongest first.

    They are those of the names of its columns.
    """
    return SEPARATOR.join(reason.code for reason in reason_codes(explanation))


def reason_codes(
    explanation: Any, table: CodeTable | None = None, most: int = 4
) -> list[ReasonCode]:
    """The codes of the strongest reasons, each code once; by default those that the names hold."""
    require_count("most", most)
    if table is None:
        named, known = codes_named(explanation.names), explanation.columns
        table = {column: entry for column, entry in named.items() if column in known}
    codes = _read(table, explanation.columns)
    found: dict[str, ReasonCode] = {}
    for reason in explanation.reasons:
        for column in reason.column.split("+") if reason.column not in codes else [reason.column]:
            if column in codes:
                code, text = codes[column]
                found.setdefault(code, ReasonCode(code, text, column, reason.weight))
    return list(found.values())[:most]


def _read(table: CodeTable, columns: Sequence[str]) -> dict[str, tuple[str, str]]:
    if not isinstance(table, Mapping):
        raise OptionError(f"a table of reason codes maps columns to codes; this is {table!r}")
    for column in table:
        if column not in columns:
            raise OptionError(f"reason codes: no column {column!r}{closest(column, columns)}")
    return {str(column): _entry(str(column), entry) for column, entry in table.items()}


def _entry(column: str, entry: Any) -> tuple[str, str]:
    """A code and its text, from any of the ways to write them.

    >>> _entry("age", ("R1", "age")), _entry("age", "R1"), _entry("age", {"code": 3})
    (('R1', 'age'), ('R1', ''), ('3', ''))
    """
    if isinstance(entry, str | int):
        return str(entry), ""
    if isinstance(entry, Mapping) and "code" in entry and set(entry) <= {"code", "text"}:
        return str(entry["code"]), str(entry.get("text", ""))
    if isinstance(entry, Sequence) and len(entry) == 2:
        return str(entry[0]), str(entry[1])
    raise OptionError(f"reason codes: {column!r} needs a code, or a code and a text, not {entry!r}")
