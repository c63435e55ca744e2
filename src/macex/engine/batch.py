"""A batch: rows with a goal and constraints each, and what the six steps find out about them.

`Batch` is what is asked. `Outcome` is the same batch on its way: every step takes an outcome and
returns one that knows more.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.goals import Goal
from macex.ask.question import Question
from macex.engine.intervals import TestedRun
from macex.engine.robustness import Requirements
from macex.models.memory import Remembered
from macex.schema import Array, Rows
from macex.stages.shapes import Candidates, Found, Pool

if TYPE_CHECKING:
    from macex.ask.answers import Answers, Goals, Verdict
    from macex.engine.fitted import Fitted
    from macex.models.judge import Judge
    from macex.stages.candidates import Near
    from macex.stages.shapes import Task


RowsT = TypeVar("RowsT")
ConstraintsT = TypeVar("ConstraintsT")


@dataclass(frozen=True)
class BatchOf(Generic[RowsT, ConstraintsT]):
    """Rows of a table or cases of a series, read and ready to be answered."""

    rows: RowsT
    goals: Sequence[Goal]
    constraints: Sequence[ConstraintsT]
    question: Question = field(default_factory=Question)
    deadline: float | None = None
    places: Array | None = None  # where the rows stand in the caller's call
    requirements: Requirements = field(default_factory=Requirements)
    spent: Array | int = 0  # (Q,) rows that the queries have cost before
    remembered: Remembered | None = None  # what the model has said in the same call

    def __len__(self) -> int:
        return len(self.goals)

    @property
    def late(self) -> bool:
        """Whether the time of the call is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def set_aside(self) -> int:
        """Rows of each query kept for checking its answers, and for a miss if none is robust."""
        return self.question.n * (1 + self.requirements.price) + bool(self.requirements)

    def take(self, places: Array) -> Self:
        """Some of the rows, which know where they stand in the call."""
        rows: Any = self.rows
        return replace(
            self,
            rows=rows.take(places),
            goals=[self.goals[place] for place in places],
            constraints=[self.constraints[place] for place in places],
            places=places if self.places is None else self.places[places],
            spent=self.spent if isinstance(self.spent, int) else self.spent[places],
        )


Batch: TypeAlias = BatchOf[Rows, Constraints]


Spans = dict[tuple[int, int], TestedRun]  # (answer, column) -> how far the new number can go


class Checked(NamedTuple):
    """The answers: by query, best first."""

    pool: Pool
    plausibility: Array  # (C,)
    score: Array  # (C,)
    decision: Array  # (C,)
    spans: Spans
    robustness: Array  # (C,) NaN where it was not asked for
    fragile: Array  # (Q,) bool: reached, but by nothing that was robust enough
    reach: Array | None = None  # (C,) NaN where nothing follows; None where it was not asked for

    @classmethod
    def empty(cls, width: int, queries: int) -> Checked:
        """No answer."""
        none, nothing = np.zeros(queries, bool), np.zeros(0)
        return cls(Pool.empty(width), nothing, nothing, nothing.astype(int), {}, nothing, none)


@dataclass(frozen=True)
class Outcome:
    """What is known of a batch so far.

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
            method=np.array([fitted.options.method.name] * count, dtype=object),
            near=None,
            found=Found.unproved(pool, Candidates.empty(count)),
            pool=pool,
            plausibility=np.zeros(0),
            order=np.zeros(0, int),
            chosen=None,
            checked=Checked.empty(task.space.width, count),
        )


OutcomeT = TypeVar("OutcomeT", bound=Outcome)
