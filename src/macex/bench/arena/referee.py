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
        return self.together(queries, [answers])[0]

    def together(
        self, queries: pd.DataFrame, replies: Sequence[Sequence[pd.DataFrame]]
    ) -> list[list[Line]]:
        """The same for several replies to the same queries, measured in one go: it costs less."""
        frames = [frame for reply in replies for frame in reply]
        for frame in frames:
            self._check(frame)
        own, count = self._said(queries), len(queries)
        slot = np.repeat(np.arange(len(frames)), [len(frame) for frame in frames])
        measured = self._measured(queries, own, slot, frames) if len(slot) else pd.DataFrame()
        rows = [_as_json(queries.iloc[query].to_dict()) for query in range(count)]
        every: list[Any] = measured.to_dict("records")
        starts = np.searchsorted(slot, np.arange(len(frames) + 1))
        found: list[list[Line]] = [[] for _ in replies]
        for place in range(len(frames)):
            query, mine = place % count, every[starts[place] : starts[place + 1]]
            head = {"query": query, "label": label_words(self.cell.table, own[query])}
            for rank, one in enumerate(mine or [{"valid": False}]):
                first = {"row": rows[query]} if rank == 0 else {}
                line = {**head, "rank": rank + bool(mine), **first, **one}
                found[place // count].append(line)
        return found

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
        """The columns of the training rows, in their types."""
        found = {}
        for name, kind in self.train.dtypes.items():
            try:
                found[name] = frame[name].astype(kind)
            except (ValueError, TypeError) as error:
                raise DataError(
                    f"answers have values in column {name!r} that are no {kind}: {error}"
                ) from error
        return pd.DataFrame(found)

    def _measured(
        self, queries: pd.DataFrame, own: Array, slot: Array, answers: Sequence[pd.DataFrame]
    ) -> pd.DataFrame:
        """Every answer by itself, and sets as wholes: a reply to a query has a `slot` (n,)."""
        at = slot % len(queries)
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
            "refits": self._refits(frame, own[at], valid),
            "lawful": self._lawful(before, frame),
            "idle": self._idle(before, frame, own[at], changed),
            "excess": self._excess(queries, own, at, changed, valid),
        }
        table = pd.DataFrame(found)
        return table.join(self._sets(slot, new, changed))

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
        found = {name: np.full(len(frame), np.nan) for name in MEASURES}
        whole = frame[numbers].notna().all(axis=1).to_numpy()
        if whole.any() and self.train[numbers].notna().all(axis=None):
            sides = self.cell.sides(own[whole])
            for name, values in self._outliers(sides, frame[whole], codes[whole]).items():
                found[name][whole] = values
        found["real"] = self._outliers.nearest(codes)
        return found

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
        draw = np.random.default_rng(0).normal(size=(NOISY, len(numbers)))  # for all the same
        noise = np.repeat(draw * spread * NOISE, len(frame), axis=0)
        moved = pd.concat([frame] * NOISY, ignore_index=True)
        for place, name in enumerate(numbers):
            values = moved[name].to_numpy(float) + noise[:, place]
            whole = self.train[name].dtype.kind in "iu"
            moved[name] = (np.rint(values) if whole else values).astype(self.train[name].dtype)
        reached = self.cell.reached(np.tile(own, NOISY), self._said(moved))
        share: Array = reached.reshape(NOISY, -1).mean(axis=0)
        return share * valid

    def _refits(self, frame: pd.DataFrame, own: Array, valid: Array) -> Array:
        """The share of refitted models for which the answer reaches the goal, too."""
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

    def _sets(self, slot: Array, codes: Array, changed: Array) -> pd.DataFrame:
        """How the answers in a slot differ, on its first line; NaN for a single answer."""
        found = pd.DataFrame(
            np.nan, range(len(slot)), ["diversity_dpp", "diversity_sets", "diversity_spread"]
        )
        for one_slot in np.unique(slot):
            mine = np.flatnonzero(slot == one_slot)
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
