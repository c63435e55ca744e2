"""Boosted trees in which all nodes of a level ask the same question, on small whole numbers.

Such a tree is a short list of questions and a table of values, so it is asked by array operations
alone. Values are multiples of a power of two, so that their sum is exact in any order: a row is
judged the same alone and in a batch.

They learn from rows beside copies in which one to three cells were replaced by values from
elsewhere. Two of three new values come from other rows, which keeps how often each value occurs and
breaks what goes with what. The third is any value of the column, however rare, because a row may
look strange by a single value, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from macex.schema import Array

DEPTH = 6
ROUNDS = 100
PATIENCE = 8  # rounds without a gain on the rows set aside
RATE = 0.25
RIDGE = 5.0
INPUTS = 24  # that a tree chooses from: half of them if they are more than twelve
UNIT = 2.0**-24
EXACT = 2.0**-36  # sums of a hundred thousand multiples of it that are below 1 are exact
BLOCK = 2048  # rows asked at once: few enough for the cache


class Sample(NamedTuple):
    """Rows to learn from."""

    bins: Array  # (inputs, n) uint8
    real: Array  # (n,) 1 for a real row, 0 for one with swapped cells
    weight: Array  # (n,)


@dataclass(frozen=True)
class Trees:
    """Questions and values of all trees: (trees, DEPTH) and (trees, 2 ** DEPTH)."""

    place: Array  # which input is asked about
    bound: Array  # whether its bin is above this one, or for a category is this one
    equal: Array  # bool: which of the two
    values: Array

    def __call__(self, bins: Array) -> Array:
        """The log odds that rows with these bins (inputs, n) are real, (n,)."""
        if not len(self.values):
            return np.zeros(bins.shape[1])
        steps = range(0, bins.shape[1], BLOCK)
        parts = [self._block(bins[:, start : start + BLOCK]) for start in steps]
        return np.concatenate([*parts, np.zeros(0)])

    def _block(self, bins: Array) -> Array:
        """The same for few enough rows: every question is asked once, however many nodes ask it."""
        questions, equal, asked = self._questions
        found, bound = bins[questions[:, 0]], questions[:, 1, None].astype(np.uint8)
        above = np.empty(found.shape, np.uint8)
        above[:equal] = found[:equal] == bound[:equal]
        above[equal:] = found[equal:] > bound[equal:]
        leaf = above.take(asked[:, 0], axis=0)
        for level in range(1, asked.shape[1]):
            leaf <<= 1
            leaf |= above.take(asked[:, level], axis=0)
        first = np.arange(len(self.values), dtype=np.int32)[:, None] * self.values.shape[1]
        total: Array = self.values.reshape(-1).take(leaf + first).sum(axis=0)
        return total

    @cached_property
    def _questions(self) -> tuple[Array, int, Array]:
        """The distinct questions (k, 2), how many ask for one bin, and which each node asks.

        Those that ask for one bin come first.
        """
        every = np.stack([~self.equal, self.place, self.bound], axis=-1).astype(int)
        distinct, asked = np.unique(every.reshape(-1, 3), axis=0, return_inverse=True)
        equal = int((distinct[:, 0] == 0).sum())
        return distinct[:, 1:], equal, asked.reshape(self.place.shape)

    @staticmethod
    def join(parts: list[Trees]) -> Trees:
        """The mean of several ensembles as one."""
        share = 1 / len(parts)
        values = np.concatenate([part.values for part in parts]) * share
        return Trees(
            np.concatenate([part.place for part in parts]),
            np.concatenate([part.bound for part in parts]),
            np.concatenate([part.equal for part in parts]),
            np.round(values / UNIT) * UNIT,
        )


def fit_trees(
    sample: Sample, aside: Sample, sizes: Array, unordered: Array, draw: np.random.Generator
) -> Trees:
    """Trees that tell real rows from others, as many as help on the rows set `aside`."""
    score, checked = np.zeros(len(sample.real)), np.zeros(len(aside.real))
    questions: list[list[tuple[int, int, bool]]] = []
    values: list[Array] = []
    losses = [_loss(aside, checked)]
    usable = np.flatnonzero((sizes > 1) & (sample.real.min(initial=1.0) < 1))
    while len(usable) and len(values) < ROUNDS and _still_gains(losses):
        chance = 1 / (1 + np.exp(-score))
        slope = sample.weight * (sample.real - chance)
        curve = sample.weight * chance * (1 - chance)
        some = min(INPUTS, max(12, (len(usable) + 1) // 2), len(usable))
        places = np.sort(draw.permutation(usable)[:some])
        asked, leaf = _grown(sample.bins[places], sizes[places], unordered[places], slope, curve)
        top, low = (np.bincount(leaf, part, 2**DEPTH) for part in (slope, curve))
        value = np.round(RATE * top / (low + RIDGE) / UNIT) * UNIT
        score += value[leaf]
        questions.append([(places[place], bound, equal) for place, bound, equal in asked])
        values.append(value)
        checked += value[_leaves(questions[-1], aside.bins)]
        losses.append(_loss(aside, checked))
    best = int(np.argmin(losses))
    table = np.array(questions[:best], dtype=int).reshape(best, DEPTH, 3)
    return Trees(
        table[..., 0],
        table[..., 1].astype(np.uint8),
        table[..., 2].astype(bool),
        np.array(values[:best]).reshape(best, 2**DEPTH),
    )


def _grown(
    bins: Array, sizes: Array, unordered: Array, slope: Array, curve: Array
) -> tuple[list[tuple[int, int, bool]], Array]:
    """The questions of one tree, and the leaf of every row."""
    ends = np.cumsum(sizes)
    starts, width = ends - sizes, int(ends[-1])
    place_of, is_level = np.repeat(np.arange(len(sizes)), sizes), np.repeat(unordered, sizes)
    last = np.zeros(width, bool)
    last[ends - 1] = True
    cells = np.ascontiguousarray((bins + starts[:, None]).T, np.intp)  # (n, inputs)
    parts = np.round(slope / EXACT) * EXACT, np.round(curve / EXACT) * EXACT
    leaf, asked = np.zeros(len(cells), np.intp), []
    top, low = (_added(cells, part, width)[None] for part in parts)
    for level in range(DEPTH):
        gain = _gains(top, low, starts, sizes, is_level)
        gain[last & ~is_level] = -np.inf
        best = int(np.argmax(np.round(gain, 9)))
        place = int(place_of[best])
        bound = best - int(starts[place])
        asked.append((place, bound, bool(unordered[place])))
        above = bins[place] == bound if unordered[place] else bins[place] > bound
        if level + 1 < DEPTH:
            top, low = _halves([top, low], cells, leaf, parts, above)
        leaf = 2 * leaf + above
    return asked, leaf


def _added(cells: Array, part: Array, count: int) -> Array:
    """The sum of a part (n,) over the rows of each cell; `cells` (n, inputs) are below `count`."""
    return np.bincount(cells.reshape(-1), np.repeat(part, cells.shape[1]), count)


def _halves(
    sums: list[Array], cells: Array, leaf: Array, parts: tuple[Array, Array], above: Array
) -> list[Array]:
    """The sums of both halves of every node: the smaller half is added up, the other is the rest.

    The rest is exact, because every part is a multiple of `EXACT`.
    """
    fewer = 2 * np.count_nonzero(above) <= len(above)  # whether those above are
    who = np.flatnonzero(above == fewer)
    nodes, width = sums[0].shape
    within = cells[who] + (leaf[who] * width)[:, None]
    halves = []
    for whole, part in zip(sums, parts, strict=True):
        some = _added(within, part[who], nodes * width).reshape(nodes, width)
        pair = (whole - some, some) if fewer else (some, whole - some)
        halves.append(np.stack(pair, axis=1).reshape(2 * nodes, width))
    return halves


def _gains(top: Array, low: Array, starts: Array, sizes: Array, is_level: Array) -> Array:
    """What each question is worth: sums of slopes and curves on both sides, over all nodes."""
    whole = [part[:, : sizes[0]].sum(axis=1)[:, None] for part in (top, low)]
    sides = []
    for part in (top, low):
        run = np.cumsum(part, axis=1)
        before = np.repeat(run[:, starts] - part[:, starts], sizes, axis=1)
        sides.append(np.where(is_level, part, run - before))
    one = sides[0] ** 2 / (np.maximum(sides[1], 0.0) + RIDGE)
    other = (whole[0] - sides[0]) ** 2 / (np.maximum(whole[1] - sides[1], 0.0) + RIDGE)
    total: Array = (one + other).sum(axis=0)
    return total


def _leaves(questions: list[tuple[int, int, bool]], bins: Array) -> Array:
    leaf = np.zeros(bins.shape[1], np.intp)
    for place, bound, equal in questions:
        leaf = 2 * leaf + (bins[place] == bound if equal else bins[place] > bound)
    return leaf


def _loss(sample: Sample, score: Array) -> float:
    toward = np.where(sample.real > 0, -score, score)
    return float((sample.weight * np.logaddexp(0.0, toward)).sum())


def _still_gains(losses: list[float]) -> bool:
    return len(losses) - 1 - int(np.argmin(losses)) < PATIENCE


MOST_CELLS = 3
TRIES = 6  # draws until a new value differs from the old one


def swapped(rows: Array, source: Array, draw: np.random.Generator) -> tuple[Array, Array]:
    """Copies of `rows` (n, d) with cells from `source` (T, d); which have a cell that differs.

    >>> rows = np.array([[0.0, 5.0], [1.0, 5.0]])
    >>> copies, differs = swapped(rows, rows, np.random.default_rng(0))
    >>> copies.tolist(), differs.tolist()
    ([[1.0, 5.0], [0.0, 5.0]], [True, True])
    """
    copies = rows.copy()
    seen = [np.unique(column) for column in source.T]
    varied = np.flatnonzero([len(values) > 1 for values in seen])
    if not len(varied) or not len(rows):
        return copies, np.zeros(len(rows), bool)
    cells = np.minimum(draw.integers(1, MOST_CELLS + 1, len(rows)), len(varied))
    turn = draw.random((len(rows), len(varied))).argsort(axis=1)
    for place in range(min(MOST_CELLS, len(varied))):
        who = np.flatnonzero(cells > place)
        column = varied[turn[who, place]]
        copies[who, column] = _other(rows[who, column], column, source, seen, draw)
    return copies, (copies != rows).any(axis=1)


def _other(
    old: Array, column: Array, source: Array, seen: list[Array], draw: np.random.Generator
) -> Array:
    """A value of each cell's column, another one than the cell's where a few draws find one."""
    new, rare = old.copy(), draw.random(len(old)) < 1 / 3
    sizes = np.array([len(values) for values in seen])
    every, start = np.concatenate(seen), np.cumsum(sizes) - sizes
    for _ in range(TRIES):
        open_ = np.flatnonzero(new == old)
        if not len(open_):
            break
        mine, chance = column[open_], draw.random(len(open_))
        common = source[(chance * len(source)).astype(int), mine]
        any_one = every[start[mine] + (chance * sizes[mine]).astype(int)]
        new[open_] = np.where(rare[open_], any_one, common)
    return new
