"""Making the actions of a plan as small as they can be for the rows they flip.

The numbers of each action are moved back, one column after the other: all smaller values are tried,
coarsely and then finely, and the one is taken that keeps the rows at the least mean distance. A few
rows may be given up, but only for much: a hundredth of the rows for a tenth of the distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from macex.cohort.cover import ActionTrials, Entries
from macex.cohort.moves import NO_MOVES, Moves, smaller
from macex.cohort.population import Population
from macex.schema import Array

LADDER = 64  # values that are tried at once
PASSES = 3
PRICE = 10.0  # by how much the distance must fall, relative to the share of rows given up


@dataclass
class _Work:
    """One action, the rows it must keep, and how far the values of one move are narrowed down."""

    moves: Moves  # of the action
    rows: Array  # (Q,) bool: those it flips
    need: int  # how many of them it must keep
    ladder: Moves | None = None  # of the move that is looked at, the least first
    low: int = -1  # known not to do
    high: int = 0  # known to do

    @property
    def tried(self) -> Array:
        """The values to try next."""
        if self.ladder is None or self.high - self.low <= 1:
            return np.zeros(0, int)
        return np.unique(np.linspace(self.low + 1, self.high, LADDER).astype(int))


def shrunk(
    trials: ActionTrials, chosen: list[Entries], spare: int, least: int = 0
) -> tuple[Moves, list[Entries]]:
    """The same actions with smaller moves; each gives up at most its part of `spare` rows.

    None flips fewer than `least` rows then.
    """
    population, moves, max_cost = trials.population, trials.moves, trials.max_cost
    flipped = [trials.reached[trials.actions.index(entries)] for entries in chosen]
    each = spare // max(1, len(chosen))
    works = [
        _Work(moves.take(entries), rows, max(least, int(rows.sum()) - each))
        for entries, rows in zip(chosen, flipped, strict=True)
    ]
    for turn in range(max((len(entries) for entries in chosen), default=0)):
        for work in works:
            work.ladder = _ladder(population, work.moves, turn)
            work.low, work.high = -1, 0 if work.ladder is None else len(work.ladder) - 1
        for _ in range(PASSES):
            _narrow(population, [work for work in works if len(work.tried)], turn, max_cost)
        for work in works:
            if work.ladder is not None:
                work.moves = _with(work.moves, turn, work.ladder.take([work.high]))
    return _together([work.moves for work in works])


def _ladder(population: Population, moves: Moves, turn: int) -> Moves | None:
    """The values of a move, if it is one of a number."""
    if turn >= len(moves) or not (np.isfinite(moves.by[turn]) or moves.side[turn]):
        return None
    return smaller(population.space, moves, turn)


def _with(moves: Moves, turn: int, move: Moves) -> Moves:
    """An action with another move in one place."""
    before, after = range(turn), range(turn + 1, len(moves))
    return moves.take(before).joined(move).joined(moves.take(after))


def _narrow(population: Population, works: list[_Work], turn: int, max_cost: float) -> None:
    """Try values of one move of each action, all in one score, and keep the best."""
    variants = [
        _with(work.moves, turn, work.ladder.take([at]))
        for work in works
        if work.ladder is not None
        for at in work.tried.tolist()
    ]
    if not variants:
        return
    joined, actions = _together(variants)
    trials = ActionTrials(population, joined, max_cost=max_cost)
    trials.score(actions, [work.rows for work in works for _ in work.tried])
    start = 0
    for work in works:
        tried = work.tried
        mine = slice(start, start + len(tried))
        start += len(tried)
        best = _best(work, trials.reached[mine], trials.distance[mine])
        work.low = int(tried[best - 1]) if best else work.low
        work.high = int(tried[best])


def _best(work: _Work, reached: list[Array], distance: list[Array]) -> int:
    """The value that keeps enough rows at the least distance; rows given up have a price."""
    kept = np.array([int(rows.sum()) for rows in reached])
    total = max(1, int(work.rows.sum()))
    far = np.array(
        [
            d[rows].mean() if rows.any() else np.inf
            for rows, d in zip(reached, distance, strict=True)
        ]
    )
    price = far * (1 + PRICE * (total - kept) / total)
    price[kept < work.need] = np.inf
    return int(price.argmin()) if np.isfinite(price).any() else len(kept) - 1


def _together(parts: list[Moves]) -> tuple[Moves, list[Entries]]:
    """The moves of several actions as one list, and which are whose."""
    joined = NO_MOVES
    actions: list[Entries] = []
    for part in parts:
        actions.append(tuple(range(len(joined), len(joined) + len(part))))
        joined = joined.joined(part)
    return joined, actions
