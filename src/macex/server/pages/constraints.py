"""What may change, as filled in on the page: column by column, or channel by channel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from macex.ask.constraints import Constraints
from macex.errors import ConstraintError, SchemaError, closest
from macex.render.fields import TOGETHER, Field, grouped
from macex.schema import Column, Schema
from macex.schema.text import text_of, typed
from macex.series.constraints import SeriesConstraints
from macex.series.explainer import SeriesExplainer
from macex.series.times import Times
from macex.server.pages.address import LIMITING, Address

WAYS = {"": "free", "keep": "stays", "up": "only up", "down": "only down"}
DIRECTIONS = {"up": "increase", "down": "decrease"}


@dataclass(frozen=True)
class ColumnLimit:
    """What is filled in for a column, and what the project always demands of it."""

    way: str = ""
    low: str = ""
    high: str = ""
    allowed: tuple[str, ...] = ()
    always: str = ""

    @property
    def says(self) -> bool:
        """Whether anything is filled in."""
        return bool(self.way or self.low or self.high or self.allowed)


def column_limits(address: Address, schema: Schema, always: Constraints) -> dict[str, ColumnLimit]:
    """What is filled in, by column."""
    ways, lows = address.under("may."), address.under("low.")
    highs, allowed = address.under("high."), address.under("allow.")
    return {
        name: ColumnLimit(
            way=_last(ways.get(name)),
            low=_last(lows.get(name)),
            high=_last(highs.get(name)),
            allowed=_lines(allowed.get(name, ())),
            always=_always(name, always),
        )
        for name in schema.names
    }


def editing(
    address: Address, schema: Schema, always: Constraints, columns: Sequence[Field]
) -> dict[str, Any]:
    """What the templates of cells and constraints need; `columns` are the fields of the schema."""
    return {
        "fields": columns,
        "groups": grouped(columns),
        "together": TOGETHER,
        "column_limits": column_limits(address, schema, always),
        "ways": WAYS,
        "rules_always": [str(rule) for rule in always.rules],
        "most_always": always.max_changes,
        "limiting": address.parts(*LIMITING),
    }


def gist(address: Address, schema: Schema) -> str:
    """What is restricted, in a few words."""
    columns = sum(one.says for one in column_limits(address, schema, Constraints()).values())
    rules, most = len(_lines([address.one("rules")])), address.one("max")
    said = [
        *([f"{columns} column{'s' if columns != 1 else ''} restricted"] if columns else []),
        *([f"{rules} rule{'s' if rules != 1 else ''}"] if rules else []),
        *([f"at most {most[:8]} change{'s' if most != '1' else ''}"] if most else []),
    ]
    return ", ".join(said) or "everything that the project allows"


def constraints(address: Address, schema: Schema) -> Constraints:
    """The constraints that are filled in; what cannot be read is an error that names it."""
    filled = column_limits(address, schema, Constraints())
    ways = {way: [name for name, one in filled.items() if one.way == way] for way in WAYS}
    columns = dict(zip(schema.names, schema.columns, strict=True))
    return Constraints(
        fixed=tuple(ways["keep"]),
        increase=tuple(ways["up"]),
        decrease=tuple(ways["down"]),
        ranges={
            name: (_value(columns[name], one.low), _value(columns[name], one.high))
            for name, one in filled.items()
            if one.low or one.high
        },
        allowed={
            name: tuple(_value(columns[name], text) for text in one.allowed)
            for name, one in filled.items()
            if one.allowed
        },
        rules=_lines([address.one("rules")]),
        max_changes=changes_at_most(address),
    )


def _value(column: Column, text: str) -> Any:
    if text == "":
        return None
    try:
        return column.value(typed(column, text))
    except SchemaError as error:
        raise ConstraintError(f"what may change: {error}") from error


def changes_at_most(address: Address) -> int | None:
    """How many changes an answer may have."""
    text = address.one("max")
    if text == "":
        return None
    if not text.isdecimal() or len(text) > 8 or int(text) < 1:
        raise ConstraintError(
            f"at most so many changes: {text[:20]!r} is no whole number of 1 or more"
        )
    return int(text)


def _last(values: Sequence[str] | None) -> str:
    return values[-1] if values else ""


def _lines(values: Sequence[str]) -> tuple[str, ...]:
    """One entry per line, however often the field occurs."""
    lines = (line for value in values for line in value.splitlines())
    return tuple(dict.fromkeys(line for line in lines if line.strip()))


def _always(name: str, project: Constraints) -> str:
    """What the project's own constraints say of a column, in words."""
    said = []
    if name in project.fixed or (project.only is not None and name not in project.only):
        said.append("stays")
    if name in project.protected:
        said.append("protected")
    if name in project.increase:
        said.append("only up")
    if name in project.decrease:
        said.append("only down")
    if name in project.ranges:
        low, high = (text_of(end) for end in project.ranges[name])
        said.append(f"{low} to {high}" if low and high else f"from {low}" if low else f"to {high}")
    if name in project.allowed:
        said.append("some values only")
    return ", ".join(said)


@dataclass(frozen=True)
class ChannelLimit:
    """What is filled in for a channel; without times it holds throughout."""

    way: str = ""
    low: str = ""
    high: str = ""
    since: str = ""
    until: str = ""
    always: str = ""  # what the project's own constraints say of it


def channel_limits(address: Address, explainer: SeriesExplainer) -> dict[str, ChannelLimit]:
    """What is filled in, by channel."""
    filled = {part: address.under(f"{part}.") for part in ("low", "high", "since", "until")}
    ways = address.under("may.")
    return {
        name: ChannelLimit(
            way=ways.get(name, [""])[-1],
            **{part: given.get(name, [""])[-1].strip() for part, given in filled.items()},
            always=_always_of(name, explainer.constraints),
        )
        for name in explainer.channels
    }


def channel_constraints(address: Address, explainer: SeriesExplainer) -> dict[str, Any]:
    """The constraints that are filled in, as JSON; what cannot be read is named by an error."""
    length, times = explainer.fitted.train.longest, explainer.fitted.times
    said: dict[str, Any] = {"fixed": [], "fixed_times": {}, "ranges": {}}
    said |= {part: {} for part in DIRECTIONS.values()}
    for name, one in channel_limits(address, explainer).items():
        if one.way not in WAYS:
            raise ConstraintError(f"what may change: {name!r} is one of {', '.join(WAYS)}")
        stretch = _stretch(name, one, times, length)
        if one.way == "keep" and stretch is None:
            said["fixed"].append(name)
        elif one.way == "keep":
            said["fixed_times"][name] = [stretch]
        elif one.way:
            said[DIRECTIONS[one.way]][name] = [] if stretch is None else [stretch]
        if one.low or one.high:
            ends = [_number_of(name, text) for text in (one.low, one.high)]
            said["ranges"][name] = [[*ends, *(stretch or [])]]
    said = {part: value for part, value in said.items() if value}
    most = changes_at_most(address)
    return said if most is None else {**said, "max_changes": most}


def _stretch(name: str, one: ChannelLimit, times: Times, length: int) -> list[int] | None:
    """The time points that are meant, [start, stop]; None for all."""
    if not (one.since or one.until):
        return None
    start = _place(name, one.since, times, length) if one.since else 0
    last = _place(name, one.until, times, length) if one.until else length - 1
    if last < start:
        raise ConstraintError(f"what may change: {name!r} begins at {one.since} after {one.until}")
    return [start, last + 1]


def _place(name: str, text: str, times: Times, length: int) -> int:
    """The position of a time point, by its label; where there are none, its number."""
    labels = times.labels or tuple(map(str, range(length)))
    if text not in labels:
        raise ConstraintError(
            f"what may change: {name!r} has no time point {text!r}{closest(text, labels)}; they go "
            f"from {labels[0]} to {labels[-1]}"
        )
    return labels.index(text)


def _number_of(name: str, text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise ConstraintError(f"what may change: {name!r} takes numbers, not {text!r}") from None


def _always_of(name: str, project: SeriesConstraints) -> str:
    """What the project's own constraints say of a channel, in words."""
    said = []
    if name in project.fixed or (project.only is not None and name not in project.only):
        said.append("stays")
    said += [f"only {way}" for way, part in DIRECTIONS.items() if name in getattr(project, part)]
    if name in project.ranges:
        said.append("within a range")
    if name in project.fixed_times:
        said.append("stays at times")
    return ", ".join(said)
