"""Changes of time series in words and as drawings: a stretch of a channel, taken from a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from macex.render.speech import Speech

WIDE, HIGH = 600, 96
MARKS = 40  # time points of a channel that say their values
ROOM = 4  # above the highest point and below the lowest


def is_stretch(change: Any) -> bool:
    """Whether a change is one of a time series."""
    return hasattr(change, "channel")


def stretch_clause(change: Any, speech: Speech) -> str:
    """A change as part of a sentence.

    >>> from types import SimpleNamespace as Given
    >>> change = Given(channel="sensor 12", start=40, stop=66, blend=1.0, case=7, label="B")
    >>> stretch_clause(change, Speech())
    'sensor 12 between 40 and 65 were as in case 7 (class B)'
    """
    how = "series.as_in" if change.blend >= 1 else "series.toward"
    labelled = change.label is not None
    donor = {"case": change.case, "label": speech.plain(change.label)}
    whose = speech.say("series.labelled" if labelled else "series.case", donor)
    values = {
        "name": speech.name(change.channel),
        "when": _when(change, speech, "series.between", "series.at"),
        "how": speech.say(how, {"percent": _percent(change, speech)}),
        "donor": "".join([whose, *_limit(change, speech)]),
    }
    return speech.say("series.change", values)


def stretch_texts(change: Any, speech: Speech) -> tuple[str, str]:
    """When a channel changes, and to what.

    >>> from types import SimpleNamespace as Given
    >>> stretch_texts(Given(start=3, stop=4, blend=0.5, case=7, label=None), Speech())
    ('time 3', 'as in case 7, mixed in by 50 %')
    """
    labelled = change.label is not None
    donor = {"case": change.case, "label": speech.plain(change.label)}
    taken = speech.say("series.taken_labelled" if labelled else "series.taken", donor)
    mixed = (
        []
        if change.blend >= 1
        else [speech.say("series.mixed", {"percent": _percent(change, speech)})]
    )
    when = _when(change, speech, "series.time", "series.point")
    words = speech.say("value.comma").join([taken, *mixed])
    return when, "".join([words, *_limit(change, speech)])


def _limit(change: Any, speech: Speech) -> list[str]:
    """What kept values from going so far: ", but at least 0"."""
    limit = getattr(change, "limit", None)
    if limit is None:
        return []
    ends = [("low", limit.low), ("high", limit.high)]
    said = [
        speech.say(f"series.limit_{end}", {"value": _exactly(value, speech)})
        for end, value in ends
        if value is not None
    ]
    if limit.direction is not None:
        said.append(speech.say(f"series.limit_{limit.direction}"))
    return [speech.say("series.limited", {"limits": speech.say("series.and").join(said)})]


def _when(change: Any, speech: Speech, several: str, one: str) -> str:
    first, last = getattr(change, "times", None) or (change.start, change.stop - 1)
    ends = {"first": first, "last": last}
    return speech.say(one if change.stop - change.start == 1 else several, ends)


def _percent(change: Any, speech: Speech) -> str:
    """The share with all its digits: rounded, it may not suffice."""
    return _exactly(100 * change.blend, speech)


def _exactly(value: float, speech: Speech) -> str:
    return f"{value:.12g}".replace(".", speech.say("language.decimal"))


class ChangedPoint(NamedTuple):
    """A part of a drawing, and what is said when one points at it."""

    start: float
    wide: float
    text: str


@dataclass(frozen=True)
class Panel:
    """One channel: the points of its lines, the shaded stretches, and their texts."""

    channel: str
    own: str
    new: str
    shades: tuple[tuple[float, float], ...]
    low: str
    high: str
    remarks: tuple[str, ...]
    donor: str = ""
    band: str = ""  # the corners of where the channel usually is
    ticks: tuple[str, ...] = ()  # what the first time point is called, one in the middle, the last
    marks: tuple[ChangedPoint, ...] = ()


def panel(
    channel: str,
    own: Any,
    new: Any,
    changes: Sequence[Any],
    speech: Speech,
    beside: Any = None,
    times: Any = None,
) -> Panel:
    """The drawing of a channel as it is and, unless `new` is None, as it would be.

    `beside` is what it is drawn beside, and `times` says what time points are called.
    """
    lines = np.stack([own, own if new is None else new]).astype(float)
    more = [] if beside is None else [one for one in beside if one is not None]
    known = np.concatenate([lines.reshape(-1), *more])
    known = known[np.isfinite(known)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    step = WIDE / max(1, len(own) - 1)
    called = _called(len(own), times)
    return Panel(
        channel=speech.name(channel),
        own=_points(lines[0], low, high),
        new="" if new is None else _points(lines[1], low, high),
        shades=tuple(_shade(change, step) for change in changes),
        low=_measured(channel, low, speech),
        high=_measured(channel, high, speech),
        remarks=tuple(
            speech.say("value.comma").join(stretch_texts(change, speech)) for change in changes
        ),
        donor="" if beside is None else _points(beside.donor, low, high),
        band="" if beside is None else _band(beside, low, high),
        ticks=tuple(called[at] for at in sorted({0, (len(own) - 1) // 2, len(own) - 1})),
        marks=_marks(lines, changes, called, speech),
    )


def _measured(channel: str, value: float, speech: Speech) -> str:
    """A value of a channel, with its unit."""
    unit = getattr(speech.names.get(channel), "unit", "")
    return f"{speech.number(value)} {unit}".rstrip()


def _called(count: int, times: Any) -> list[str]:
    """What each time point is called; they are counted where there are no labels."""
    if times is None or len(times.labels) < count:
        return [str(at) for at in range(count)]
    unit = f" {times.unit}" if times.unit else ""
    return [f"{label}{unit}" for label in times.labels[:count]]


def _band(beside: Any, low: float, high: float) -> str:
    """The corners of a band: along its upper end, and back along its lower one."""
    if beside.low is None:
        return ""
    back = _points(beside.low, low, high).split()[::-1]
    return " ".join([_points(beside.high, low, high), *back])


def _marks(
    lines: Any, changes: Sequence[Any], called: Sequence[str], speech: Speech
) -> tuple[ChangedPoint, ...]:
    """The texts that appear over changed time points, at most `MARKS` in all."""
    at = sorted({one for change in changes for one in range(change.start, change.stop)})
    every = max(1, -(-len(at) // MARKS))
    step = WIDE / max(1, len(called) - 1)
    return tuple(
        ChangedPoint(
            round(max(0.0, (place - 0.5) * step), 1),
            round(max(2.0, every * step), 1),
            f"{called[place]}: {speech.number(lines[0, place])} → {speech.number(lines[1, place])}",
        )
        for place in at[::every]
        if np.isfinite(lines[:, place]).all()
    )


def _points(values: Any, low: float, high: float) -> str:
    """A line in the coordinates of the drawing, with at most a point for each of its steps."""
    x = np.linspace(0, WIDE, len(values))
    y = HIGH - ROOM - (values - low) / ((high - low) or 1.0) * (HIGH - 2 * ROOM)
    keep = slice(None, None, max(1, len(values) // WIDE))
    pairs = zip(x[keep], y[keep], strict=True)
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in pairs if np.isfinite(b))


def _shade(change: Any, step: float) -> tuple[float, float]:
    """Where a stretch begins and how wide it is; a single point is wide enough to be seen."""
    start = max(0.0, (change.start - 0.5) * step)
    return round(start, 1), round(max(2.0, (change.stop - change.start) * step), 1)
