"""Evolutionary search for counterfactuals of time series, after Multi-SpaCE and TSEvo.

Both are NSGA-II (Deb et al., 2002): a population is sorted into fronts that no other beats in all
objectives, and the best fronts, the least crowded first, have the next generation.

`style="masks"` (after Multi-SpaCE; Refoyo and Luengo, 2024): an individual says for every channel
and time point whether it is taken from the nearest case that is decided as wanted. Objectives: the
score, the number of stretches, and the share of cells taken. Stretches grow, shrink, appear and
vanish.

`style="windows"` (after TSEvo; Hoellig, Kulbach and Thoma, 2022): an individual is a sample.
Objectives: the score, the mean distance, and the share of cells that differ. Mutation lays windows
of several cases that are decided as wanted over it.

Neither asks for gradients. What is published has further operators; the rows that may be scored are
`population` times `generations`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from macex.baselines.series_peer import Meter, Sampled, SeriesPeer
from macex.errors import OptionError, require_count
from macex.schema import Array

CASES = 10  # that windows are taken from
Random = np.random.Generator


class SeriesEvolution(SeriesPeer):
    """NSGA-II over what is taken from cases that are decided as wanted.

    The other parameters are those of `SeriesGreedy`.

    >>> level = np.arange(20.0)[:, None, None] + np.zeros((20, 2, 30))
    >>> model = lambda cases: (cases[:, 1, 12:20].mean(axis=1) > 9.5).astype(float)
    >>> search = SeriesEvolution(model, level, classes=("low", "high"), generations=40)
    >>> search.explain(level[8:9])[0].counterfactuals[0].channels
    ('channel 1',)
    """

    method: ClassVar[str] = "evolution"

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        style: Literal["masks", "windows"] = "masks",
        population: int = 50,
        generations: int = 100,
        random_state: int = 0,
        channels: Sequence[str] | None = None,
        layout: str = "channels_first",
        classes: Sequence[object] | None = None,
    ) -> None:
        if style not in ("masks", "windows"):
            raise OptionError(f"style={style!r}: 'masks' or 'windows'")
        self.style, self.seed = style, random_state
        self.population = require_count("SeriesEvolution(population=)", population)
        self.generations = require_count("SeriesEvolution(generations=)", generations)
        super().__init__(model, X, y, channels=channels, layout=layout, classes=classes)

    def find(self, meter: Meter, own: Array) -> Sampled | None:
        """Of the samples that reach the goal, the one with the fewest cells."""
        near = self.distractors(own, meter.goals, 1 if self.style == "masks" else CASES)
        if not len(near):
            return None
        others = np.asarray(self.fitted.train.values)[near]
        world = _Masks(own, others[0]) if self.style == "masks" else _Windows(own, others)
        samples, reached, values = self._evolved(meter, world)
        good = np.flatnonzero(reached)
        if not len(good):
            return None
        best = good[np.lexsort((values[good, 1], values[good, 2]))[0]]
        return Sampled(int(near[0]), samples[best])

    def _evolved(self, meter: Meter, world: _Masks | _Windows) -> tuple[Array, Array, Array]:
        """The last population: its samples, which reach the goal, and its objectives."""
        random = np.random.default_rng(self.seed)
        genes = world.born(self.population, random)
        verdict = meter.samples(world.samples(genes))
        reached, values = verdict.reached, world.objectives(genes, meter.worth(verdict))
        for _ in range(self.generations - 1):
            children = world.children(genes, _chosen(values, reached, random), random)
            verdict = meter.samples(world.samples(children))
            genes = np.concatenate([genes, children])
            reached = np.concatenate([reached, verdict.reached])
            values = np.concatenate([values, world.objectives(children, meter.worth(verdict))])
            kept = _survivors(values, reached, self.population)
            genes, reached, values = genes[kept], reached[kept], values[kept]
        return world.samples(genes), reached, values


class _Masks:
    """Which cells are taken from one case: genes (n, d, time) bool."""

    def __init__(self, own: Array, other: Array) -> None:
        self.own, self.other = own, other

    def born(self, count: int, random: Random) -> Array:
        """From nearly nothing to nearly all."""
        genes = np.zeros((count, *self.own.shape), bool)
        for share, gene in zip(np.linspace(0.05, 1, count), genes, strict=True):
            for channel in np.flatnonzero(random.random(len(gene)) <= share):
                start, stop = _window(gene.shape[1], random, share)
                gene[channel, start:stop] = True
        genes[-1] = True
        return genes

    def samples(self, genes: Array) -> Array:
        """The samples of genes."""
        return np.where(genes, self.other, self.own)

    def objectives(self, genes: Array, worth: Array) -> Array:
        """(n, 3), to be made small: the score, stretches, and cells."""
        runs = (np.diff(genes.astype(np.int8), axis=2, prepend=0) > 0).sum(axis=(1, 2))
        return np.stack([-worth, runs, genes.mean(axis=(1, 2))], axis=1)

    def children(self, genes: Array, parents: Array, random: Random) -> Array:
        """Channels of two parents, and stretches that grow, shrink, appear or vanish."""
        swap = random.random((len(parents), genes.shape[1], 1)) < 0.5
        made = np.where(swap, genes[parents[:, 0]], genes[parents[:, 1]])
        for gene in made:
            for channel in np.flatnonzero(random.random(len(gene)) < max(0.1, 2 / len(gene))):
                _moved(gene[channel], random)
        return made


class _Windows:
    """Samples (n, d, time) with windows of several cases."""

    def __init__(self, own: Array, others: Array) -> None:
        kind = np.result_type(own.dtype, others.dtype)
        self.own, self.others = own.astype(kind), others.astype(kind)
        self.spread = np.maximum(others.std(axis=(0, 2)), 1e-9)[:, None]

    def born(self, count: int, random: Random) -> Array:
        """The case with windows of others, and others as they are."""
        genes = np.repeat(self.own[None], count, axis=0)
        for gene in genes:
            self._opposed(gene, random)
        genes[: len(self.others)] = self.others[:count]
        return genes

    def samples(self, genes: Array) -> Array:
        """The samples themselves."""
        return genes

    def objectives(self, genes: Array, worth: Array) -> Array:
        """(n, 3), to be made small: the score, the distance, and cells."""
        gap = np.abs(genes.astype(float) - self.own) / self.spread
        return np.stack([-worth, gap.mean(axis=(1, 2)), (gap > 0).mean(axis=(1, 2))], axis=1)

    def children(self, genes: Array, parents: Array, random: Random) -> Array:
        """Channels of two parents, with a window of another case or of the case itself."""
        swap = random.random((len(parents), genes.shape[1], 1)) < 0.5
        made = np.where(swap, genes[parents[:, 0]], genes[parents[:, 1]])
        for gene in made:
            if random.random() < 0.5:
                start, stop = _window(gene.shape[1], random, 0.5)
                some = random.random(len(gene)) < 0.5
                gene[some, start:stop] = self.own[some, start:stop]
            else:
                self._opposed(gene, random)
        return made

    def _opposed(self, gene: Array, random: Random) -> None:
        other = self.others[random.integers(len(self.others))]
        start, stop = _window(gene.shape[1], random, 1.0)
        some = random.random(len(gene)) < random.random()
        gene[some, start:stop] = other[some, start:stop]


def _window(length: int, random: Random, share: float) -> tuple[int, int]:
    size = int(random.integers(1, max(2, round(share * length) + 1)))
    start = int(random.integers(0, max(1, length - size + 1)))
    return start, start + size


def _moved(line: Array, random: Random) -> None:
    """Change one stretch of a channel (time,) in place."""
    edges = np.diff(line.astype(np.int8), prepend=0, append=0)
    starts, stops = np.flatnonzero(edges > 0), np.flatnonzero(edges < 0)
    kind = random.integers(4) if len(starts) else 3
    if kind == 3:
        start, stop = _window(len(line), random, 0.25)
        line[start:stop] = True
        return
    at = random.integers(len(starts))
    start, stop = int(starts[at]), int(stops[at])
    by = int(random.integers(1, max(2, (stop - start) // 2 + 1)))
    if kind == 0:  # grow
        line[max(0, start - by) : stop + by] = True
    elif kind == 1:  # shrink
        left = bool(random.integers(2))
        line[start : start + by] &= not left
        line[stop - by : stop] &= left
    else:  # vanish
        line[start:stop] = False


def _chosen(values: Array, reached: Array, random: Random) -> Array:
    """Parents (n, 2): the better of two, by turns."""
    place = np.empty(len(values), int)
    place[_survivors(values, reached, len(values))] = np.arange(len(values))
    pairs = random.integers(0, len(values), (2, len(values), 2))
    return np.where(place[pairs[0]] < place[pairs[1]], pairs[0], pairs[1])


def _survivors(values: Array, reached: Array, count: int) -> Array:
    """The best `count`, best first: what reaches the goal, then by fronts, then the least crowded.

    >>> values = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
    >>> _survivors(values, np.array([True, True, True]), 2).tolist()
    [0, 1]
    """
    beats = (values[:, None] <= values).all(axis=2) & (values[:, None] < values).any(axis=2)
    beats = (beats & (reached[:, None] == reached)) | (reached[:, None] & ~reached)
    front, open_, turn = np.zeros(len(values), int), np.ones(len(values), bool), 0
    while open_.any():
        best = open_ & ~(beats & open_[:, None]).any(axis=0)
        front[best], turn = turn, turn + 1
        open_ &= ~best
    order = np.lexsort((-_room(values, front), front))
    return order[:count]


def _room(values: Array, front: Array) -> Array:
    """How far apart the neighbours of each in its front are: the crowding distance."""
    room = np.zeros(len(values))
    span = np.maximum(values.max(axis=0) - values.min(axis=0), 1e-12)
    for turn in np.unique(front):
        mine = np.flatnonzero(front == turn)
        for objective in range(values.shape[1]):
            order = mine[np.argsort(values[mine, objective], kind="stable")]
            room[order[[0, -1]]] = np.inf
            gap = values[order[2:], objective] - values[order[:-2], objective]
            room[order[1:-1]] += gap / span[objective]
    return room
