"""The shapes that stages hand to each other. The first axis of every array is the query.

Task        a batch of queries, how to score rows and how to measure changes
Candidates  single changes on offer: which unit, which value        C and V(C) of the paper
Pool        examples that reach their goals                         E of the paper
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from macex.schema import Array
from macex.stages.arrays import rank_within, spread_turns

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from macex.ask.answers import Verdict
    from macex.ask.space import Space
    from macex.stages.draws import Draws
    from macex.stages.thresholds import CellGrid

Prefer = Literal["fewest", "nearest", "surest"]  # what a search is after


@dataclass(frozen=True)
class Candidates:
    """Single changes on offer: entry a of every query concerns the unit `unit[a]`."""

    unit: Array  # (A,) int
    value: Array  # (Q, A)
    real: Array  # (Q, A) bool: the entry counts for this query
    allowed: Array  # (Q, A) bool: not only a reason but a change that may be made
    exact: bool = False  # every value seen in training is on offer, and was meant to be
    whole: Array | None = None  # (Q,) bool: what is on offer stands for every value there is
    leading: int = 0  # entries that come first, in their order, where not all can be tried

    def rows(self, queries: Array, chosen: Array) -> tuple[Array, Array, Array]:
        """The single changes at `chosen` (Q, A) bool as rows: codes, their query, their entry."""
        at, entry = np.nonzero(chosen)
        codes = queries.take(at, axis=0)
        codes[np.arange(len(at)), self.unit[entry]] = self.value[at, entry]
        return codes, at, entry

    def turns(self, at: Array, entry: Array) -> Array:
        """In which order to try entries of queries if not all can be tried: every unit's in turn.

        A query's own entries alone decide it, whatever else the table holds for others.
        """
        group = at * (1 + self.unit.max(initial=0)) + self.unit[entry]
        _, group, size = np.unique(group, return_inverse=True, return_counts=True)
        group = group.reshape(-1)
        place, turn = rank_within(group, entry), np.zeros(len(at), int)
        for count in np.unique(size).tolist():
            mine = size[group] == count
            turn[mine] = spread_turns(count)[place[mine]]
        return np.where(entry < self.leading, entry - self.leading, turn)

    def shares(self, gain: Array) -> Array:
        """Gains (Q, A) of 0 or more as shares of the best gains of all units together."""
        if not len(self.unit):
            return gain
        _, entry = self.best(gain)
        total = np.cumsum(np.take_along_axis(gain, entry, axis=1), axis=1)[:, -1]
        return gain / np.where(total > 0, total, 1.0)[:, None]

    def best(self, worth: Array) -> tuple[Array, Array]:
        """The units that have entries (k,), and of each the first one of the highest worth (Q, k).

        >>> offer = Candidates(np.array([1, 0, 1]), np.zeros((1, 3)), *2 * [np.ones((1, 3), bool)])
        >>> [part.tolist() for part in offer.best(np.array([[0.2, 0.1, 0.2]]))]
        [[0, 1], [[1, 0]]]
        """
        order, units, start, turn = self.by_unit
        ranked = worth.take(order, axis=1)
        highest = np.maximum.reduceat(ranked, start, axis=1)
        among = ranked == highest.take(turn, axis=1)
        place = np.where(among, np.arange(len(order)), len(order))
        return units, order[np.minimum.reduceat(place, start, axis=1)]

    @cached_property
    def by_unit(self) -> tuple[Array, Array, Array, Array]:
        """The entries in the order of their units, these, where each begins, and whose each is."""
        order = np.argsort(self.unit, kind="stable")
        units, start, turn = np.unique(self.unit[order], return_index=True, return_inverse=True)
        return order, units, start, turn.reshape(-1)

    @staticmethod
    def empty(queries: int) -> Candidates:
        """No changes on offer."""
        table = np.zeros((queries, 0))
        return Candidates(np.zeros(0, int), table, table.astype(bool), table.astype(bool))

    def join(self, other: Candidates) -> Candidates:
        """The entries of both."""
        return Candidates(
            np.concatenate([self.unit, other.unit]),
            np.concatenate([self.value, other.value], axis=1),
            np.concatenate([self.real, other.real], axis=1),
            np.concatenate([self.allowed, other.allowed], axis=1),
            self.exact,
            self.whole,
        )


class Judging(Protocol):
    """Scores rows of codes (n, U), each made from the query `at` (n,)."""

    ran_out: Array  # (Q,) bool: the query's rows or time were spent
    capped: bool  # whether the caller set how many rows a query may cost

    def __call__(
        self,
        codes: Array,
        at: Array,
        *,
        probe: bool = False,
        turn: Callable[[], Array] | None = None,
        told: bool = True,
    ) -> Verdict:
        """The verdict on each row; with `probe` rows that break a rule are scored, too.

        Where not all rows of a query can be paid for, those with the lowest `turn()` (n,) are.
        Rows that are not `told` are no misses, however near they come.
        """

    def affordable(self, at: Array, turn: Callable[[], Array]) -> Array:
        """Which of these rows will be scored, said before they are made, as far as is known."""

    def renew(self, queries: Array, rows: int) -> None:
        """Let queries (Q,) bool cost `rows` more, unless the caller set the limit."""

    def dear(self, rows: Array) -> Array:
        """The queries (Q,) that cannot pay for so many `rows` (Q,) with half of what they may."""

    def rationed(self, least: int = 0) -> AbstractContextManager[None]:
        """Let each query spend half of its rows, where the caller set them, but `least` of them."""

    @property
    def late(self) -> bool:
        """Whether the time of the call is over."""

    @property
    def finished(self) -> Array:
        """Queries (Q,) for which nothing more can be asked."""


@dataclass(frozen=True)
class Task:
    """A batch of queries as stages see it."""

    space: Space
    judge: Judging
    measure: Callable[[Array, Array], Array]  # (codes, at) -> distance from the query, (n,)
    drawn: Callable[[], Draws]
    base: Array  # (Q,) progress of the queries themselves
    bounded: Array  # (Q,) bool: progress is the log odds of a probability
    count: int  # counterfactuals wanted for each query
    prefer: Prefer
    rest: Callable[
        [Array, Candidates], tuple[Candidates, Array]
    ]  # the seen values not yet on offer
    grid: CellGrid | None = None  # the cells that a tree model cuts numbers into
    additive: bool = True  # a further change never brings a row nearer to its query
    band: Array | None = None  # (Q,) the progress from which on an example is stable
    plausible: bool = False  # plausible examples come first, however much they change

    def stable(self, progress: Array, at: Array) -> Array:
        """Which examples, of the queries `at`, clear the band around the threshold, (n,) bool."""
        return np.ones(len(at), bool) if self.band is None else progress >= self.band[at]

    @cached_property
    def draws(self) -> Draws:
        """The random numbers of the batch, made on first use."""
        return self.drawn()

    @cached_property
    def queries(self) -> Array:
        """The queries by unit, (Q, U)."""
        return self.space.queries

    def reward(self, progress: Array, at: Array) -> Array:
        """Progress as the paper's reward: the probability of the goal, where there is one."""
        probability = 1 / (1 + np.exp(-np.clip(progress, -700.0, 700.0)))
        return np.where(self.bounded[at], probability, progress)

    @cached_property
    def max_changes(self) -> Array:
        """The most units each query may change, (Q,)."""
        return np.minimum(self.space.bounds.max_changes, self.space.changeable.sum(axis=1))


@dataclass(frozen=True)
class Pool:
    """Examples that reach their goals: row i is made from query `at[i]`."""

    at: Array  # (E,) int
    codes: Array  # (E, U)
    progress: Array  # (E,)

    def __len__(self) -> int:
        return len(self.at)

    def take(self, index: Array) -> Pool:
        """The examples at `index`."""
        index = np.flatnonzero(index) if index.dtype == bool else index
        return Pool(self.at[index], self.codes.take(index, axis=0), self.progress[index])

    @staticmethod
    def empty(width: int) -> Pool:
        """A pool without examples."""
        return Pool(np.zeros(0, np.intp), np.zeros((0, width)), np.zeros(0))

    @staticmethod
    def join(pools: list[Pool], width: int) -> Pool:
        """All examples of several pools."""
        if not pools:
            return Pool.empty(width)
        return Pool(
            np.concatenate([p.at for p in pools]),
            np.concatenate([p.codes for p in pools]),
            np.concatenate([p.progress for p in pools]),
        )


@dataclass(frozen=True)
class Found:
    """What a search found out.

    `proved` counts the levels (numbers of changes) of which every combination failed over the
    values seen in training, or over all values where the candidates stand for those; `tried` the
    same over the candidates alone. `weight` and `flips` describe single changes: the share each
    has in the way to the goal, and whether it reaches it alone.
    """

    pool: Pool
    proved: Array  # (Q,) int
    tried: Array  # (Q,) int
    candidates: Candidates
    weight: Array  # (Q, A) in [0, 1]
    flips: Array  # (Q, A) bool

    @classmethod
    def unproved(cls, pool: Pool, candidates: Candidates) -> Found:
        """What a search found that proves nothing and weighs no single change."""
        count = len(candidates.real)
        nothing = np.zeros(candidates.real.shape)
        none = np.zeros(count, int)
        return cls(pool, none, none, candidates, nothing, nothing.astype(bool))

    @property
    def over(self) -> Literal["all values", "seen values"]:
        """What `proved` speaks of."""
        return "seen values" if self.candidates.whole is None else "all values"

    def reachable(self, query: int) -> int:
        """How many units of a query have anything to change to."""
        offered = self.candidates.real[query] & self.candidates.allowed[query]
        return len(np.unique(self.candidates.unit[offered]))
