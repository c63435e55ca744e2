"""What all baselines share: the explainer's door and its results around a search of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from macex.ask.constraints import Constraints
from macex.engine.batch import Batch, Checked, Outcome
from macex.engine.fitted import Fitted
from macex.engine.pipeline import open_batch
from macex.engine.ranking import plausibility_of
from macex.errors import OptionError
from macex.explainer import Explainer
from macex.schema import Array
from macex.stages.arrays import distinct, rank_within
from macex.stages.shapes import Pool, Task


class Baseline(Explainer, ABC):
    """A method of your own: give it a `name`, a bound on rows, and the verb `offer`.

    Everything else is the explainer's: what a row is, goals, constraints, counting, the final
    check by the caller's model, statuses and results. Rows that fail the check are not returned.
    """

    name: str
    max_rows: int  # the most rows a query may cost, unless the call says otherwise

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        distance: str = "median",
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            distance=distance,
            prefer="fewest",
            fallback=False,
            structure="ignore",
            classes=classes,
            names=names,
            random_state=random_state,
        )
        self.engine = replace(self.engine, answer=self.answer)

    @property
    def fitted(self) -> Fitted:
        """What was learnt from the training rows."""
        return self.engine.fitted

    @property
    def method(self) -> str:
        """The name of the method."""
        return self.name

    @abstractmethod
    def offer(self, opened: Outcome) -> Pool:
        """Rows that should reach their goals, best first within each query."""

    def save(self, path: Any, *, private: bool = False) -> NoReturn:
        """A baseline cannot be saved."""
        del private
        raise OptionError(f"{type(self).__name__} cannot be saved to {path}: only Explainer can")

    def __repr__(self) -> str:
        return super().__repr__().replace("Explainer", type(self).__name__, 1)

    def answer(self, fitted: Fitted, batch: Batch) -> Outcome:
        """The batch answered by this method, checked as any other."""
        opened = open_batch(fitted, batch)
        opened.judge.renew(np.ones(len(batch), bool), self.max_rows)
        checked = self._checked(opened, self.offer(opened))
        method = np.full(len(batch), self.name, dtype=object)
        return replace(opened, method=method, checked=checked)

    def _checked(self, opened: Outcome, pool: Pool) -> Checked:
        """The first answers of every query that the model itself confirms."""
        task, judge = opened.task, opened.judge
        pool = pool.take(distinct(pool.at, pool.codes))
        pool = pool.take(np.flatnonzero(rank_within(pool.at) < task.count))
        pool = pool.take(np.argsort(pool.at, kind="stable"))
        verdict, decision = judge.confirm(pool.codes, pool.at)
        kept = np.flatnonzero(verdict.reached)
        pool = pool.take(kept)
        full = task.space.columns(pool.codes, pool.at)
        plausibility = plausibility_of(opened, pool.at, full)
        unmeasured, robust = np.full(len(kept), np.nan), np.zeros(len(task.queries), bool)
        score, decided = verdict.score[kept], decision[kept]
        return Checked(pool, plausibility, score, decided, {}, unmeasured, robust)


def open_queries(opened: Outcome) -> Array:
    """The queries that still need an answer and may change, (Q,) bool."""
    changeable = np.asarray(opened.task.space.changeable.any(axis=1))
    return changeable & ~opened.judge.finished


def lawful(task: Task, codes: Array, at: Array) -> Array:
    """Rows by unit with every value that may not be set put back to the query's own."""
    kept = codes.copy()
    for unit in range(task.space.width):
        ok = task.space.admits_one(at, unit, codes[:, unit]) & task.space.changeable[at, unit]
        kept[:, unit] = np.where(ok, codes[:, unit], task.queries[at, unit])
    return kept
