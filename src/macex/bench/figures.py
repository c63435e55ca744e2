"""The figures of a cell: means over its queries of what was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import mean, median
from typing import Any, NamedTuple

from macex.bench.outliers import MEASURES
from macex.stages.selection import PLAUSIBLE

Record = dict[str, Any]

BY_MEDIAN = {"credit"}  # one column's tail makes a mean of proximities meaningless there
NAN = float("nan")


class Figures(NamedTuple):
    """Means over the queries of one cell.

    `own` is the share of queries the method itself answered validly, `validity` the share that got
    a valid answer at all; `returned` how many valid ones a query got. `implausible` is the share of
    counterfactuals with a plausibility under 0.05, `idle` of those with a change that they do not
    need; `lof` and `isolation` are the shares of outliers, `real` is the mean distance to the
    nearest training row. The three readings of diversity count a missing answer as 0; the rest is
    over the valid counterfactuals.
    """

    queries: int
    own: float
    validity: float
    returned: float
    sparsity: float
    proximity: float
    middle_proximity: float
    distance: float
    plausibility: float
    implausible: float
    idle: float
    lof: float
    isolation: float
    real: float
    diversity_all: float
    diversity_changed: float
    diversity_sets: float

    def proximity_of(self, dataset: str) -> float:
        """The mean proximity; where a dataset's means say nothing, the median."""
        return self.middle_proximity if dataset in BY_MEDIAN else self.proximity


def figures(records: Iterable[Record]) -> Figures:
    """The figures of a cell's records."""
    items = list(records)
    found = [one for record in items for one in record["counterfactuals"]]
    known = [one["plausibility"] for one in found if one["plausibility"] is not None]
    proximities = [one["proximity"] for one in found]
    diverse = [_over(mean, [record["diversity"][at] for record in items]) for at in range(3)]
    return Figures(
        len(items),
        _over(mean, [record["found"] > 0 and record["own"] for record in items]),
        _over(mean, [record["found"] > 0 for record in items]),
        _over(mean, [record["found"] for record in items]),
        _over(mean, [one["sparsity"] for one in found]),
        _over(mean, proximities),
        _over(median, proximities),
        _over(mean, [one["distance"] for one in found]),
        _over(mean, known),
        _over(mean, [share < PLAUSIBLE for share in known]),
        _over(mean, [one["idle"] > 0 for one in found if "idle" in one]),
        *(_over(mean, [one[of] for one in found if of in one]) for of in MEASURES),
        *diverse,
    )


def _over(middle: Callable[[list[float]], float], values: Iterable[float]) -> float:
    held = [float(value) for value in values]
    return middle(held) if held else NAN
