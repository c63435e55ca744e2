"""What is learnt once from the model and the training rows, and used by every call."""

from __future__ import annotations

import copy
from collections import OrderedDict
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from macex.ask.answers import Answers, Outlook
from macex.ask.units import Ground, unit_codes
from macex.causes import CausalModel, causal_model
from macex.engine.training import Learning, covering, grid_of, realness_of
from macex.models.consultation import consulted
from macex.models.oracle import Oracle
from macex.schema import Array, cell_keys, row_keys
from macex.stages.approximate import Approximate, approximate
from macex.stages.arrays import alike_lines
from macex.stages.candidates import Domain, Near, Neighbors
from macex.stages.distance import KINDS, Scales, learn_scales
from macex.stages.neighbors import Bins, NeighborIndex, Side, learn_bins
from macex.stages.plausibility.distance import (
    SAMPLE,
    SMALL_SAMPLE,
    Reference,
    evenly,
    reference,
    thinned,
)
from macex.stages.plausibility.measure import COMPARED, Compared, Realness
from macex.structure import Structure, find_structure
from macex.structure.enforcement import Keeping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from macex.ask.answers import Goals
    from macex.ask.space import Caused, Space
    from macex.engine.options import Options
    from macex.schema import Rows, Schema
    from macex.stages.thresholds import CellGrid

Held = TypeVar("Held")

REMEMBERED = 64
MOST_MET = 16_000_000  # training rows, of all queries together, that are looked at at once
COUNTED = 50_000  # sets of changes of one goal whose support is remembered
REMEMBERING = ("_meeting", "_reference", "_compared", "_sides", "_lines", "_counts")


@dataclass
class Fitted:
    """The model, the training rows as codes, and the model's answers for them."""

    oracle: Oracle
    ground: Ground
    answers: Answers
    options: Options
    grid: CellGrid | None = None
    kept: InitVar[Mapping[str, Array] | None] = None  # of the approximate index, once made
    structure: Structure | None = None  # what holds between the columns, once looked for
    stated: bool = False  # whether the caller said that, and it was not looked for
    scales: Scales = field(init=False)
    bins: Bins = field(init=False)
    binned: Array = field(init=False)  # (T, d)
    index: NeighborIndex = field(init=False)
    approximate: Approximate | None = field(init=False)  # for very many rows
    _meeting: OrderedDict[bytes, Array] = field(default_factory=OrderedDict)
    _reference: OrderedDict[bytes, Reference] = field(default_factory=OrderedDict)
    _compared: OrderedDict[bytes, Compared] = field(default_factory=OrderedDict)
    _sides: OrderedDict[bytes, Any] = field(default_factory=OrderedDict)
    _lines: OrderedDict[bytes, Array] = field(default_factory=OrderedDict)
    _counts: OrderedDict[bytes, dict[int, int]] = field(default_factory=OrderedDict)
    learnt: dict[str, Any] = field(default_factory=dict)  # when it is first needed

    def __post_init__(self, kept: Mapping[str, Array] | None) -> None:
        schema, codes = self.ground.schema, self.ground.codes
        self.oracle = self.oracle.prepare(schema, codes)
        kind = self.options.distance
        self.scales = learn_scales(schema, codes, kind if kind in KINDS else "median")
        self.bins = learn_bins(schema, codes, self.options.neighbors.bins)
        self.binned = self.bins(codes)
        discrete = np.array([c.discrete for c in schema.columns], dtype=bool)
        self.index = NeighborIndex(self.binned, discrete, self.answers.decision)
        near = self.options.neighbors
        self.approximate = approximate(
            self.index, near.index, self.options.random_state, near.k, kept
        )

    def __getstate__(self) -> dict[str, Any]:
        """All but what is only remembered: it is made again where it is needed."""
        kept = {name: part for name, part in vars(self).items() if not name.startswith("_")}
        return kept | {name: OrderedDict() for name in REMEMBERING}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """A model from a file was opened again, so what is known about it is looked up again."""
        vars(self).update({name: OrderedDict() for name in REMEMBERING} | state)
        if self.oracle.file is not None:
            self.oracle = self.oracle.prepare(self.ground.schema, self.ground.codes)

    @property
    def relations(self) -> Structure:
        """What holds between the columns of the training rows."""
        if self.structure is None:
            unknown = self.ground.private
            self.structure = (
                Structure() if unknown else find_structure(self.ground.schema, self.ground.codes)
            )
        return self.structure

    @cached_property
    def keeping(self) -> Keeping | None:
        """The relations compiled, unless they are ignored."""
        if self.options.structure == "ignore":
            return None
        caused = {} if self.causal is None else self.causal.reads
        return Keeping(self.relations, self.ground.schema, caused)

    @cached_property
    def causal(self) -> CausalModel | None:
        """The causes between columns, where the caller stated them."""
        causes, seed = self.options.causes, self.options.random_state
        return None if causes is None else causal_model(causes, self.ground, seed)

    @property
    def caused(self) -> dict[int, Caused]:
        """The columns that follow from causes, and how."""
        return {} if self.causal is None else dict(self.causal.mechanisms)

    @property
    def binding(self) -> Keeping | None:
        """The relations that answers keep, if they keep any."""
        kept = self.keeping if self.options.structure == "keep" else None
        return kept if kept is not None and kept.binding else None

    def with_options(self, options: Options) -> Fitted:
        """The same model and training rows, with other options; what is remembered is shared."""
        other = copy.copy(self)
        vars(other).pop("keeping", None)
        if options.causes != self.options.causes:
            vars(other).pop("causal", None)
        other.options = options
        return other

    @property
    def outlook(self) -> Outlook:
        """What the model's numbers mean."""
        return self.oracle.outlook

    @property
    def singles(self) -> int:
        """How many single changes a query may be offered where every value is on offer."""
        if self.grid is not None:
            return self.grid.rows
        if not isinstance(self.options.candidates, Domain):
            return 0
        seen = sum(len(column.seen) for column in self.ground.schema.columns)
        return min(seen, self.options.method.max_rows)

    def meeting(self, goals: Goals, query: int) -> Array:
        """The training rows that meet a query's goal."""
        key = goals.signature(query)

        def made() -> Array:
            at = np.full(len(self.answers.decision), query)
            return np.flatnonzero(goals.judge(self.answers, at).reached)

        return _held(self._meeting, key, made)

    def plausible(self, goals: Goals, query: int) -> Reference | Compared:
        """What says how plausible counterfactuals of a query are."""
        if self.options.plausibility == "distance" or self._unlearned:
            return self.reference(goals, query)
        key = goals.signature(query)
        return _held(self._compared, key, lambda: self._compared_for(goals, query))

    def _compared_for(self, goals: Goals, query: int) -> Compared:
        """Compared with rows of the wanted classes, whatever their margin; or of the scores."""
        if goals.by_class[query]:
            return self._decided(goals.wanted[query])
        if not self.ground.private:
            return self._among(self.meeting(goals, query))
        return Compared(self.realness, self.training_realness[0])

    def _decided(self, wanted: Array) -> Compared:
        """Compared with the training rows that the model decides one of some classes (K,) for."""
        if not self.ground.private:
            return self._among(np.flatnonzero(wanted[self.answers.decision]))
        real, decision = self.training_realness
        return Compared(self.realness, real[wanted[decision]])

    def plausible_among(self, label: int | None) -> Reference | Compared:
        """The same among the training rows that the model decides a class for, or among all."""
        wanted = np.ones(max(1, self.outlook.width), bool)
        if label is not None:
            wanted = np.arange(len(wanted)) == label
        if self.options.plausibility == "distance" or self._unlearned:
            return self._near_to(np.flatnonzero(wanted[self.answers.decision]), SAMPLE)
        return self._decided(wanted)

    def prepare(self) -> None:
        """Learn now what is else learnt when it is first needed."""
        if self.options.plausibility == "learned" and not self._unlearned:
            _ = self.realness

    @property
    def _unlearned(self) -> bool:
        """Whether the rows are gone and nothing was learnt from them."""
        return self.ground.private and "training" not in self.learnt

    @property
    def realness(self) -> Realness:
        """How real a row looks; learnt when it is first needed."""
        if "realness" not in self.learnt:
            self.learnt["realness"] = realness_of(self.ground, self.oracle)
        return self.learnt["realness"]

    @property
    def training_realness(self) -> tuple[Array, Array]:
        """How real some training rows look, sorted, and what the model decides for each."""
        if "training" not in self.learnt:
            rows = evenly(np.arange(len(self.ground.codes)), COMPARED)
            real, decision = self._of_training(rows), self.answers.decision[rows]
            order = np.lexsort((decision, real))
            self.learnt["training"] = real[order], decision[order]
        return self.learnt["training"]

    def _of_training(self, rows: Array) -> Array:
        return self.realness.of_training(rows, self.ground.codes[rows])

    def _among(self, rows: Array) -> Compared:
        rows = evenly(rows, COMPARED)
        return Compared(self.realness, np.sort(self._of_training(rows)))

    def reference(self, goals: Goals, query: int) -> Reference:
        """The goal rows near which a counterfactual is plausible, where distance says it."""
        key = goals.signature(query)

        def made() -> Reference:
            most = SAMPLE if goals.by_class[query] else SMALL_SAMPLE
            return self._near_to(self.meeting(goals, query), most)

        return _held(self._reference, key, made)

    def _near_to(self, rows: Array, most: int) -> Reference:
        rows = thinned(rows, most)[: 0 if self.ground.private else None]
        return reference(self.scales, self.ground.codes[rows], most)

    def near(self, space: Space, goals: Goals, wanted: Array) -> Near:
        """The nearest training rows that meet each goal (Algorithm 1, step 2)."""
        choice: Neighbors = self.options.neighbors
        binned = self.bins(space.own)
        rows = np.zeros((len(binned), choice.k), np.intp)
        real = np.zeros((len(binned), choice.k), bool)
        match = self._match(space, choice)
        shared = goals.by_class | (self.approximate is not None)
        at, others = np.flatnonzero(wanted & shared), np.flatnonzero(wanted & ~shared)
        for queries in alike_lines(at, np.column_stack([goals.alike[at], match[at]])):
            side = self._side(goals, int(queries[0]), match[queries[0]])
            rows[queries], real[queries] = (self.approximate or self.index).nearest(
                binned[queries], side, choice.k
            )
        together = max(1, MOST_MET // len(self.binned))
        for alike in alike_lines(others, match[others]):
            side = self._every(match[alike[0]])
            for queries in np.split(alike, range(together, len(alike), together)):
                meets = goals.met_by(self.answers, queries)
                rows[queries], real[queries] = self.index.nearest(
                    binned[queries], side, choice.k, meets
                )
        return self._near(space, binned, rows, real)

    def _every(self, match: Array) -> Side:
        """All training rows, ready to be compared."""
        key = match.tobytes()
        every = np.arange(len(self.binned))
        side: Side = _held(self._sides, key, lambda: self.index.side(every, match), most=4)
        return side

    def _side(self, goals: Goals, query: int, match: Array) -> Any:
        """The training rows that meet a goal, ready to be compared."""
        key = goals.signature(query) + match.tobytes()

        def made() -> Any:
            rows = self.meeting(goals, query)
            rows = rows[np.isin(rows, self.index.distinct, assume_unique=True)]
            return (self.approximate or self.index).side(rows, match)

        return _held(self._sides, key, made, most=4)

    def support(self, goals: Goals, at: Array, binned: Array, changed: Array) -> Array:
        """How many training rows meet each row's goal and have, by bin, all its changes, (n,).

        `at` says whose the rows are, `changed` (n, d) bool which of their values are meant.
        """
        if self.ground.private:
            return np.zeros(len(at), int)
        keys = row_keys(np.where(changed, binned, np.inf))
        alike = keys + cell_keys(goals.alike[at], np.array([binned.shape[1]]))
        _, first, which = np.unique(alike, return_index=True, return_inverse=True)
        counts = [
            self._supporting(goals, at[row], key, binned[row], changed[row])
            for row, key in zip(first, keys[first].tolist(), strict=True)
        ]
        return np.array(counts, dtype=int)[which.reshape(-1)]

    def copies(self, full: Array) -> Array:
        """Which rows, by column, equal a training row in all columns, (n,) bool."""
        if self.ground.private:
            return np.zeros(len(full), bool)
        keys = row_keys(full)
        place = np.minimum(np.searchsorted(self._rows, keys), len(self._rows) - 1)
        return np.asarray(self._rows[place] == keys)

    @cached_property
    def _rows(self) -> Array:
        """The keys of the training rows, sorted."""
        return np.sort(row_keys(self.ground.codes))

    def _supporting(self, goals: Goals, query: int, key: int, binned: Array, changed: Array) -> int:
        goal = goals.signature(query)
        known: dict[int, int] = _held(self._counts, goal, dict, most=4)
        if key in known:
            return known[key]
        lines = _held(
            self._lines,
            goal,
            lambda: np.asfortranarray(self.binned[self.meeting(goals, query)]),
            most=4,
        )
        same = np.ones(len(lines), bool)
        for column in np.flatnonzero(changed):
            same &= lines[:, column] == binned[column]
        count = int(same.sum())
        if len(known) < COUNTED:
            known[key] = count
        return count

    def _match(self, space: Space, choice: Neighbors) -> Array:
        """The columns on which each query's neighbours are sought, (Q, d) bool."""
        if choice.match == "all":
            return np.ones(space.own.shape, bool)
        match = np.zeros(space.own.shape, bool)
        for place, unit in enumerate(space.units):
            match[:, list(unit.members)] = space.changeable[:, place, None]
        match[~match.any(axis=1)] = True
        return match

    def _near(self, space: Space, binned: Array, rows: Array, real: Array) -> Near:
        flat = rows.reshape(-1)
        values = unit_codes(space.units, self.ground.codes[flat])
        first = [unit.members[0] for unit in space.units]
        bins = self.binned.take(flat, axis=0).take(first, axis=1).astype(np.int64)
        own = binned.take(first, axis=1).astype(np.int64)
        for place in space.joint:
            bins[:, place] = values[:, place]
            own[:, place] = np.maximum(space.queries[:, place], -1)
        shape = (*rows.shape, space.width)
        return Near(values.reshape(shape), bins.reshape(shape), own, real)


def fit(
    model: Any,
    rows: Rows,
    schema: Schema,
    classes: Sequence[object] | None,
    options: Options,
    structure: Structure | None = None,
) -> Fitted:
    """Ask the model about the training rows and learn what every call needs."""
    codes, most, stated = rows.codes, options.sample, structure is not None
    fewer = most is not None and most < len(codes)
    learning = Learning(model, Ground(schema, codes), options)
    oracle, answers = consulted(model, rows, schema, classes)
    if structure is None and (fewer or options.structure != "ignore"):
        structure = find_structure(schema, codes)
    del rows  # the caller's own values are no longer needed
    if most is not None and fewer:
        kept = covering(schema, codes, answers.decision, most, options.random_state)
        codes, answers = codes[kept], answers.take(kept)
    ground = Ground(schema, codes)
    grid = grid_of(model, oracle, ground, answers, options)
    learnt = learning.learnt(oracle)
    return Fitted(oracle, ground, answers, options, grid, None, structure, stated, learnt=learnt)


def _held(
    store: OrderedDict[bytes, Held], key: bytes, made: Callable[[], Held], most: int = REMEMBERED
) -> Held:
    """What is remembered under a key, else made; another thread may push it out at any time."""
    held = store.get(key)
    if held is None:
        held = store[key] = made()
        if len(store) > most:
            store.popitem(last=False)
    return held
