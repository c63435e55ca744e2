"""What a batch of explanations has in common, how good they are, and what is typical of a column.

Typical of the changes of one column is a step up or down, or its most frequent pairs of values.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from macex.errors import OptionError, closest, require_number
from macex.explanation.values import Change, Cost, Explanation
from macex.metrics import Diversity, diversity
from macex.render.names import Names
from macex.render.results import Result
from macex.render.sheets import Finding
from macex.render.text import summary_text
from macex.stages.selection import PLAUSIBLE

TYPICAL = 10
MISS = re.compile(r" The nearest miss scores \S+(?= |$)")
FREE = Cost(0, 0, 0.0)


@dataclass(frozen=True, repr=False)
class Summary(Result):
    """How many rows have an answer, why the others have none, and how often each column changes.

    `columns`, `changes` and `typical` count over all counterfactuals, most frequent first. `cost`
    is that of a row on average, `metrics` are those of the batch, and `shap` is the mean |SHAP| of
    each column where it was given. `plan` is shown below the rest.
    """

    rows: int
    found: int
    without: tuple[tuple[str, int], ...]
    columns: tuple[tuple[str, int], ...]
    changes: tuple[tuple[Change, int], ...]
    typical: tuple[Typical, ...] = ()
    counterfactuals: int = 0
    cost: Cost = FREE
    metrics: Mapping[str, float] = field(default_factory=dict)
    shap: Mapping[str, float] = field(default_factory=dict)
    names: Names = field(default_factory=dict)
    plan: Finding | None = None
    of_series: bool = False

    def __repr__(self) -> str:
        shown = [summary_text(self), *([] if self.plan is None else [str(self.plan.sheet())])]
        return "\n\n".join(shown)

    def fragment(self, language: str | Path = "en") -> str:
        """The summary as a part of a page, with its styles."""
        from macex.render.html import summary_fragment

        return summary_fragment(self, language)

    def heading(self, language: str | Path = "en") -> str:
        """How many rows have an answer."""
        from macex.render.overview import overview
        from macex.render.speech import Speech

        return overview(self, Speech(self.names, language, self.of_series)).title

    def to_frame(self) -> pd.DataFrame:
        """One line per column that changes: how often, and in which share of counterfactuals."""
        total = max(1, self.counterfactuals)
        lines = [(column, times, times / total) for column, times in self.columns]
        return pd.DataFrame(lines, columns=["column", "times", "share"])

    def json_text(self, *, canonical: bool) -> str:
        """The counts, the reasons for no answer, the columns and the metrics."""
        del canonical
        document = {
            "format": "macex.summary/1",
            "rows": self.rows,
            "found": self.found,
            "counterfactuals": self.counterfactuals,
            "without": dict(self.without),
            "columns": dict(self.columns),
            "metrics": {name: _known(value) for name, value in self.metrics.items()},
        }
        return json.dumps(document, ensure_ascii=False)


def _known(value: float) -> float | None:
    return value if isfinite(value) else None


def summarise(
    items: Sequence[Any], names: Names, shap: Any = None, plan: Finding | None = None
) -> Summary:
    """The summary of a batch."""
    changes = [change for item in items for cf in item.counterfactuals for change in cf.changes]
    plain = [change._replace(interval=None) for change in changes if isinstance(change, Change)]
    reasons = Counter(_why(item) for item in items if item.status != "found")
    columns = Counter(change.column for change in changes)
    return Summary(
        rows=len(items),
        found=sum(item.status == "found" for item in items),
        without=tuple(reasons.most_common()),
        columns=tuple(columns.most_common()),
        changes=tuple(Counter(plain).most_common(TYPICAL)),
        typical=_typical(items, changes, list(dict(columns.most_common()))),
        counterfactuals=sum(len(item.counterfactuals) for item in items),
        cost=_cost(items),
        metrics=quality(items),
        shap=_mean_shap(shap, items),
        names=names,
        plan=plan,
        of_series=any(item.of_series for item in items),
    )


def _why(item: Any) -> str:
    """Why a row has no answer, without the score of its own nearest miss."""
    return MISS.sub("", item.reason or item.status)


def _typical(
    items: Sequence[Any], changes: Sequence[Any], columns: Sequence[str]
) -> tuple[Typical, ...]:
    if not items:
        return ()
    by_column: dict[str, list[Any]] = {column: [] for column in columns}
    for change in changes:
        by_column[change.column].append(change)
    if not isinstance(items[0], Explanation):
        return tuple(typical_stretch(column, mine) for column, mine in by_column.items())
    kinds = {column.name: column.discrete for column in items[0].source.rows.schema.columns}
    return tuple(
        typical(
            column,
            [change._replace(interval=None) for change in mine],
            numbers=not kinds.get(column, True),
        )
        for column, mine in by_column.items()
    )


def _cost(items: Sequence[Any]) -> Cost:
    count = max(1, len(items))
    calls, rows, seconds = (sum(item.cost[at] for item in items) / count for at in range(3))
    return Cost(round(calls), round(rows), seconds)


def _mean_shap(given: Any, items: Sequence[Any]) -> dict[str, float]:
    """Mean |SHAP| by column, from a mapping or from the SHAP values of some rows."""
    if given is None or not items:
        return {}
    columns = items[0].columns
    if isinstance(given, Mapping):
        for column in given:
            if column not in columns:
                raise OptionError(f"shap: there is no column {column!r}{closest(column, columns)}")
        return {
            str(column): abs(require_number(f"shap[{column!r}]", value))
            for column, value in given.items()
        }
    try:
        values = np.asarray(getattr(given, "values", given), dtype=float)
    except (TypeError, ValueError) as error:
        raise OptionError(f"shap holds values that are not numbers: {error}") from None
    if values.ndim != 2 or values.shape[1] != len(columns):
        raise OptionError(
            f"shap takes a mapping from column to mean |SHAP|, or SHAP values of shape "
            f"(rows, {len(columns)}), not {values.shape}"
        )
    return dict(zip(columns, np.abs(values).mean(axis=0).tolist(), strict=True))


PAIRS = 3


class TypicalStep(NamedTuple):
    """How often a number moves one way, and the median of how far."""

    times: int
    size: Any


class Typical(NamedTuple):
    """The changes of one column: how often, and what they are like.

    `up` and `down` are for numbers and dates; `pairs` are the most frequent changes otherwise, and
    those from or to a missing value. `stretch` is for channels of time series: the median of the
    first and of the last time point that change.
    """

    column: str
    times: int
    up: TypicalStep | None = None
    down: TypicalStep | None = None
    pairs: tuple[tuple[Change, int], ...] = ()
    stretch: tuple[int, int] | None = None


def typical(column: str, changes: Sequence[Change], *, numbers: bool) -> Typical:
    """What is typical of some changes of one column.

    >>> typical("age", [Change("age", 30, 34), Change("age", 30, 32)], numbers=True).up
    TypicalStep(times=2, size=3.0)
    """
    moved = [c for c in changes if numbers and None not in (c.before, c.after) and _movable(c)]
    steps = [change.after - change.before for change in moved]
    others = changes if not moved else [c for c in changes if None in (c.before, c.after)]
    return Typical(
        column,
        len(changes),
        _step([step for step in steps if step > step * 0]),
        _step([-step for step in steps if step < step * 0]),
        tuple(Counter(others).most_common(PAIRS)),
    )


def typical_stretch(channel: str, changes: Sequence[Any]) -> Typical:
    """What is typical of some changes of one channel: when they begin and end.

    >>> from types import SimpleNamespace as Given
    >>> typical_stretch("flow", [Given(start=3, stop=9), Given(start=5, stop=7)]).stretch
    (4, 7)
    """
    first = round(median(change.start for change in changes))
    last = round(median(change.stop - 1 for change in changes))
    return Typical(channel, len(changes), stretch=(first, last))


def _movable(change: Change) -> bool:
    try:
        change.after - change.before
    except TypeError:
        return False
    return True


def _step(sizes: Sequence[Any]) -> TypicalStep | None:
    return TypicalStep(len(sizes), median(sizes)) if sizes else None


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
