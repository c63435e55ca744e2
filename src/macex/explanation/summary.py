"""What a batch of explanations has in common."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macex.errors import OptionError, closest, require_number
from macex.explanation.quality import quality
from macex.explanation.typical import Typical, typical, typical_stretch
from macex.explanation.values import Change, Cost, Explanation
from macex.render.names import Names
from macex.render.results import Result
from macex.render.sheets import Finding
from macex.render.text import summary_text

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
