"""The judge: validity, changes, proximity and plausibility of anybody's counterfactuals.

It is handed frames and asks the cell's own model, so that every method, macex's or a stranger's, is
measured by the same lines of code and nobody's own word counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from macex.bench.cells import Cell
from macex.bench.outliers import Outliers
from macex.metrics import diversity
from macex.schema import Array, Schema
from macex.stages.distance import Scales, learn_scales
from macex.stages.plausibility.distance import Reference, reference

Record = dict[str, Any]


class Referee:
    """Measures counterfactuals of one cell."""

    def __init__(self, cell: Cell) -> None:
        self.cell, self.model, self.train = cell, cell.model, cell.train
        self.schema: Schema = Schema.infer(self.train)
        self.codes: Array = self.schema.read(self.train).codes
        self.scales: Scales = learn_scales(self.schema, self.codes)
        self._references: dict[Any, Reference] = {}

    @cached_property
    def _decisions(self) -> Array:
        return np.asarray(self.model.predict(self.train))

    @cached_property
    def _outliers(self) -> Outliers:
        return Outliers(self.cell, self.codes, self._decisions, self.scales)

    def __call__(
        self,
        rows: pd.DataFrame,
        answers: Sequence[pd.DataFrame],
        wanted: int = 1,
        *,
        outliers: bool = False,
    ) -> list[Record]:
        """A record for each row, of the counterfactuals (a frame of none or several) it got.

        With `outliers` they are held against the training rows by further measures, which is slow.
        """
        own = np.asarray(self.model.predict(rows))
        before = self.schema.read(rows).codes
        at = np.repeat(np.arange(len(rows)), [len(frame) for frame in answers])
        judged = self._measured(rows, own, before, at, answers, outliers) if len(at) else []
        records = []
        for query in range(len(rows)):
            mine = [one for one, place in zip(judged, at, strict=True) if place == query]
            valid = [one for one in mine if one.pop("valid")]
            records.append(
                {
                    "label": _plain(own[query]),
                    "returned": len(mine),
                    "found": len(valid),
                    "diversity": self._diversity(before[query], valid, wanted),
                    "counterfactuals": valid,
                }
            )
        for one in judged:
            del one["codes"]
        return records

    def _measured(
        self,
        rows: pd.DataFrame,
        own: Array,
        before: Array,
        at: Array,
        answers: Sequence[pd.DataFrame],
        outliers: bool,
    ) -> list[Record]:
        """Every counterfactual by itself."""
        frame = pd.concat([one for one in answers if len(one)], ignore_index=True)
        frame = frame[list(self.train)].astype(self.train.dtypes.to_dict())
        after = self.schema.read(frame).codes
        decided = np.asarray(self.model.predict(frame))
        changed = after != before[at]
        proximity = self.scales.proximity(before[at], after)
        distance = self.scales.total(before[at], after)
        usual = self._plausibility(own[at], after)
        idle = self._idle(rows.iloc[at], frame, own[at], changed)
        more = self._outliers(own[at], frame, after) if outliers else {}
        names = np.array(self.schema.names, dtype=object)
        return [
            {
                "valid": bool(decided[place] != own[query]),
                "sparsity": int(changed[place].sum()),
                "proximity": float(proximity[place]),
                "distance": float(distance[place]),
                "plausibility": None if np.isnan(usual[place]) else float(usual[place]),
                "columns": sorted(names[changed[place]].tolist()),
                "idle": int(idle[place]),
                "codes": after[place],
                **{name: float(of[place]) for name, of in more.items() if of[place] == of[place]},
            }
            for place, query in enumerate(at)
        ]

    def _idle(
        self, queries: pd.DataFrame, answers: pd.DataFrame, own: Array, changed: Array
    ) -> Array:
        """How many changes of each answer can be taken back alone: it is valid without them."""
        several = changed & (changed.sum(axis=1, keepdims=True) > 1)
        answer, column = np.nonzero(several)
        if not len(answer):
            return np.zeros(len(answers), int)
        undone = answers.iloc[answer].reset_index(drop=True)
        for place, name in enumerate(self.schema.names):
            mine = column == place
            undone.loc[mine, name] = queries[name].iloc[answer[mine]].to_numpy()
        undone = undone.astype(self.train.dtypes.to_dict())
        valid = np.asarray(self.model.predict(undone)) != own[answer]
        return np.bincount(answer[valid], minlength=len(answers))

    def _plausibility(self, own: Array, codes: Array) -> Array:
        """How usual each row is among the training rows of other classes than its query's."""
        shares = np.full(len(codes), np.nan)
        for label in np.unique(own):
            if label not in self._references:
                goal = self.codes[self._decisions != label]
                self._references[label] = reference(self.scales, goal)
            mine = own == label
            shares[mine] = self._references[label].share(codes[mine])
        return shares

    def _diversity(self, query: Array, valid: Sequence[Record], wanted: int) -> list[float]:
        """The three readings; what is missing counts 0."""
        if len(valid) < 2:
            return [0.0, 0.0, 0.0]
        return list(diversity(np.stack([one["codes"] for one in valid]), query, wanted))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value
