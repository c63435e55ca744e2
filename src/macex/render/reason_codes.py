"""Reason codes: the main reasons for a decision by the codes of the caller's own table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from macex.errors import OptionError, closest, require_count

CodeTable: TypeAlias = Mapping[str, str | tuple[str, str] | Sequence[str] | Mapping[str, str]]


class ReasonCode(NamedTuple):
    """A reason for a decision: its code, its text, and the column it stands for."""

    code: str
    text: str
    column: str
    weight: float

    def __str__(self) -> str:
        return f"{self.code} {self.text}".rstrip()


def reason_codes(explanation: Any, table: CodeTable, most: int = 4) -> list[ReasonCode]:
    """The codes of the strongest reasons, each code once."""
    require_count("most", most)
    codes = _read(table, explanation.source.rows.schema.names)
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
