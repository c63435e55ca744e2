"""What may change in a case of time series, as filled in on its page: channel by channel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from macex.errors import ConstraintError, closest
from macex.series.constraints import SeriesConstraints
from macex.series.explainer import SeriesExplainer
from macex.series.times import Times
from macex.server.pages.address import Address
from macex.server.pages.constraints import WAYS, changes_at_most

DIRECTIONS = {"up": "increase", "down": "decrease"}


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
            always=_always(name, explainer.constraints),
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
            ends = [_number(name, text) for text in (one.low, one.high)]
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


def _number(name: str, text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise ConstraintError(f"what may change: {name!r} takes numbers, not {text!r}") from None


def _always(name: str, project: SeriesConstraints) -> str:
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
