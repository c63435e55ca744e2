"""The engine of time series: the engine of tables, over cases instead of rows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from macex.ask.answers import Outlook, compile_goals
from macex.ask.compilation import check as check_constraints
from macex.ask.goals import AboveRow, Goal, resolve
from macex.ask.question import Question
from macex.engine.batch import Outcome, Tempo
from macex.engine.engine import EngineOf
from macex.errors import ConstraintError, GoalError, OptionError, SchemaError
from macex.schema import Array
from macex.series.assemble import assemble, unreached
from macex.series.cases import AXES, Cases, read_cases, turned_round
from macex.series.constraints import SeriesConstraints, read_constraints
from macex.series.fitted import FittedSeries
from macex.series.frames import framed, is_frame
from macex.series.options import SeriesOptions
from macex.series.outcome import CaseBatch
from macex.series.pipeline import answer
from macex.series.robustness import robustness
from macex.series.values import SeriesExplanation

BLOCK_CELLS = 4_000_000
MOST_CASES = 256


@dataclass(frozen=True)
class SeriesEngine(EngineOf[FittedSeries, Cases, SeriesConstraints, SeriesExplanation]):
    """A model, its training cases and its options, ready to answer any batch of cases."""

    one: ClassVar[str] = "case"

    @property
    def options(self) -> SeriesOptions:
        """One object for every stage."""
        return self.fitted.options

    @property
    def outlook(self) -> Outlook:
        """What the model's numbers mean."""
        return self.fitted.outlook

    def with_options(self, options: SeriesOptions) -> SeriesEngine:
        """The same model and training cases with other options."""
        return replace(self, fitted=self.fitted.with_options(options))

    def batch(self, rows: Any, question: Question) -> CaseBatch:
        """Cases as a caller gives them, read and ready to be answered."""
        if question.reach is not None:
            raise OptionError("reach= needs causes, and time series have none: leave it out")
        deadline, cases = question.deadline, self.read(rows)
        return CaseBatch(
            rows=cases,
            goals=self.goals(question.want, len(cases)),
            constraints=self.constraints_of(question.constraints, len(cases)),
            question=question,
            deadline=deadline,
            requirements=robustness(self.fitted, question.robust, question.also),
        )

    def read(self, rows: Any) -> Cases:
        """Cases in the form of the training cases."""
        train = self.fitted.train
        if is_frame(rows):
            rows = framed(rows).ordered(self.fitted.names)
        cases = read_cases(rows, train.layout, train)
        if turned_round(cases, train):
            first, second = AXES[train.layout]
            raise SchemaError(
                f"the cases look turned round: layout={train.layout!r} means ({first}, {second}), "
                "and the other way they are far more like the training cases"
            )
        return cases

    def blocks(self, batch: CaseBatch, tempo: Tempo | None) -> Iterator[tuple[Array, CaseBatch]]:
        """Cases that move the same groups together, few enough for their arrays to stay small."""
        width, near = len(self.fitted.names), self.fitted.neighbors
        most = max(1, min(MOST_CASES, BLOCK_CELLS // (width * width * near)))
        alike: dict[Any, list[int]] = {}
        for place, one in enumerate(batch.constraints):
            alike.setdefault(one.groups, []).append(place)
        for places in alike.values():
            start = 0
            while start < len(places):
                size = most if tempo is None else min(most, tempo.most)
                part = np.array(places[start : start + size])
                yield part, batch.take(part)
                start += size

    def answered(self, batch: CaseBatch) -> tuple[list[SeriesExplanation], Outcome]:
        """The explanations of one block, and the outcome they were made of."""
        began = time.perf_counter()
        outcome = answer(self.fitted, batch)
        return assemble(outcome, time.perf_counter() - began), outcome

    def unreached(self, batch: CaseBatch) -> list[SeriesExplanation]:
        """The explanations of cases for which no time is left."""
        return unreached(self.fitted, batch)

    def goals(self, want: Any, count: int) -> list[Goal]:
        """One goal per case from what a caller may pass as `want=`."""
        goals = resolve(want, count)
        if any(isinstance(goal, AboveRow) for goal in goals):
            raise GoalError("above_row(...) is for tables; ask for a score with mx.above(...)")
        return goals

    def merged(self, given: Any) -> SeriesConstraints:
        """The engine's constraints and a call's together, if they are right for the channels."""
        if given is None:
            return self.constraints
        return self.checked(self.constraints.merge(read_constraints(given, self.fitted.names)))

    def checked(self, constraints: SeriesConstraints) -> SeriesConstraints:
        """The same constraints, or an error that says what is wrong with them."""
        check_constraints(constraints.of_channels(), self.fitted.ground)
        last = self.fitted.train.longest
        for part, start, stop in constraints.stretches():
            if stop > last:
                raise ConstraintError(
                    f"the stretch ({start}, {stop}) of {part}= ends after the last of {last} time "
                    "points"
                )
        return constraints

    def score(self, rows: Any, want: Any = None) -> Array:
        """The model's score for every case, read toward a goal."""
        cases = self.read(rows)
        answers = self.fitted.said(cases)
        goals = compile_goals(self.goals(want, len(cases)), answers, self.outlook, 1e-6)
        return goals.judge(answers, np.arange(len(cases))).score
