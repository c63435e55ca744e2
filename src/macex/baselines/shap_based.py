"""Columns by SHAP values, values from neighbours (after Rathi, 2019).

The SHAP values of a query say which of its columns speak most against the goal. In that order they
are taken over from near training rows that the model decides as wanted, until the goal is reached.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.units import unit_codes
from macex.baselines.baseline import Baseline, lawful, open_queries
from macex.engine.batch import Outcome
from macex.errors import require_counts
from macex.schema import Array
from macex.stages.shapes import Pool, Task


class ShapBased(Baseline):
    """Rathi: columns in the order of their SHAP values, values of `neighbors` goal rows.

    SHAP values come from `shap.KernelExplainer`, which asks any model; for each query it scores
    `samples` coalitions against `background` training rows. Needs `pip install macex[baselines]`.
    """

    name = "shap"

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        neighbors: int = 5,
        samples: int = 1024,
        background: int = 40,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.neighbors, self.samples, self.background = neighbors, samples, background
        require_counts(self, "neighbors", "samples", "background")
        _shap()
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            classes=classes,
            names=names,
            random_state=random_state,
        )
        self.max_rows = (samples + 2) * background + neighbors * len(self.columns) + 1

    def offer(self, opened: Outcome) -> Pool:
        """One example per neighbour, those with the fewest changes first."""
        task, wanted = opened.task, open_queries(opened)
        against = self._against(task, np.flatnonzero(wanted))
        near = self.fitted.near(task.space, opened.goals, wanted)
        count = max(self.neighbors, task.count)
        at, place = np.nonzero(near.real[:, :count] & wanted[:, None])
        pool = _taken_over(task, lawful(task, near.values[at, place], at), at, against[at])
        changes = task.space.changed(pool.codes, pool.at).sum(axis=1)
        distance = task.measure(pool.codes, pool.at)
        return pool.take(np.lexsort((distance, changes, pool.at)))

    def _against(self, task: Task, queries: Array) -> Array:
        """How much each column speaks against the goal, (Q, U): minus its SHAP value."""
        ground = self.fitted.ground
        spread = np.linspace(0, len(ground.codes) - 1, self.background).astype(int)
        background = unit_codes(task.space.units, ground.codes[np.unique(spread)])
        against = np.zeros(task.queries.shape)
        for query in queries:
            if task.judge.late:
                break
            against[query] = -self._values(task, int(query), background)
        return against

    def _values(self, task: Task, query: int, background: Array) -> Array:
        """The SHAP values of one query's columns for the score of its goal."""

        def score(rows: Array) -> Array:
            at = np.full(len(rows), query)
            progress = task.judge(np.asarray(rows, dtype=float), at, probe=True).progress
            known = np.where(np.isfinite(progress), progress, task.base[query])
            return task.reward(known, at)

        with _seeded(int(task.draws.rows[query] % 2**32)):
            explainer = _shap().KernelExplainer(score, background)
            found = explainer.shap_values(task.queries[query], nsamples=self.samples, silent=True)
        values: Array = np.asarray(found, dtype=float).reshape(task.space.width)
        return np.round(values, 9)


def _taken_over(task: Task, near: Array, at: Array, against: Array) -> Pool:
    """Take over one column a round, the one most against the goal first, until it is reached."""
    codes, progress = task.queries[at], np.full(len(at), -np.inf)
    reached = np.zeros(len(at), bool)
    for _ in range(task.space.width):
        missing = codes != near
        open_ = np.flatnonzero(missing.any(axis=1) & ~reached)
        if not len(open_):
            break
        unit = np.where(missing, against, -np.inf)[open_].argmax(axis=1)
        codes[open_, unit] = near[open_, unit]
        verdict = task.judge(codes[open_], at[open_])
        reached[open_], progress[open_] = verdict.reached, verdict.progress
    return Pool(at, codes, progress).take(np.flatnonzero(reached))


@contextmanager
def _seeded(seed: int) -> Iterator[None]:
    """Give shap, which draws from NumPy's global generator, a seed; then put everything back."""
    before = np.random.get_state()  # noqa: NPY002 - it is shap that uses it
    np.random.seed(seed)  # noqa: NPY002 - the same
    try:
        yield
    finally:
        np.random.set_state(before)  # noqa: NPY002 - the same


def _shap() -> Any:
    try:
        import shap
    except ImportError as error:
        raise ImportError("shap is not installed: pip install macex[baselines]") from error
    return shap
