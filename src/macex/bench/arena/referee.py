"""The referee of the arena: measures the answers of anybody's method by the cell's own model.

Nothing that a method says of its answers counts. Each measure is a function of the answers of a
cell and has a column of its own in `layout.COLUMNS`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from macex.bench.arena.cells import ArenaCell
from macex.bench.arena.optimum import fewest_changes
from macex.bench.arena.tables import label_words
from macex.bench.outliers import MEASURES, Outliers
from macex.errors import DataError
from macex.explainer import Explainer
from macex.schema import Array, Schema
from macex.stages.distance import Kind, Scales, learn_scales
from macex.structure.enforcement import Keeping

NOISY = 20  # copies of an answer with noise
NOISE = 0.05  # standard deviations of the column
Line = dict[str, Any]


class ArenaReferee:
    """Measures answers of one cell."""

    def __init__(self, cell: ArenaCell) -> None:
        self.cell, self.train = cell, cell.train
        self.schema: Schema = Schema.infer(self.train)
        self.codes: Array = self.schema.read(self.train).codes
        kinds: dict[str, Kind] = {
            "distance": "median",
            "distance_mad": "mad",
            "distance_percentile": "percentile",
        }
        self.scales: dict[str, Scales] = {
            name: learn_scales(self.schema, self.codes, kind) for name, kind in kinds.items()
        }
        self._fewest: dict[tuple[Any, ...], Array] = {}

    @cached_property
    def _explainer(self) -> Explainer:
        """What knows the structure of the training rows, and how plausible others are."""
        return Explainer(self.cell.model, self.train)

    @cached_property
    def learnt(self) -> dict[str, Any]:
        """What explainers of this cell would all learn, each for itself."""
        fitted = self._explainer.engine.fitted
        fitted.prepare()
        return dict(fitted.learnt)

    @cached_property
    def _keeping(self) -> Keeping:
        return Keeping(self._explainer.structure.binding, self._explainer.schema)

    @cached_property
    def _outliers(self) -> Outliers:
        sides = self.cell.sides(self.cell.predictions)
        return Outliers(self.cell.cell, self.codes, sides, self.scales["distance"])

    def __call__(self, queries: pd.DataFrame, answers: Sequence[pd.DataFrame]) -> list[Line]:
        """Lines of results for queries and their answers (a frame of none or several each)."""
        for one in answers:
            self._check(one)
        own = self._said(queries)
        at = np.repeat(np.arange(len(queries)), [len(frame) for frame in answers])
        measured = self._measured(queries, own, at, answers) if len(at) else pd.DataFrame()
        lines: list[Line] = []
        for query in range(len(queries)):
            row = _as_json(queries.iloc[query].to_dict())
            mine: list[Any] = measured.iloc[np.flatnonzero(at == query)].to_dict("records")
            head = {"query": query, "label": label_words(self.cell.table, own[query])}
            for rank, one in enumerate(mine or [{"valid": False}]):
                first = {"row": row} if rank == 0 else {}
                lines.append({**head, "rank": rank + bool(mine), **first, **one})
        return lines

    def _check(self, frame: pd.DataFrame) -> None:
        """An answer has exactly the columns of the training rows, in any order."""
        if len(frame) and sorted(map(str, frame)) != sorted(map(str, self.train)):
            lacking = [name for name in self.train if name not in frame]
            more = [name for name in frame if name not in self.train]
            raise DataError(
                "a frame of answers has exactly the columns of the training rows: "
                f"lacking are {lacking}, too many are {more}"
            )

    def _blank(self, frame: pd.DataFrame) -> Array:
        """Answers without a value in a column that has one in every training row, (n,) bool."""
        full = [name for name in self.train if self.train[name].notna().all()]
        return frame[full].isna().any(axis=1).to_numpy()

    def _said(self, frame: pd.DataFrame, model: Any = None) -> Array:
        asked = self.cell.model if model is None else model
        return np.asarray(asked.predict(frame)).reshape(-1)

    def _typed(self, frame: pd.DataFrame) -> pd.DataFrame:
        return frame[list(self.train)].astype(self.train.dtypes.to_dict())

    def _measured(
        self, queries: pd.DataFrame, own: Array, at: Array, answers: Sequence[pd.DataFrame]
    ) -> pd.DataFrame:
        """Every answer by itself, and sets as wholes."""
        frame = self._typed(pd.concat([one for one in answers if len(one)], ignore_index=True))
        before = queries.iloc[at].reset_index(drop=True)
        old, new = (self.schema.read(each).codes for each in (before, frame))
        changed, said = new != old, self._said(frame)
        valid = self.cell.reached(own[at], said) & ~self._blank(frame)
        found = {
            "changes": _changes(before, frame, changed, self.schema.names),
            "valid": valid,
            "changed": changed.sum(axis=1),
            **{name: scale.total(old, new) for name, scale in self.scales.items()},
            "plausibility": self._plausibility(frame, said),
            **self._outside(own[at], frame, new),
            **self._structure(before, frame, old, new),
            "noise": self._noise(frame, own[at], valid),
            "refits": self._refits(frame, before, own[at], valid),
            "lawful": self._lawful(before, frame),
            "idle": self._idle(before, frame, own[at], changed),
            "excess": self._excess(queries, own, at, changed, valid),
        }
        table = pd.DataFrame(found)
        return table.join(self._sets(at, new, changed))

    def _plausibility(self, frame: pd.DataFrame, said: Array) -> Array:
        """By the measure that the default ranks by."""
        if self.cell.table.regression:
            return np.asarray(self._explainer.plausibility(frame))
        found = np.full(len(frame), np.nan)
        for label in np.unique(said):
            mine = said == label
            found[mine] = self._explainer.plausibility(frame[mine], label)
        return found

    def _outside(self, own: Array, frame: pd.DataFrame, codes: Array) -> dict[str, Array]:
        """By measures that macex does not rank by; tables with gaps have the last alone."""
        numbers = list(self.cell.table.dataset.continuous)
        if self.train[numbers].isna().any(axis=None) or frame[numbers].isna().any(axis=None):
            nothing = np.full(len(frame), np.nan)
            return {**dict.fromkeys(MEASURES, nothing), "real": self._outliers.nearest(codes)}
        return self._outliers(self.cell.sides(own), frame, codes)

    def _structure(
        self, before: pd.DataFrame, after: pd.DataFrame, old: Array, new: Array
    ) -> dict[str, Array]:
        broken = self._keeping.broken(new) & ~self._keeping.broken(old)
        known = self.cell.table.known
        kept = np.full(len(after), np.nan) if known is None else known(before, after)
        return {"broken": broken.sum(axis=1), "kept": np.asarray(kept, float)}

    def _noise(self, frame: pd.DataFrame, own: Array, valid: Array) -> Array:
        """The share of noisy copies that reach the goal; 0 for an answer that does not."""
        numbers = list(self.cell.table.dataset.continuous)
        if not numbers:
            return valid.astype(float)
        spread = self.train[numbers].std().fillna(0.0).to_numpy(float)
        draw = np.random.default_rng(0).normal(size=(NOISY, len(frame), len(numbers)))
        noise = (draw * spread * NOISE).reshape(-1, len(numbers))
        moved = pd.concat([frame] * NOISY, ignore_index=True)
        for place, name in enumerate(numbers):
            values = moved[name].to_numpy(float) + noise[:, place]
            whole = self.train[name].dtype.kind in "iu"
            moved[name] = (np.rint(values) if whole else values).astype(self.train[name].dtype)
        reached = self.cell.reached(np.tile(own, NOISY), self._said(moved))
        share: Array = reached.reshape(NOISY, -1).mean(axis=0)
        return share * valid

    def _refits(self, frame: pd.DataFrame, before: pd.DataFrame, own: Array, valid: Array) -> Array:
        """The share of refitted models for which the answer reaches the goal, too."""
        del before
        held = [self.cell.reached(own, self._said(frame, one)) for one in self.cell.refitted]
        share: Array = np.mean(held, axis=0) * valid
        return share

    def _lawful(self, before: pd.DataFrame, after: pd.DataFrame) -> Array:
        laws = self.cell.table.constraints
        ok = np.ones(len(after), bool)
        for name in laws.fixed:
            ok &= (before[name] == after[name]).to_numpy() | before[name].isna().to_numpy()
        for name in laws.increase:
            ok &= (after[name] >= before[name]).to_numpy()
        return ok.astype(float)

    def _idle(self, before: pd.DataFrame, after: pd.DataFrame, own: Array, changed: Array) -> Array:
        """How many changes of each answer can be taken back alone: it is valid without them."""
        answer, column = np.nonzero(changed & (changed.sum(axis=1, keepdims=True) > 1))
        if not len(answer):
            return np.zeros(len(after))
        undone = after.iloc[answer].reset_index(drop=True)
        for place, name in enumerate(self.schema.names):
            mine = np.flatnonzero(column == place)
            old = before[name].iloc[answer[mine]].to_numpy()
            undone.loc[mine, name] = old
        reached = self.cell.reached(own[answer], self._said(self._typed(undone)))
        return np.bincount(answer[reached], minlength=len(after)).astype(float)

    def _excess(
        self, queries: pd.DataFrame, own: Array, at: Array, changed: Array, valid: Array
    ) -> Array:
        """Changes above the fewest there are, where all combinations can be tried."""
        key = tuple(queries.index)
        if key not in self._fewest:
            self._fewest[key] = fewest_changes(self.cell, self.schema, self.codes, queries, own)
        gap = changed.sum(axis=1) - self._fewest[key][at]
        return np.where(valid, gap, np.nan)

    def _sets(self, at: Array, codes: Array, changed: Array) -> pd.DataFrame:
        """How the answers of a query differ, on its first line; NaN for a single answer."""
        found = pd.DataFrame(
            np.nan, range(len(at)), ["diversity_dpp", "diversity_sets", "diversity_spread"]
        )
        for query in np.unique(at):
            mine = np.flatnonzero(at == query)
            if len(mine) > 1:
                one, other = np.triu_indices(len(mine), 1)
                apart = self.scales["distance"].total(codes[mine[one]], codes[mine[other]])
                kernel = np.ones((len(mine), len(mine)))
                kernel[one, other] = kernel[other, one] = 1 / (1 + apart)
                both = (changed[mine[one]] & changed[mine[other]]).sum(axis=1)
                either = (changed[mine[one]] | changed[mine[other]]).sum(axis=1)
                jaccard = 1 - both / np.maximum(1, either)
                found.loc[mine[0]] = np.linalg.det(kernel), jaccard.mean(), apart.mean()
        return found


def _changes(
    before: pd.DataFrame, after: pd.DataFrame, changed: Array, names: Sequence[str]
) -> list[str]:
    olds, news = before[list(names)].to_numpy(object), after[list(names)].to_numpy(object)
    return [
        _as_json(
            {names[c]: [olds[row, c], news[row, c]] for c in np.flatnonzero(changed[row]).tolist()}
        )
        for row in range(len(after))
    ]


def _as_json(values: Mapping[Any, Any]) -> str:
    return json.dumps(values, default=_plain, ensure_ascii=False, separators=(",", ":"))


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)
