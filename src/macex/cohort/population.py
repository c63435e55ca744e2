"""A population as the engine sees it: rows, their goals, and what may change in each.

The table behind everything here is rows by actions. It is scored in slabs of bounded size, so that
the number of model calls grows with the cells of the table and not with the number of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from macex.ask.answers import Answers, compile_goals
from macex.ask.compilation import build_space
from macex.ask.constraints import Constraints
from macex.ask.goals import Goal
from macex.ask.question import Question
from macex.ask.space import Caused, Space
from macex.engine.batch import Batch, Progress, silent
from macex.engine.engine import Engine
from macex.engine.fitted import Fitted
from macex.engine.options import Options
from macex.engine.pipeline import measure_of
from macex.errors import ConstraintError, ModelError
from macex.explanation import Explanation
from macex.models.asker import CHUNK_ROWS, Asker
from macex.models.judge import Judge
from macex.schema import Array, Rows
from macex.stages.arrays import alike_lines

MOST_CELLS = 16_000_000  # numbers that a block's table of rows by actions may hold
UNLIMITED = np.iinfo(np.int64).max // 2
MARGIN = 1e-6  # by how much a wanted class must lead, as in `explain`


@dataclass(frozen=True)
class Crowd:
    """Rows and what is asked of them, not yet put to the model."""

    engine: Engine
    rows: Rows
    goals: Sequence[Goal]
    constraints: Sequence[Constraints]
    places: Array  # positions of the rows in the caller's call
    margin: float = MARGIN
    structured: bool = True  # rows keep the structure of training, and follow causes
    following: Mapping[int, Caused] = field(default_factory=dict)  # else: what follows, and how

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def fitted(self) -> Fitted:
        """What the explainer has learnt."""
        return self.engine.fitted

    def take(self, places: Array) -> Crowd:
        """Some of the rows."""
        return replace(
            self,
            rows=self.rows.take(places),
            goals=[self.goals[place] for place in places],
            constraints=[self.constraints[place] for place in places],
            places=self.places[places],
        )

    def under(self, change: Callable[[Constraints], Constraints]) -> Crowd:
        """The same rows under other constraints."""
        changed = {id(one): change(one) for one in self.distinct_constraints()}
        return replace(self, constraints=[changed[id(one)] for one in self.constraints])

    def distinct_constraints(self) -> list[Constraints]:
        """The constraints, each once: most often all rows share one."""
        return list({id(one): one for one in self.constraints}.values())

    def spaced(self, most: int) -> Crowd:
        """The rows, or a limited number of them, evenly spaced."""
        if len(self) <= most:
            return self
        return self.take(np.unique(np.linspace(0, len(self) - 1, most).astype(int)))

    def blocks(self, actions: int) -> Iterator[tuple[Array, Population]]:
        """The rows in blocks whose tables, rows by actions, fit into memory."""
        cells = max(1, actions) * max(1, self.rows.codes.shape[1])
        size = max(1, MOST_CELLS // cells)
        for start in range(0, len(self), size):
            places = np.arange(start, min(start + size, len(self)))
            yield places, opened(self if len(places) == len(self) else self.take(places))


@dataclass(frozen=True)
class Population:
    """Rows whose own decisions are known."""

    fitted: Fitted
    space: Space
    judge: Judge
    own: Answers
    there: Array  # (Q,) bool: the goal is reached without a change
    base: Array  # (Q,) progress of the rows as they are

    def __len__(self) -> int:
        return len(self.there)

    def distances(self, codes: Array, at: Array) -> Array:
        """How far rows are from those they were made from, with the caller's weights."""
        return measure_of(self.fitted, self.space)(codes, at)

    def usual(self, codes: Array, at: Array) -> Array:
        """The plausibility of rows by unit; NaN where too few training rows meet the goal."""
        goals, full = self.judge.goals, self.space.columns(codes, at)
        found = np.full(len(at), np.nan)
        asked = np.unique(at)
        for queries in alike_lines(asked, goals.alike[asked][:, None]):
            mine = goals.alike[at] == goals.alike[queries[0]]
            found[mine] = self.fitted.plausible(goals, int(queries[0])).share(full[mine])
        return found


def crowd(engine: Engine, rows: Any, want: Any, constraints: Any) -> Crowd:
    """A caller's rows, goals and constraints, read as `explain` reads them."""
    read = engine.schema.read(rows)
    merged = engine.constraints_of(constraints, len(read))
    goals = engine.goals(want, len(read))
    return Crowd(engine, read, goals, merged, np.arange(len(read)))


@contextmanager
def advising() -> Iterator[None]:
    """What a row that the model cannot answer means for a question about all of them."""
    try:
        yield
    except ModelError as error:
        error.advice = (
            "leave rows out that the model cannot answer, or keep what it cannot take out "
        )
        error.advice += "of reach by constraints such as ranges="
        raise


def opened(asked: Crowd) -> Population:
    """Ask the model about the rows themselves."""
    fitted, rows, at = asked.fitted, asked.rows, np.arange(len(asked))
    _refuse_other_shapes(asked.distinct_constraints())
    oracle = fitted.oracle if asked.margin else fitted.oracle.by_predict
    asker = Asker(oracle, fitted.ground.schema, rows, places=asked.places)
    keeping, caused = (None, asked.following)
    if asked.structured:
        keeping, caused = fitted.binding, fitted.caused
    space = build_space(fitted.ground, rows, asked.constraints, keeping, caused)
    own, _ = asker(rows.codes, at)
    goals = compile_goals(asked.goals, own, oracle.outlook, asked.margin)
    judge = Judge(asker, goals, space, np.full(len(rows), UNLIMITED))
    verdict = goals.judge(own, at)
    there = verdict.reached & space.holds(space.own, at)
    return Population(fitted, space, judge, own, there, verdict.progress)


def _refuse_other_shapes(constraints: Sequence[Constraints]) -> None:
    """An action means the same for all rows only if the same columns move together in all."""
    first = constraints[0]
    if any((c.groups, c.derived) != (first.groups, first.derived) for c in constraints):
        raise ConstraintError(
            "common actions need the same groups and derived columns for every row: give them to "
            "the explainer, or make a plan for each kind of row"
        )


def slabs(count: int) -> Iterator[Array]:
    """The rows of a table in parts of one model call each."""
    for start in range(0, count, CHUNK_ROWS):
        yield np.arange(start, min(start + CHUNK_ROWS, count))


def explained(
    everyone: Crowd,
    options: Options | None = None,
    *,
    max_rows: int | None = None,
    diagnose: bool = False,
    report: Progress = silent,
) -> list[Explanation]:
    """One counterfactual for each row of a crowd, found with these options."""
    if not len(everyone):
        return []
    engine = everyone.engine if options is None else everyone.engine.with_options(options)
    question = Question(margin=everyone.margin, max_rows=max_rows, diagnose=diagnose)
    places = everyone.places
    batch = Batch(everyone.rows, everyone.goals, everyone.constraints, question, places=places)
    return engine.explain(batch, report)
