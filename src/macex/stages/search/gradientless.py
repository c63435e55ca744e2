"""Gradientless descent over columns and values (the paper's MACE-GLD).

The paper states the problem, min (||cat||_0 + ||con / m||_1) / d subject to reaching the goal, and
that it is solved by the idea of Algorithm 4; the details are in an appendix that was not published
with it. What is chosen here: every column has one latent number in [0, 1] for each of its options
(keep, or one of its values), the option with the largest number is taken, and a round draws normal
steps of K radii around the present latent point. It starts where every column takes its most
frequent value among the neighbours. Until the goal is reached the score is climbed, afterwards the
distance is lowered; all examples met on the way that reach the goal are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from macex.errors import OptionError, require_counts
from macex.schema import Array
from macex.stages.search.options import Options, options_of
from macex.stages.shapes import Candidates, Found, Pool, Task


@dataclass(frozen=True, slots=True)
class GradientlessSearch:
    """The paper's MACE-GLD: `rounds` of `tries` draws for each radius from `radius` (r, R)."""

    rounds: int = 20
    tries: int = 4
    radius: tuple[float, float] = (0.1, 1.6)

    def __post_init__(self) -> None:
        require_counts(self, "rounds", "tries")
        if not 0 < self.radius[0] < self.radius[1]:
            raise OptionError(
                f"GradientlessSearch(radius=) must be (small, large), not {self.radius!r}"
            )

    def __call__(self, task: Task, candidates: Candidates) -> Found:
        """Descend from the neighbours' most frequent values toward the query."""
        options = options_of(task, candidates)
        latent = self._start(options)
        cost = np.full(len(task.queries), np.inf)
        pools: list[Pool] = []
        radii = self._radii()
        for turn in range(self.rounds + 1):
            points = self._around(task, latent, radii, turn)
            latent, cost, pool = self._step(task, options, points, latent, cost)
            pools.append(pool)
        weight, flips = self._singles(task, candidates)
        nothing = np.zeros(len(task.queries), int)
        joined = Pool.join(pools, task.space.width)
        return Found(joined, nothing, nothing, candidates, weight, flips)

    def _radii(self) -> Array:
        low, high = self.radius
        steps = np.arange(1, int(np.floor(np.log2(high / low))) + 1)
        return np.repeat(high * 2.0**-steps, self.tries)

    def _start(self, options: Options) -> Array:
        """Latent numbers (Q, U, 1 + M): option 0 keeps the query's own value."""
        keep = np.where(options.open, 0.4, 1.0)[:, :, None]
        rank = np.cumsum(options.real, axis=2) - 1
        value = np.where(options.real, np.where(rank == 0, 0.6, 0.3), -1.0)
        return np.concatenate([keep, value], axis=2)

    def _around(self, task: Task, latent: Array, radii: Array, turn: int) -> Array:
        """Points (Q, K, U, 1 + M) around the latent one; the first round looks at the start.

        What is drawn for an option depends on its place among those that its query has.
        """
        if turn == 0:
            return latent[:, None]
        rank = np.cumsum(latent >= 0, axis=2) - 1
        steps = [
            task.draws.normal(f"latent {option}", (turn - 1) * len(radii), len(radii))
            for option in range(int(rank.max(initial=0)) + 1)
        ]
        drawn = np.take_along_axis(np.stack(steps, axis=3), rank[:, None], axis=3)
        noise = drawn * radii[None, :, None, None]
        moved = np.clip(latent[:, None] + noise, 0, 1)
        return np.where(latent[:, None] < 0, -1.0, moved)

    def _step(
        self, task: Task, options: Options, points: Array, latent: Array, cost: Array
    ) -> tuple[Array, Array, Pool]:
        queries, tries, width, _ = points.shape
        option = points.argmax(axis=3).reshape(-1, width)
        at = np.repeat(np.arange(queries), tries)
        chosen = (option > 0) & options.open[at]
        changes = chosen.sum(axis=1)
        allowed = (changes > 0) & (changes <= task.max_changes[at])
        rows = options.rows(task, at, chosen, np.maximum(option - 1, 0))
        verdict = task.judge(rows[allowed], at[allowed])
        reached, progress = np.zeros(len(at), bool), np.full(len(at), -np.inf)
        reached[allowed], progress[allowed] = verdict.reached, verdict.progress
        far = 1e6 - np.where(np.isfinite(progress), progress, -1e5)
        price = np.where(reached, task.measure(rows, at) / width, far).reshape(queries, tries)
        best = price.argmin(axis=1)
        lower = price[np.arange(queries), best] < cost
        latent = np.where(lower[:, None, None], points[np.arange(queries), best], latent)
        cost = np.where(lower, price[np.arange(queries), best], cost)
        return latent, cost, Pool(at[reached], rows[reached], progress[reached])

    def _singles(self, task: Task, candidates: Candidates) -> tuple[Array, Array]:
        """What every candidate does alone: its share of the gain, and whether it suffices."""
        gain, flips = np.zeros(candidates.value.shape), np.zeros(candidates.value.shape, bool)
        codes, at, entry = candidates.rows(task.queries, candidates.real)
        if len(at):
            verdict = task.judge(codes, at, probe=True)
            rise = task.reward(verdict.progress, at) - task.reward(task.base[at], at)
            gain[at, entry] = np.maximum(rise, 0.0)
            flips[at, entry] = verdict.reached
        return candidates.shares(gain), flips
