"""Explaining a chunk of rows: the same question for every chunk, wherever they come from.

Rows with a cell that cannot be read are found one by one, and answered with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.constraints import Constraints
from macex.ask.goals import AboveRow, Goal
from macex.ask.question import FIELDS, Question
from macex.engine.assembly import unanswered
from macex.errors import ConstraintError, GoalError, OptionError, SchemaError
from macex.explainer import Explainer
from macex.explanation import Explanation, Explanations, Source
from macex.explanation.values import Asking
from macex.schema import Column, Schema
from macex.schema.arrow_tables import frame_of
from macex.schema.codes import encode
from macex.schema.columns import MISSING
from macex.schema.frames import library, library_of
from macex.series.constraints import SeriesConstraints
from macex.series.explainer import SeriesExplainer


@dataclass(frozen=True)
class ChunkExplainer:
    """An explainer and a question: what turns a chunk of rows into explanations.

    With `on_error="keep"` a row that cannot be read gets a reason, as one does that the model
    fails on.
    """

    explainer: Any  # of rows, or of cases of time series
    question: Question

    def __post_init__(self) -> None:
        constraints = self.question.constraints
        if not isinstance(constraints, Constraints | SeriesConstraints | Mapping | None):
            raise ConstraintError(
                "constraints= takes Constraints(...), the same for all rows, not a "
                f"{type(constraints).__name__}"
            )
        self.explainer.engine.merged(constraints)
        if isinstance(self.goal, AboveRow):
            raise GoalError(
                "above_row(...) cannot be a goal for many chunks: use above(score) instead"
            )

    @property
    def goal(self) -> Goal:
        """What is wanted of every row."""
        return self.question.goals(1)[0]

    @property
    def keeps(self) -> bool:
        """Whether a row that goes wrong gets a reason instead of an error."""
        return self.question.keeps

    def answers(self, rows: Any) -> Explanations:
        """The explanations of some rows, in their order."""
        return self.answered(rows)[0]

    def answered(self, rows: Any, progress: Any = None) -> tuple[Explanations, dict[int, str]]:
        """The explanations of some rows, and of those that cannot be read what is wrong."""
        rows = frame_of(rows)
        try:
            return self.explainer.ask(rows, self.question, progress), {}
        except SchemaError:
            if not self.keeps or isinstance(self.explainer, SeriesExplainer):
                raise
            faults = unreadable(self.explainer.schema, rows)
            if not faults:
                raise
        sound = [at for at in range(len(rows)) if at not in faults]
        found = self.explainer.ask(self._retyped(rows_taken(rows, sound)), self.question, progress)
        items: dict[int, Any] = dict(zip(sound, found, strict=True))
        items |= unread(self.explainer, rows, faults, self.goal, self.question.n)
        ordered = [items[at] for at in range(len(rows))]
        none = self.explainer.schema.read(rows_taken(rows, []))
        return Explanations(ordered, found.names, found.meta, none), faults

    def _retyped(self, rows: Any) -> Any:
        """Columns that were objects for the sake of a cell that is gone, in a type again."""
        if not isinstance(rows, pd.DataFrame):
            return rows
        plain = {c.name for c in self.explainer.schema.frame_columns if not c.storage.objects}
        kept = rows.copy(deep=False)
        for column in rows.columns:
            if rows[column].dtype == object and str(column) in plain:
                kept[column] = rows[column].infer_objects()
        return kept


def question_of(arguments: Mapping[str, Any]) -> Question:
    """The question among the arguments of a function that takes one in parts."""
    return Question(**{part: arguments[part] for part in FIELDS if part in arguments})


def placed(explainer: Any, device: str | None) -> Any:
    """The explainer with its search on a device, if one is named."""
    if device is None:
        return explainer
    if isinstance(explainer, SeriesExplainer):
        raise OptionError(f"device={device!r} is for rows of tables: leave it out for cases")
    from macex.device import on_device

    return on_device(explainer, device)


def rows_taken(rows: Any, at: Sequence[int]) -> Any:
    """Some rows of a frame of any library."""
    return library(library_of(rows)).written(rows, np.array(at, dtype=np.intp), [])


def unreadable(schema: Schema, rows: Any) -> dict[int, str]:
    """The positions of the rows that do not fit the schema, and what is wrong with each.

    A frame whose columns are wrong is an error, since then it is not the rows that are.
    """
    positions = schema.read(rows_taken(rows, [])).positions
    found: dict[int, str] = {}
    for at, column in zip(positions, schema.frame_columns, strict=True):
        alone = rows.iloc[:, [at]] if isinstance(rows, pd.DataFrame) else rows[:, [at]]
        found |= _refused(partial(_encoded, alone, column), len(rows), found)
    return found | _refused(lambda at: schema.read(rows_taken(rows, at)), len(rows), found)


def _refused(read: Callable[[list[int]], Any], count: int, known: Iterable[int]) -> dict[int, str]:
    """The rows that cannot be read, found by halving; those that are known are left out."""
    found: dict[int, str] = {}
    pending = [sorted(set(range(count)).difference(known))]
    while pending:
        part = pending.pop()
        try:
            read(part)
        except SchemaError as error:
            if len(part) == 1:
                found[part[0]] = str(error).replace(" in row 0", "", 1)
            else:
                pending += [part[len(part) // 2 :], part[: len(part) // 2]]
    return found


def _encoded(rows: Any, column: Column, at: list[int]) -> None:
    (cells,) = library(library_of(rows)).cells(rows_taken(rows, at), [column.name])
    encode(cells, column)


def unread(
    explainer: Explainer, rows: Any, faults: Mapping[int, str], goal: Goal, n: int
) -> dict[int, Explanation]:
    """An explanation without an answer for each row that cannot be read, by position."""
    schema = explainer.schema
    none = schema.read(rows_taken(rows, []))
    blank = np.full(len(schema.columns), MISSING)
    held = schema.unfold(blank[None])
    found = {}
    for at, reason in faults.items():
        alone = rows_taken(rows, [at])
        one = replace(
            none,
            native=alone,
            frame_codes=held,
            frame_odd=np.ones(held.shape, bool),
            index=library(none.library).index(alone),
        )
        one.__dict__["codes"] = blank[None]  # a one-hot block without exactly one flag has no code
        found[at] = unanswered(
            "not_found",
            f"The row cannot be read: {reason}.",
            goal,
            method=explainer.method,
            source=Source(one, 0, blank),
            asked=Asking(n, explainer.method),
        )
    return found
