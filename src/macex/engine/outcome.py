"""A batch on its way through the six steps, as arrays: what each step adds to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple, Self, TypeVar

import numpy as np

from macex.engine.cell_intervals import Span
from macex.schema import Array
from macex.stages.shapes import Candidates, Found, Pool

if TYPE_CHECKING:
    from macex.ask.answers import Answers
    from macex.ask.goals import Goals, Verdict
    from macex.engine.batch import Batch
    from macex.engine.fitted import Fitted
    from macex.models.judge import Judge
    from macex.stages.candidates import Near
    from macex.stages.shapes import Task

Spans = dict[tuple[int, int], Span]  # (answer, column) -> how far the new number can go


class Checked(NamedTuple):
    """The answers: by query, best first."""

    pool: Pool
    plausibility: Array  # (C,)
    score: Array  # (C,)
    decision: Array  # (C,)
    spans: Spans
    robustness: Array  # (C,) NaN where it was not asked for
    fragile: Array  # (Q,) bool: reached, but by nothing that was robust enough

    @classmethod
    def empty(cls, width: int, queries: int) -> Checked:
        """No answer."""
        none, nothing = np.zeros(queries, bool), np.zeros(0)
        return cls(Pool.empty(width), nothing, nothing, nothing.astype(int), {}, nothing, none)


@dataclass(frozen=True)
class Outcome:
    """What is known of a batch so far. Every step takes an outcome and returns one.

    At first the queries have been scored and it is laid out what may change in each; at last
    `checked` holds the answers, of which `assemble` makes explanations.
    """

    example: ClassVar[str] = "row"  # what answers are, in messages
    fitted: Fitted
    batch: Batch
    task: Task
    judge: Judge
    goals: Goals
    own: Answers
    verdict: Verdict  # on the queries themselves
    there: Array  # (Q,) bool: the goal is reached without a change
    method: Array  # (Q,) str: the search that answered
    near: Near | None  # offer: training rows to take values from
    found: Found  # search: what it found out and proved
    pool: Pool  # search and fine-tune: examples that reach their goals
    plausibility: Array  # rank: (E,)
    order: Array  # rank: positions of examples, by query, best first
    chosen: Array | None  # select: positions of examples, by query, best first
    checked: Checked  # confirm: the answers

    @classmethod
    def begin(
        cls,
        fitted: Fitted,
        batch: Batch,
        task: Task,
        judge: Judge,
        *,
        goals: Goals,
        own: Answers,
        verdict: Verdict,
        there: Array,
    ) -> Self:
        """A batch whose queries have been scored, and nothing else yet."""
        pool, count = Pool.empty(task.space.width), len(task.queries)
        return cls(
            *(fitted, batch, task, judge, goals, own, verdict, there),
            method=np.array([fitted.options.method_name] * count, dtype=object),
            near=None,
            found=Found.unproved(pool, Candidates.empty(count)),
            pool=pool,
            plausibility=np.zeros(0),
            order=np.zeros(0, int),
            chosen=None,
            checked=Checked.empty(task.space.width, count),
        )


OutcomeT = TypeVar("OutcomeT", bound=Outcome)
