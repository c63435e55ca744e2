"""Gradientless descent over columns and values: MACE-GLD, as its authors run it.

The paper states the problem, min (||cat||_0 + ||con / m||_1) / d subject to reaching the goal over
C and V(C), and leaves the rest to an appendix that was not published with it. What the appendix
would say is known from the authors' own library, OmniXAI; this is that algorithm, reimplemented.

Every column has a score in [0, 1], and so has every value on offer for it; all start at 1/2. A
column is changed if its score is above 1/2, to the value of the highest score. A round draws one
point for each of K = floor(log2(R / r)) radii 2^-k R, k = 0 .. K - 1: normal steps of all scores at
once, clipped to [0, 1]. The nearest point of the round that reaches the goal becomes the present
one, even if an earlier one was nearer; where none does, the present one stays. A new start keeps
the scores of values, sets those of columns to 0.55 where they are at least 1/2 and to 0 elsewhere,
and so favours few columns; a query whose last start reached nothing has no further one. Every
example met on the way that reaches the goal is kept.

Distances are those of `distance=`. Where more columns are above 1/2 than a query may change, those
of the highest scores are changed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from macex.errors import OptionError, require_counts, require_pair
from macex.schema import Array
from macex.stages.arrays import distinct, rank_within
from macex.stages.draws import Draws
from macex.stages.search.options import UnitValues, options_of
from macex.stages.search.protocol import GRADIENTLESS, MOST_ROWS
from macex.stages.shapes import Candidates, Found, Pool, Task

CHANGED = 0.5  # a column whose score is above it is changed
RENEWED = 0.55  # where the columns begin that a new start goes on with


class Choices(NamedTuple):
    """What is descended over; the first axis is the query."""

    columns: Array  # (Q, U) or (Q, K, U)
    values: Array  # (Q, U, M) or (Q, K, U, M); -1 where nothing is on offer

    def move(self, who: Array, to: Choices, query: Array, radius: Array) -> None:
        """Put the queries `who` where the points of `to` at `query` and `radius` are."""
        self.columns[who] = to.columns[query, radius]
        self.values[who] = to.values[query, radius]


@dataclass(frozen=True, slots=True)
class GradientlessSearch:
    """The paper's MACE-GLD: `starts` of `rounds` of one draw for each radius of `radius` (r, R).

    >>> GradientlessSearch().radii.tolist()[:3], len(GradientlessSearch().radii)
    ([0.25, 0.125, 0.0625], 8)
    """

    name: ClassVar[str] = GRADIENTLESS
    proves: ClassVar[bool] = False
    offered: ClassVar[Literal["all", "few"]] = "few"
    max_rows: ClassVar[int] = MOST_ROWS

    rounds: int = 20
    starts: int = 3
    radius: tuple[float, float] = (0.0005, 0.25)

    def __post_init__(self) -> None:
        require_counts(self, "rounds", "starts")
        low, high = require_pair("GradientlessSearch(radius=)", self.radius)
        if not 0 < low <= high / 2:
            raise OptionError(
                "GradientlessSearch(radius=) must be (small, large), the large one at least twice "
                f"the small one, not {self.radius!r}"
            )

    @property
    def radii(self) -> Array:
        """The radii of a round, the largest first."""
        low, high = self.radius
        return np.asarray(high * 2.0 ** -np.arange(int(np.floor(np.log2(high / low)))))

    def __call__(self, task: Task, candidates: Candidates) -> Found:
        """Descend in lock-step: one model call a round for all queries that are still open."""
        options = options_of(task, candidates)
        present = _beginning(options)
        open_: Array = np.asarray(options.open.any(axis=1))
        pools: list[Pool] = []
        for start in range(self.starts):
            if start:
                present.columns[:] = np.where(present.columns >= CHANGED, RENEWED, 0.0)
            reached = np.zeros(len(open_), bool)
            for turn in range(start * self.rounds, (start + 1) * self.rounds):
                who = np.flatnonzero(open_ & ~task.judge.finished)
                if not len(who):
                    break
                pools.append(self._round(task, options, present, who, turn))
                reached[pools[-1].at] = True
            open_ = reached
        pool = Pool.join(pools, task.space.width)
        weight, flips = _singles(task, candidates)
        nothing = np.zeros(len(open_), int)
        return Found(
            pool.take(distinct(pool.at, pool.codes)), nothing, nothing, candidates, weight, flips
        )

    def _round(
        self, task: Task, options: UnitValues, present: Choices, who: Array, turn: int
    ) -> Pool:
        """Score one point a radius around the queries `who`, and move to the nearest that holds."""
        points = self._around(task, present, who, turn)
        rows = _rows(task, options, points, who)
        point, at = np.arange(len(rows)), np.repeat(who, len(self.radii))
        some = (rows != task.queries[at]).any(axis=1)
        point = point[some][distinct(at[some], rows[some])]
        rows, at = rows[point], at[point]
        verdict = task.judge(rows, at)
        good = verdict.reached
        pool = Pool(at[good], rows[good], verdict.progress[good])
        best = rank_within(pool.at, task.measure(pool.codes, pool.at), point[good]) == 0
        query, radius = np.divmod(point[good][best], len(self.radii))
        present.move(who[query], points, query, radius)
        return pool

    def _around(self, task: Task, present: Choices, who: Array, turn: int) -> Choices:
        """Points (Q, K, ...) around the present one.

        What is drawn for a value depends on its place among those that its query is offered.
        """
        draws, first, count = task.draws.take(who), turn * len(self.radii), len(self.radii)
        values = present.values[who]
        offered = values >= 0
        place = np.maximum(np.cumsum(offered, axis=2) - 1, 0)
        drawn = _drawn(draws, int(place.max(initial=0)) + 1, first, count)
        steps = np.take_along_axis(drawn, place[:, None], axis=3)
        radii = self.radii[None, :, None]
        columns = present.columns[who][:, None] + radii * draws.normal("column", first, count)
        moved = np.clip(values[:, None] + radii[..., None] * steps, 0, 1)
        return Choices(np.clip(columns, 0, 1), np.where(offered[:, None], moved, -1.0))


def _beginning(options: UnitValues) -> Choices:
    """Every score 1/2."""
    return Choices(np.full(options.open.shape, CHANGED), np.where(options.real, CHANGED, -1.0))


def _drawn(draws: Draws, places: int, first: int, count: int) -> Array:
    """Normal numbers (Q, K, U, places)."""
    return np.stack(
        [draws.normal(f"value {place}", first, count) for place in range(places)], axis=3
    )


def _rows(task: Task, options: UnitValues, points: Choices, who: Array) -> Array:
    """The rows (Q * K, U) that points stand for."""
    queries, count, width = points.columns.shape
    at = np.repeat(who, count)
    columns = points.columns.reshape(-1, width)
    chosen = (columns > CHANGED) & options.open[at]
    order = np.argsort(np.where(chosen, -columns, 0.0), axis=1, kind="stable")
    chosen &= np.argsort(order, axis=1) < task.max_changes[at][:, None]
    option = points.values.reshape(queries * count, width, -1).argmax(axis=2)
    return options.rows(task, at, chosen, option)


def _singles(task: Task, candidates: Candidates) -> tuple[Array, Array]:
    """What every candidate does alone: its share of the gain, and whether it suffices."""
    gain, flips = np.zeros(candidates.value.shape), np.zeros(candidates.value.shape, bool)
    codes, at, entry = candidates.rows(task.queries, candidates.real)
    if len(at):
        verdict = task.judge(codes, at, probe=True)
        rise = task.reward(verdict.progress, at) - task.reward(task.base[at], at)
        gain[at, entry] = np.maximum(rise, 0.0)
        flips[at, entry] = verdict.reached
    return candidates.shares(gain), flips
