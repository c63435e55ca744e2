"""The figures of a cell: means over its queries of what was found and what it cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from statistics import mean, median
from typing import Any, NamedTuple

from macex.bench.metered import Metered
from macex.explainer import Explainer
from macex.explanation import Explanation
from macex.stages.selection import PLAUSIBLE

BY_MEDIAN = {"credit"}  # one column's tail makes a mean of proximities meaningless there


class Figures(NamedTuple):
    """Means over the queries of one cell; the first counterfactual of each counts.

    `implausible` is the share under 0.05, `proved` the share with the fewest changes possible
    over the values seen in training or over all values.
    """

    validity: float
    sparsity: float
    proximity: float
    implausible: float
    proved: float
    rows: float
    calls: float


def figures(found: Iterable[Explanation], dataset: str) -> Figures:
    """The figures of one answer per query."""
    items = list(found)
    answered = [item for item in items if item.counterfactuals]
    best = [item.counterfactuals[0] for item in answered]
    known = [cf.plausibility for cf in best if cf.plausibility is not None]
    middle = median if dataset in BY_MEDIAN else mean
    return Figures(
        validity=_over(mean, [item.status == "found" for item in items]),
        sparsity=_over(mean, [cf.sparsity for cf in best]),
        proximity=_over(middle, [cf.proximity for cf in best]),
        implausible=_over(mean, [share < PLAUSIBLE for share in known]),
        proved=_over(mean, [is_proved(item) for item in answered]),
        rows=_over(mean, [item.cost.rows for item in items]),
        calls=_over(mean, [item.cost.calls for item in items]),
    )


def is_proved(item: Explanation) -> bool:
    """Whether no answer with fewer changes exists over seen values at least."""
    return item.minimal and item.minimal_over in ("seen values", "all values")


def _over(middle: Callable[[list[float]], float], values: Iterable[float]) -> float:
    held = [float(value) for value in values]
    return middle(held) if held else float("nan")


class Alone(NamedTuple):
    """What a query costs that is asked alone, by the model's own count.

    `milliseconds` are those of a clock, `cpu` those of all threads.
    """

    calls: float
    rows: float
    milliseconds: float
    cpu: float


def alone(model: Any, train: Any, queries: Any) -> Alone:
    """Explain the queries one by one, everything included, and take means."""
    metered = Metered(model)
    explainer = Explainer(metered, train)
    metered.reset()
    wall, cpu = time.perf_counter(), time.process_time()
    for place in range(len(queries)):
        explainer.explain(queries.iloc[[place]])
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    count = len(queries)
    spent = (metered.calls, metered.rows, 1000 * wall, 1000 * cpu)
    return Alone(*(total / count for total in spent))
