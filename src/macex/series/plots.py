"""A case and its counterfactual as a chart."""

from __future__ import annotations

from typing import Any

import numpy as np

from macex.errors import OptionError, require_count
from macex.render.charts import Bars, Chart, Curve, Line, Measure, Span, Stack
from macex.schema import Array

DRAWN = 600  # points of a line, at most
HIGH = 170.0


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
    known = [value for value in [*own, *new] if np.isfinite(value)]
    return Curve(
        Measure("time point", 0.0, float(max(1, len(own) - 1))),
        Measure.over(channel, known, 0.08),
        (_line(own, "the case", "other"), _line(new, "counterfactual", "after")),
        spans=spans,
        height=HIGH,
    )


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
