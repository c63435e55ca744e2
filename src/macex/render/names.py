"""What columns are called in front of people, and how their values are written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from macex.errors import OptionError, closest

PARTS = ("text", "unit", "format", "code", "reason")


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
