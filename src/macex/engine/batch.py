"""A batch: rows with a goal and constraints each, and the question that is asked of all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Generic, Self, TypeAlias, TypeVar

from macex.ask.constraints import Constraints
from macex.ask.goals import Goal
from macex.ask.question import Question
from macex.engine.sturdy import Sturdiness
from macex.models.remembered import Remembered
from macex.schema import Array, Rows

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
    sturdy: Sturdiness = field(default_factory=Sturdiness)
    spent: Array | int = 0  # (Q,) rows that the queries have cost before
    remembered: Remembered | None = None  # what the model has said in the same call

    def __len__(self) -> int:
        return len(self.goals)

    @property
    def count(self) -> int:
        """How many counterfactuals each row is to get."""
        return int(self.question.n)

    @property
    def margin(self) -> float:
        """By how much the wanted class must lead."""
        return float(self.question.margin)

    @property
    def max_rows(self) -> int | None:
        """The most rows a query may cost."""
        return None if self.question.max_rows is None else int(self.question.max_rows)

    @property
    def late(self) -> bool:
        """Whether the time of the call is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def keep(self) -> bool:
        """Whether a row that the model fails on gets a reason instead of an error."""
        return self.question.keeps

    @property
    def set_aside(self) -> int:
        """Rows of each query kept for checking its answers, and for a miss if none is sturdy."""
        return self.count * (1 + self.sturdy.rows) + bool(self.sturdy)

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
