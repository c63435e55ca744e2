"""NICE (Brughmans, Leyman, Martens, 2023), written here: from the nearest unlike row, best first.

The nearest training row that the model decides as wanted, by HEOM: numbers over their range,
categories 0 or 1. Its columns are taken over one by one, each time the one with the best reward,
until the goal is reached. Rewards, with f the score of the goal and d the distance to the query:

none          the row itself
sparsity      the gain of f
proximity     the gain of f for each unit of d that is added
plausibility  the gain of f times the fall of a reconstruction error

The publication reconstructs rows with a network that the user brings; here principal components do
it. `Nice` is its authors' own package.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.baselines.baseline import Baseline, lawful, open_queries
from macex.baselines.embedding import Reconstruction, RowEmbedding
from macex.baselines.proposals import steps, wanted_rows
from macex.engine.batch import Outcome
from macex.errors import OptionError, closest
from macex.schema import Array
from macex.stages.arrays import rank_within
from macex.stages.shapes import Pool, Task

REWARDS = ("none", "sparsity", "proximity", "plausibility")
LITTLE = 1e-7  # what a distance that did not grow counts as


class NiceSearch(Baseline):
    """Brughmans et al.: `reward` is "none", "sparsity", "proximity" or "plausibility".

    For several answers it starts from as many nearest rows.

    >>> import pandas as pd
    >>> data = pd.DataFrame({"hours": [40, 42, 47, 60], "debt": [1, 2, 2, 1]})
    >>> model = lambda rows: (rows["hours"] > 44) * 1.0
    >>> near = NiceSearch(model, data, reward="sparsity", classes=("no", "yes"))
    >>> [change[:3] for change in near.explain(data.iloc[[1]])[0].counterfactuals[0].changes]
    [('hours', 42, 47)]
    """

    max_rows = 5_000

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        reward: str = "sparsity",
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        if reward not in REWARDS:
            raise OptionError(
                f"NiceSearch(reward={reward!r}): there is no such reward"
                f"{closest(str(reward), REWARDS)}"
            )
        self.reward, self.name = reward, f"nice {reward}"
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            classes=classes,
            names=names,
            random_state=random_state,
        )

    def offer(self, opened: Outcome) -> Pool:
        """One example for each of the nearest rows, the nearest row's first."""
        task = opened.task
        parts = [
            _nearest(opened, int(query), task.count)
            for query in np.flatnonzero(open_queries(opened))
        ]
        if not parts:
            return Pool.empty(task.space.width)
        at, rows = (np.concatenate(part) for part in zip(*parts, strict=True))
        rows = lawful(task, rows, at)
        if self.reward == "none":
            verdict = task.judge(rows, at)
            return Pool(at, rows, verdict.progress).take(np.flatnonzero(verdict.reached))
        return _best_first(task, rows, at, _Rewards(self.reward, opened))


def _nearest(opened: Outcome, query: int, count: int) -> tuple[Array, Array]:
    rows = wanted_rows(opened, query)
    own = np.broadcast_to(opened.task.queries[query], rows.shape)
    far = np.round(steps(opened.task.space, own, rows).sum(axis=1), 9)
    order = np.argsort(far, kind="stable")[:count]
    return np.full(len(order), query), rows[order]


class _Rewards:
    """What a step from `before` to `after` is worth."""

    def __init__(self, kind: str, opened: Outcome) -> None:
        self.kind, self.task = kind, opened.task
        self.error = None
        if kind == "plausibility":
            self.error = Reconstruction(RowEmbedding.of(opened))

    def __call__(self, before: Array, after: Array, at: Array, gain: Array) -> Array:
        """The reward, (n,), rounded so that ties are the same everywhere."""
        if self.kind == "proximity":
            own = self.task.queries[at]
            far, near = (steps(self.task.space, own, rows).sum(axis=1) for rows in (after, before))
            gain = gain / (far - near + LITTLE)
        if self.error is not None:
            gain = gain * (self.error(before) - self.error(after))
        return np.round(gain, 9)


def _best_first(task: Task, near: Array, at: Array, reward: _Rewards) -> Pool:
    """Take over the column of the highest reward, in all examples at once."""
    codes, progress = task.queries[at], task.base[at]
    reached = np.zeros(len(at), bool)
    for _ in range(task.space.width):
        example, unit = np.nonzero((codes != near) & ~reached[:, None])
        if not len(example) or task.judge.late:
            break
        rows = codes[example]
        rows[np.arange(len(example)), unit] = near[example, unit]
        verdict = task.judge(rows, at[example])
        asked = np.isfinite(verdict.progress)
        gain = np.zeros(len(rows))
        owner = at[example]
        gain[asked] = (
            task.reward(verdict.progress, owner) - task.reward(progress[example], owner)
        )[asked]
        worth = np.where(asked, reward(codes[example], rows, owner, gain), -np.inf)
        best = np.flatnonzero(rank_within(example, -worth, unit) == 0)
        codes[example[best]], progress[example[best]] = rows[best], verdict.progress[best]
        reached[example[best]] = verdict.reached[best]
    return Pool(at, codes, progress).take(np.flatnonzero(reached))
