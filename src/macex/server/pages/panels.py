"""Drawings of a case: each channel over time, a counterfactual laid over it, changes shaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.render.speech import Speech
from macex.schema import Array

WIDE, HIGH = 600, 96
ROOM = 4  # above the highest point and below the lowest


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


def case_panels(case: Array, channels: Sequence[str], speech: Speech) -> list[Panel]:
    """The channels of a case as they are."""
    return [
        _panel(channel, values, None, (), speech)
        for channel, values in zip(channels, case, strict=True)
    ]


def changed_panels(explanation: Any, found: Any, speech: Speech) -> list[Panel]:
    """The channels that a counterfactual changes, over those of the case."""
    return [
        _panel(
            channel,
            explanation.query[place],
            found.sample[place],
            [change for change in found.changes if change.channel == channel],
            speech,
        )
        for place, channel in enumerate(explanation.channels)
        if channel in found.channels
    ]


def _panel(
    channel: str, own: Array, new: Array | None, changes: Sequence[Any], speech: Speech
) -> Panel:
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
        remarks=tuple(_remark(change, speech) for change in changes),
    )


def _points(values: Array, low: float, high: float) -> str:
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


def _remark(change: Any, speech: Speech) -> str:
    label = "" if change.label is None else f", decided {speech.plain(change.label)}"
    blend = "" if change.blend >= 1 else f", mixed in by {100 * change.blend:.0f} %"
    stretch = f"time {change.start} to {change.stop - 1}"
    return f"{stretch} as in training case {change.case}{label}{blend}"
