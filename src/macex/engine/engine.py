"""The engine: a model, its training rows and its options, ready to answer any batch of rows.

Explainers, populations, files, clusters, devices and the server stand on it. It is immutable: the
same engine with other options or constraints is another one, made by `with_options` or `replace`.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from macex.ask.answers import Outlook, compile_goals
from macex.ask.compilation import check
from macex.ask.constraints import Constraints
from macex.ask.goals import AboveRow, Band, Goal, resolve
from macex.ask.question import Question, read_constraints
from macex.causes import check_causes
from macex.engine.assembly import assemble, unreached
from macex.engine.batch import (
    MOST_QUERIES,
    Batch,
    BatchOf,
    Outcome,
    Progress,
    Tempo,
    blocks,
    first_alike,
    for_all_rows,
    reporter,
    silent,
)
from macex.engine.claims import diagnosed
from macex.engine.fitted import Fitted
from macex.engine.options import Options
from macex.engine.pipeline import answer, remembering, screens
from macex.engine.recorder import Recorder
from macex.engine.robustness import NOTHING_ASKED, requirements_of, retried
from macex.errors import ConstraintError, GoalError, ModelError
from macex.explanation import Explanation
from macex.models.asker import Asker
from macex.schema import Array, Rows, Schema

FittedT = TypeVar("FittedT")
RowsT = TypeVar("RowsT")
ConstraintsT = TypeVar("ConstraintsT")
ItemT = TypeVar("ItemT")


@dataclass(frozen=True)
class EngineOf(ABC, Generic[FittedT, RowsT, ConstraintsT, ItemT]):
    """What answers a batch of rows of any kind, in blocks: rows of tables, or cases of series."""

    fitted: FittedT
    constraints: ConstraintsT
    one: ClassVar[str] = "row"  # what it explains, in messages

    @abstractmethod
    def with_options(self, options: Any) -> Self:
        """The same model and training rows with other options."""

    @abstractmethod
    def batch(self, rows: Any, question: Question) -> BatchOf[RowsT, ConstraintsT]:
        """Rows as a caller gives them, read and ready to be answered."""

    @abstractmethod
    def merged(self, given: Any) -> ConstraintsT:
        """The engine's constraints and a call's together, if they are right for the columns."""

    @abstractmethod
    def goals(self, want: Any, count: int) -> list[Goal]:
        """One goal a row from what a caller may pass as `want=`."""

    @abstractmethod
    def blocks(
        self, batch: BatchOf[RowsT, ConstraintsT], tempo: Tempo | None
    ) -> Iterator[tuple[Array, BatchOf[RowsT, ConstraintsT]]]:
        """Parts of a batch that are answered together, and the places of their rows."""

    @abstractmethod
    def answered(self, batch: BatchOf[RowsT, ConstraintsT]) -> tuple[list[ItemT], Outcome]:
        """The explanations of one block, and the outcome they were made of."""

    @abstractmethod
    def unreached(self, batch: BatchOf[RowsT, ConstraintsT]) -> list[ItemT]:
        """The explanations of rows for which no time is left."""

    def explain(
        self, batch: BatchOf[RowsT, ConstraintsT], report: Progress = silent
    ) -> list[ItemT]:
        """An explanation for every row; memory stays flat.

        Rows for which no time is left say so.
        """
        once, shared = self.once(batch)
        done: dict[int, ItemT] = {}
        tempo = None if once.deadline is None else Tempo()
        for places, part in self.blocks(once, tempo):
            began = time.perf_counter()
            if tempo is not None and part.late:
                tempo.most = MOST_QUERIES
                made = self.unreached(part)
            else:
                try:
                    made, outcome = self.answered(part)
                    if outcome.checked.fragile.any() and not part.late:
                        made = retried(self, part, outcome.checked.fragile, made)
                except ModelError as error:
                    whole = next(place for place in range(len(once)) if place not in done)
                    error.partial = [done[place] for place in range(whole)]
                    raise
                if tempo is not None:
                    asking = outcome.judge.asker.cost.seconds
                    tempo.after(len(part), time.perf_counter() - began - asking)
            done.update(zip(places.tolist(), made, strict=True))
            report(len(done))
        items = shared([done[place] for place in range(len(once))])
        if len(items) > len(done):
            report(len(items))
        return diagnosed(batch, items, self.explain) if batch.question.diagnose else items

    def once(
        self, batch: BatchOf[RowsT, ConstraintsT]
    ) -> tuple[BatchOf[RowsT, ConstraintsT], Callable[[list[ItemT]], list[ItemT]]]:
        """The rows that are to be answered, and what makes of their explanations those of all."""
        return batch, list

    def constraints_of(self, given: Any, count: int) -> list[ConstraintsT]:
        """The constraints of every row: the engine's and the call's."""
        if given is None or isinstance(given, (type(self.constraints), Mapping)):
            return [self.merged(given)] * count
        if isinstance(given, str) or not isinstance(given, Iterable):
            kind = type(self.constraints).__name__
            raise ConstraintError(f"constraints= takes {kind} or one per {self.one}, not {given!r}")
        per_row = list(given)
        if len(per_row) != count:
            raise ConstraintError(
                f"constraints= has {len(per_row)} entries for {count} {self.one}s: "
                f"give one per {self.one}"
            )
        merged = {id(one): self.merged(one) for one in {id(one): one for one in per_row}.values()}
        return [merged[id(one)] for one in per_row]


@dataclass(frozen=True)
class Engine(EngineOf[Fitted, Rows, Constraints, Explanation]):
    """What every answer rests on: what was learnt from training, and the constraints in force.

    `answer` turns a batch into an outcome: the four stages, or another method.
    """

    answer: Callable[[Fitted, Batch], Outcome] = answer

    @property
    def schema(self) -> Schema:
        """What a row is."""
        return self.fitted.ground.schema

    @property
    def options(self) -> Options:
        """One object for every stage."""
        return self.fitted.options

    @property
    def outlook(self) -> Outlook:
        """What the model's numbers mean."""
        return self.fitted.outlook

    @property
    def classes(self) -> tuple[object, ...] | None:
        """The labels the model decides between; None for a bare score."""
        return self.outlook.classes

    def with_options(self, options: Options) -> Engine:
        """The same model and training rows with other options."""
        return replace(self, fitted=self.fitted.with_options(options))

    def batch(self, rows: Any, question: Question) -> Batch:
        """Rows as a caller gives them, read and ready to be answered."""
        if question.timeout_s is not None:
            self.fitted.prepare()  # once, and not at the cost of the time that a call has
        deadline = question.deadline
        read: Rows = self.schema.read(rows)
        return Batch(
            rows=read,
            goals=self.goals(question.want, len(read)),
            constraints=self.constraints_of(question.constraints, len(read)),
            question=question,
            deadline=deadline,
            requirements=requirements_of(
                self.fitted, question.robust, question.also, question.reach
            )
            if question.demands
            else NOTHING_ASKED,
        )

    def once(self, batch: Batch) -> tuple[Batch, Callable[[list[Explanation]], list[Explanation]]]:
        """Equal rows are answered once, and the model is asked about equal rows once."""
        first = first_alike(batch)
        if first is None:
            return remembering(self.fitted, batch), list
        once = remembering(self.fitted, batch.take(np.unique(first)))
        return once, lambda items: for_all_rows(items, first, batch)

    def blocks(self, batch: Batch, tempo: Tempo | None) -> Iterator[tuple[Array, Batch]]:
        """Parts of a batch that are answered together, and the places of their rows."""
        fitted, width = self.fitted, len(self.schema.columns)
        return blocks(batch, width, fitted.singles, tempo, fitted.binding, screened=screens(fitted))

    def answered(self, batch: Batch) -> tuple[list[Explanation], Outcome]:
        """The explanations of one block, and the outcome they were made of."""
        began = time.perf_counter()
        outcome = self.answer(self.fitted, batch)
        return assemble(outcome, time.perf_counter() - began), outcome

    def unreached(self, batch: Batch) -> list[Explanation]:
        """The explanations of rows for which no time is left."""
        return unreached(self.fitted, batch)

    def goals(self, want: Any, count: int) -> list[Goal]:
        """One goal per row from what a caller may pass as `want=`."""
        goals = resolve(want, count)
        if isinstance(want, AboveRow):
            return [self._above(want)] * count
        return [self._above(goal) if isinstance(goal, AboveRow) else goal for goal in goals]

    def _above(self, goal: AboveRow) -> Goal:
        row: Rows = self.schema.read(goal.row)
        if len(row) != 1:
            raise GoalError(f"above_row() takes one row, not {len(row)}")
        answers, _ = Asker(self.fitted.oracle, self.schema, row)(row.codes, np.zeros(1, int))
        score = self.outlook.rounded(answers.scores[0, self.outlook.output(goal.label)])
        return Band(low=float(score), open_low=True, label=goal.label)

    def check(self, constraints: Constraints) -> None:
        """Raise for constraints that are wrong for the columns, or contradict the causes."""
        check(constraints, self.fitted.ground)
        if self.fitted.causal is not None:
            check_causes(constraints, self.fitted.causal.causes)

    def merged(self, given: Any) -> Constraints:
        """The engine's constraints and a call's together, if they are right for the columns."""
        if given is None:
            return self.constraints
        merged = self.constraints.merge(read_constraints(given))
        self.check(merged)
        return merged

    def plausibility(self, rows: Any, label: object = None) -> Array:
        """The plausibility of every row, among the training rows of a label or all of them."""
        read: Rows = self.schema.read(rows)
        place = None if label is None else self.outlook.position(label)
        return self.fitted.plausible_among(place).share(read.codes)

    def score(self, rows: Any, want: Any = None) -> Array:
        """The model's score for every row, read toward a goal."""
        read: Rows = self.schema.read(rows)
        at = np.arange(len(read))
        answers, _ = Asker(self.fitted.oracle, self.schema, read)(read.codes, at)
        goals = compile_goals(self.goals(want, len(read)), answers, self.outlook, 1e-6)
        return goals.judge(answers, at).score


EngineT = TypeVar("EngineT", bound=EngineOf[Any, Any, Any, Any])
FoundT = TypeVar("FoundT")


class ExplainerOf(ABC, Generic[EngineT, FoundT]):
    """What explainers of rows and of cases have in common: an engine, and where it is recorded."""

    engine: EngineT
    recorder: Recorder | None

    @classmethod
    def of(cls, engine: EngineT, recorder: Recorder | None = None) -> Self:
        """The explainer that stands on an engine."""
        explainer = object.__new__(cls)
        explainer.engine, explainer.recorder = engine, recorder
        return explainer

    def ask(self, rows: Any, question: Question, progress: Any = None) -> FoundT:
        """`explain`, with its arguments in one value."""
        batch = self.engine.batch(rows, question)
        record = None if self.recorder is None else self.recorder.of(batch)
        with reporter(progress, len(batch)) as report:
            try:
                items = self.engine.explain(batch, report)
            except ModelError as error:
                error.partial = self._explanations(error.partial or [], batch)
                raise
        if record is not None:
            record(items)
        return self._explanations(items, batch)

    @abstractmethod
    def _explanations(self, items: list[Any], batch: Any) -> FoundT:
        """The explanations of a batch as one result, which can tell what was asked."""
