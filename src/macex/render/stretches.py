"""Changes of time series in words and as drawings: a stretch of a channel, taken from a case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.render.speech import Speech

WIDE, HIGH = 600, 96
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
    values = {
        "name": speech.name(change.channel),
        "when": _when(change, speech, "series.between", "series.at"),
        "how": speech.say(how, {"percent": _percent(change, speech)}),
        "donor": speech.say("series.labelled" if labelled else "series.case", donor),
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
    return when, speech.say("value.comma").join([taken, *mixed])


def _when(change: Any, speech: Speech, several: str, one: str) -> str:
    first, last = getattr(change, "times", None) or (change.start, change.stop - 1)
    ends = {"first": first, "last": last}
    return speech.say(one if change.stop - change.start == 1 else several, ends)


def _percent(change: Any, speech: Speech) -> str:
    """The share with all its digits: rounded, it may not suffice."""
    return f"{100 * change.blend:.12g}".replace(".", speech.say("language.decimal"))


@dataclass(frozen=True)
class Panel:
    """One channel: the points of its lines, the shaded stretches, and what is said of them."""

    channel: str
    own: str
    new: str
    shades: tuple[tuple[float, float], ...]
    low: str
    high: str
    remarks: tuple[str, ...]


def panel(channel: str, own: Any, new: Any, changes: Sequence[Any], speech: Speech) -> Panel:
    """The drawing of a channel as it is and, unless `new` is None, as it would be."""
    lines = np.stack([own, own if new is None else new]).astype(float)
    known = lines[np.isfinite(lines)]
    low, high = (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
    step = WIDE / max(1, len(own) - 1)
    return Panel(
        channel=channel,
        own=_points(lines[0], low, high),
        new="" if new is None else _points(lines[1], low, high),
        shades=tuple(_shade(change, step) for change in changes),
        low=speech.number(low),
        high=speech.number(high),
        remarks=tuple(
            speech.say("value.comma").join(stretch_texts(change, speech)) for change in changes
        ),
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
