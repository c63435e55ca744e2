"""The metrics of a batch: share of rows with an answer, distance, plausibility, cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from macex.metrics import Diversity, diversity
from macex.stages.selection import PLAUSIBLE


def quality(
    items: Sequence[Any], wanted: int | None = None, method: str | None = None
) -> dict[str, float]:
    """Means over a batch; NaN where there is nothing to take a mean of.

    Sparsity to plausibility are over all counterfactuals, `minimal` over the rows with an answer,
    the rest over all rows. `wanted` is how many counterfactuals were asked for; unless it is
    given, as many as the fullest answer has. `validity_own` counts the answers of `method` alone,
    without those of searches that stepped in for it; unless it is given, of any method.
    """
    found = [counterfactual for item in items for counterfactual in item.counterfactuals]
    known = [cf.plausibility for cf in found if cf.plausibility is not None]
    answered = [item for item in items if item.status == "found"]
    return {
        "validity": _mean(item.status == "found" for item in items),
        "validity_own": _mean(
            item.status == "found" and method in (None, item.method) for item in items
        ),
        "sparsity": _mean(cf.sparsity for cf in found),
        "proximity": _mean(cf.proximity for cf in found),
        "distance": _mean(cf.distance for cf in found),
        "plausibility": _mean(known),
        "implausible": _mean(share < PLAUSIBLE for share in known),
        "minimal": _mean(item.minimal for item in answered),
        "returned": _mean(len(item.counterfactuals) for item in items),
        **_diversity(items, wanted),
        "rows": _mean(item.cost.rows for item in items),
        "calls": _mean(item.cost.calls for item in items),
        "seconds": _mean(item.cost.seconds for item in items),
    }


def _diversity(items: Sequence[Any], wanted: int | None) -> dict[str, float]:
    if wanted is None:
        wanted = max((len(item.counterfactuals) for item in items), default=0)
    readings = [_differences(item, wanted) for item in items]
    return {
        f"diversity_{name}": _mean(getattr(reading, name) for reading in readings)
        for name in Diversity._fields
    }


def _differences(item: Any, wanted: int) -> Diversity:
    if len(item.counterfactuals) < 2:
        return Diversity(0.0, 0.0, 0.0)
    codes = np.stack([found.source.codes for found in item.counterfactuals])
    return diversity(codes, item.source.codes, wanted)


def _mean(values: Iterable[float]) -> float:
    held = [float(value) for value in values]
    return float(np.mean(held)) if held else float("nan")
