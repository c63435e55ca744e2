"""What columns are called in front of people: names, units, formats and reason codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeAlias

from macex.errors import OptionError, closest, require_count

PARTS = ("text", "unit", "format", "code", "reason")
CodeTable: TypeAlias = Mapping[str, str | tuple[str, str] | Sequence[str] | Mapping[str, str]]
SEPARATOR = ";"  # between the codes of a cell


@dataclass(frozen=True, slots=True)
class Name:
    """What a column is called, the unit of its values, and how they are written.

    `code` is the column's reason code, as in letters about adverse decisions, and `reason` what it
    says there. `format` is a Python format for one value; where a value does not fit it (a missing
    one, say) it is written as if there were none.

    >>> Name("income", format="{:,.0f} €").written(1234567.8)
    '1,234,568 €'
    """

    text: str
    unit: str = ""
    format: str = ""
    code: str = ""
    reason: str = ""

    def __post_init__(self) -> None:
        """Refuse anything but text, and a format without a place for the value."""
        for part in PARTS:
            if not isinstance(getattr(self, part), str):
                raise OptionError(f"Name({part}=) must be text, not {getattr(self, part)!r}")
        if self.format and "{" not in self.format:
            raise OptionError(
                f"Name(format={self.format!r}) has no place for the value, as in {{}}"
            )

    def written(self, value: object) -> str | None:
        """A value by the format; None where there is none, or it does not fit."""
        if not self.format:
            return None
        try:
            return self.format.format(value)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            return None


Names: TypeAlias = Mapping[str, str | Name]


def read_names(given: object) -> dict[str, str | Name]:
    """Names from what a caller gave: a text, a `Name`, or the parts of one, for each column.

    >>> read_names({"hours": {"text": "hours per week", "unit": "h"}})
    {'hours': Name(text='hours per week', unit='h', format='', code='', reason='')}
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise OptionError(f"names maps columns to what they are called, not {given!r}")
    return {str(column): _name(str(column), entry) for column, entry in given.items()}


def _name(column: str, entry: object) -> str | Name:
    if isinstance(entry, str | Name):
        return entry
    if not isinstance(entry, Mapping):
        return str(entry)
    for part in entry:
        if part not in PARTS:
            raise OptionError(f"names: {column!r} has no part {part!r}{closest(part, PARTS)}")
    return Name(**{"text": called(column, {}), **entry})


def check_names(names: Names, columns: Iterable[str], what: str = "column") -> None:
    """Raise for a name of a column that is not there; `a+b` names a group of columns."""
    known = list(dict.fromkeys(columns))
    for name in names:
        if name not in known and not {*name.split("+")} <= {*known}:
            raise OptionError(f"names= calls {name!r}, which is not a {what}{closest(name, known)}")


def called(column: str, names: Names) -> str:
    """What a column is called in front of people.

    >>> called("hours_per_week", {}), called("edu", {"edu": "level of education"})
    ('hours per week', 'level of education')
    """
    name = names.get(column)
    if name is None:
        return column.replace("_", " ")
    return name.text if isinstance(name, Name) else name


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
