"""A case and its counterfactual as a chart."""

from __future__ import annotations

from typing import Any

import numpy as np

from macex.errors import OptionError, require_count
from macex.render.charts import Bars, Chart, Curve, Line, Measure, Span, Stack
from macex.render.names import called
from macex.schema import Array
from macex.series.times import Times

DRAWN = 600  # points of a line, at most
HIGH = 170.0
TICKS = 5


def panels(explanation: Any, rank: int, most: int) -> Chart:
    """A drawing for each changed channel: the case, its counterfactual, and what changed shaded."""
    require_count("most", most)
    found = _chosen(explanation, rank)
    if found is None or not found.changes:
        words = explanation.reason or "No change is needed."
        return Bars((), title="Nothing to draw", words=words)
    channels = list(dict.fromkeys(change.channel for change in found.changes))
    drawn = tuple(_panel(explanation, found, channel) for channel in channels[:most])
    left = len(channels) - len(drawn)
    more = f", {left} more channels not shown" if left else ""
    return Stack(drawn, title=f"{_named(explanation)} → {_named(found)}{more}")


def _panel(explanation: Any, found: Any, channel: str) -> Curve:
    own, new = (np.asarray(one.source.cells()[channel], float) for one in (explanation, found))
    spans = tuple(
        Span(max(0.0, change.start - 0.5), change.stop - 0.5)
        for change in found.changes
        if change.channel == channel
    )
    lines = [_line(own, "the case", "before"), _line(new, "counterfactual", "after")]
    if channel in found.beside:
        case = next(change.case for change in found.changes if change.channel == channel)
        lines.insert(0, _line(found.beside[channel].donor, f"case {case}", "other"))
    known = [value for one in lines for value in one.y if np.isfinite(value)]
    return Curve(
        _time(explanation.times, len(own)),
        Measure.over(_measured(explanation, channel), known, 0.08),
        tuple(lines),
        spans=spans,
        height=HIGH,
    )


def _time(times: Times, count: int) -> Measure:
    """The axis of time, by the labels that time points have."""
    last = float(max(1, count - 1))
    if len(times.labels) < count:
        return Measure("time point", 0.0, last)
    places = sorted({round(at) for at in np.linspace(0, count - 1, TICKS)})
    ticks = tuple((float(at), times.labels[at]) for at in places)
    return Measure(f"time, {times.unit}" if times.unit else "time", 0.0, last, ticks)


def _measured(explanation: Any, channel: str) -> str:
    """A channel as people call it, with its unit."""
    unit = getattr(explanation.names.get(channel), "unit", "")
    name = called(channel, explanation.names)
    return f"{name}, {unit}" if unit else name


def _line(values: Array, name: str, kind: Any) -> Line:
    at = np.arange(0, len(values), max(1, len(values) // DRAWN))
    return Line(tuple(at.astype(float).tolist()), tuple(values[at].tolist()), name, kind)


def _chosen(explanation: Any, rank: int) -> Any:
    if not explanation.counterfactuals:
        return explanation.miss
    if not 1 <= rank <= len(explanation.counterfactuals):
        raise OptionError(
            f"rank={rank}: there are counterfactuals 1 to {len(explanation.counterfactuals)}"
        )
    return explanation.counterfactuals[rank - 1]


def _named(result: Any) -> str:
    score = f"score {result.score:.3g}"
    return score if result.label is None else f"{result.label} ({score})"
