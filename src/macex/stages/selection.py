"""Stage 3: which examples to return (the paper's Algorithm 3, and the default).

The printed rule sorts by proximity and passes over an example one of whose columns has been used K
times before. The default takes the best example of each *set* of changed columns, and of those
the ones whose columns overlap least. Where the fewest changes are wanted, no set is larger than is
needed to find enough sets, and a set that contains another comes last.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from macex.errors import require_counts, require_flag
from macex.schema import Array
from macex.stages.arrays import counted, including, rank_within, set_keys
from macex.stages.shapes import Pool, Task

PLAUSIBLE = 0.05
COMMON = 0.2  # plausible enough to be preferred to what is nearer, for its stability
STABLE = float(np.log(0.7 / 0.3))  # log odds: a probability of 0.7 where there are two classes
ASIDE = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Selection:
    """Pick examples that differ in what they change.

    A column is used by at most `uses` of the chosen examples; where that leaves too few, the limit
    is relaxed. With `printed` the rule is Algorithm 3 to the letter (its K is `uses`), applied
    before fine-tuning.
    """

    uses: int = 1
    printed: bool = False

    def __post_init__(self) -> None:
        require_counts(self, "uses")
        require_flag("Selection(printed=)", self.printed)

    def __call__(
        self, order: Array, changed: Array, count: int, *, fewest: bool = False
    ) -> list[int]:
        """Positions of the chosen among one query's examples.

        `order` ranks them, best first; `changed` (E, U) says what each changes. With `fewest`, no
        example has more changes than are needed to find `count` sets.
        """
        if self.printed:
            return _fill([], order, changed, count, self.uses)
        first = _best_of_each_set(order, changed)
        last = first[:0]
        if fewest:
            first, last = _needful(first, changed, count)
        chosen = _fill([], first, changed, count, self.uses)
        chosen = _fill(chosen, first, changed, count, max(3, self.uses))
        chosen = _fill(chosen, first, changed, count, len(changed) + 1)
        chosen = _fill(chosen, last, changed, count, len(changed) + 1)
        return sorted(chosen, key=list(order).index)


def holding(codes: Array, changed: Array) -> Array:
    """Which of one query's examples, best first, make all changes of a better one, and more.

    >>> codes = np.array([[1.0, 9.0], [2.0, 9.0], [2.0, 8.0]])  # the query is 1, 5
    >>> holding(codes, codes != [1.0, 5.0]).tolist()
    [False, True, False]
    """
    size = changed.sum(axis=1)
    same = ((codes[None] == codes[:, None]) | ~changed[None]).all(axis=2)
    fewer = size[None] < size[:, None]
    held: Array = np.tril(same & fewer).any(axis=1)
    return held


def _needful(first: Array, changed: Array, count: int) -> tuple[Array, Array]:
    """The examples of which `count` sets can be had with the fewest changes, and the others.

    A set that holds another is among the others, however small it is.
    """
    sets = changed[first]
    size = sets.sum(axis=1)
    within = (sets[None] <= sets[:, None]).all(axis=2) & (size[None] < size[:, None])
    alone = ~within.any(axis=1)
    most = np.sort(size[alone])[:count].max(initial=0)
    return first[alone & (size <= most)], first[~alone | (size > most)]


def _best_of_each_set(order: Array, changed: Array) -> Array:
    keys = set_keys(changed[order])
    _, first = np.unique(keys, return_index=True)
    return order[np.sort(first)]


def _fill(chosen: list[int], order: Array, changed: Array, count: int, uses: int) -> list[int]:
    """Algorithm 3, steps 2-5: go down the list, pass over columns used too often."""
    chosen = list(chosen)
    used = changed[chosen].sum(axis=0) if chosen else np.zeros(changed.shape[1], int)
    for example in order:
        if len(chosen) >= count:
            break
        if int(example) in chosen or (used[changed[example]] >= uses).any():
            continue
        chosen.append(int(example))
        used = used + changed[example]
    return chosen


def shortlist(task: Task, pool: Pool, sets: int, each: int = 2) -> Array:
    """The examples worth refining: the nearest few of the best sets of changed units."""
    return Standing.of(task, pool).best(sets, each)


class Standing(NamedTuple):
    """How examples stand among those that their query has."""

    turn: Array  # (E,) among those that change the same units: 0 is the nearest
    place: Array  # (E,) of the set of changed units: 0 is the best, ASIDE if it is not wanted

    @staticmethod
    def of(task: Task, pool: Pool) -> Standing:
        """Where the fewest changes are wanted, sets that hold another come last.

        If one answer is wanted, larger sets than the smallest are not.
        """
        changed = task.space.changed(pool.codes, pool.at)
        size, distance = counted(changed), task.measure(pool.codes, pool.at)
        if task.prefer == "surest":
            size, distance = np.zeros_like(size), -pool.progress
        if task.prefer == "nearest":
            size = np.zeros_like(size)
        _, group = np.unique(set_keys(changed, pool.at), return_inverse=True)
        group, edge = group.reshape(-1), ~task.stable(pool.progress, pool.at)
        every = np.arange(len(distance))
        turn = rank_within(group, distance, every)
        if task.band is not None:  # the nearest stable one, the nearest, the next stable one, ...
            steady = rank_within(group, edge, distance, every)
            turn = rank_within(group, np.minimum(2 * steady, 2 * turn + 1))
        lead = np.flatnonzero(turn == 0)
        place = np.full(int(group.max(initial=-1)) + 1, 0)
        leading, whose = changed[lead], pool.at[lead]
        holds = np.zeros(len(lead), bool)
        if task.prefer == "fewest" and task.count > 1:
            holds = including(leading, whose, leading, whose, proper=True)
        keys = (holds, size[lead], edge[lead], distance[lead], lead)
        place[group[lead]] = rank_within(whose, *keys)
        place = place[group]
        if task.prefer == "fewest" and task.count == 1:
            least = np.full(len(task.queries), ASIDE)
            np.minimum.at(least, pool.at, size)
            place = np.where(size == least[pool.at], place, ASIDE)
        return Standing(turn, place)

    def best(self, sets: int, each: int) -> Array:
        """Positions of the first `each` examples of the first `sets` sets."""
        return np.flatnonzero((self.turn < each) & (self.place < sets))

    def take(self, index: Array) -> Standing:
        """The examples at `index`."""
        return Standing(self.turn[index], self.place[index])


class Ranking(NamedTuple):
    """Examples by query, then best first as `prefer` says; ties by value."""

    order: Array  # (E,) positions
    level: Array  # (E,) in that order: equal for those that only what is usual may tell apart
    changes: Array  # (E,) in that order
    banded: Array | None = None  # (E,) bool, in that order: whether it matters to be stable
    edge: Array | None = None  # (E,) bool, in that order: not stable

    @staticmethod
    def of(task: Task, pool: Pool) -> Ranking:
        """The order that holds as long as nothing is known to be unusual."""
        changes = counted(task.space.changed(pool.codes, pool.at))
        distance = np.round(task.measure(pool.codes, pool.at), 9)
        first, then = {
            "fewest": ((pool.at, changes), (distance, -pool.progress)),
            "plausible": ((pool.at,), (changes, distance, -pool.progress)),
            "nearest": ((pool.at, distance, changes), (-pool.progress,)),
            "surest": ((pool.at, -pool.progress, changes), (distance,)),
        }["plausible" if task.plausible else task.prefer]
        order = np.lexsort((*then[::-1], *first[::-1]))
        apart = _unlike_before(order, first)
        unlike = apart | _unlike_before(order, then)
        tied = np.flatnonzero(~unlike)
        if len(tied):
            run, tied = np.cumsum(unlike), np.union1d(tied, tied - 1)
            values = pool.codes[order[tied]].T[::-1]
            order[tied] = order[tied][np.lexsort((*values, run[tied]))]
        level, mine, progress = np.cumsum(apart), pool.at[order], pool.progress[order]
        if task.band is None:
            return Ranking(order, level, changes[order])
        banded = np.isfinite(task.band[mine])
        return Ranking(order, level, changes[order], banded, ~task.stable(progress, mine))

    def on_edge(self, place: Array) -> Array:
        """Which examples, at some places of the order, follow any usual one, (n,) bool."""
        if self.banded is None or self.edge is None:
            return np.zeros(len(place), bool)
        return self.banded[place] & self.edge[place]

    def leads(self, place: Array, share: Array) -> Array:
        """Which examples, at some places of the order, none behind them can overtake, (n,) bool.

        `share` is how plausible they are.
        """
        usual: Array = ~(share < PLAUSIBLE)
        if self.banded is None or self.edge is None:
            return usual
        return usual & ~(self.banded[place] & (self.edge[place] | (share < COMMON)))

    def order_with(self, plausibility: Array) -> Array:
        """The order in which unusual examples come after others of the same level; NaN is usual.

        Among usual examples those that are both stable and common come first.
        """
        share = plausibility[self.order]
        if self.banded is None or self.edge is None:
            return self.order[np.argsort(2 * self.level + (share < PLAUSIBLE), kind="stable")]
        behind = self.banded & (self.edge | (share < COMMON))
        return self.order[np.lexsort((behind, self.changes, share < PLAUSIBLE, self.level))]


def _unlike_before(order: Array, keys: tuple[Array, ...]) -> Array:
    """Which examples differ in a key from the one before them in the order."""
    unlike = np.zeros(len(order), bool)
    unlike[:1] = True
    for key in keys:
        ranked = key[order]
        unlike[1:] |= ranked[1:] != ranked[:-1]
    return unlike
