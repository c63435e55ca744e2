"""Explaining a chunk of rows: the same question for every chunk, wherever they come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.ask.goals import AboveRow, Goal
from macex.ask.question import Question
from macex.errors import ConstraintError, GoalError, OptionError, SchemaError
from macex.explanation import Explanations
from macex.scale.unreadable import rows_taken, unread, unreadable
from macex.schema.arrow_tables import frame_of
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
        return Explanations(ordered, found.names, found.meta, self._rows(rows)), faults

    def _rows(self, rows: Any) -> Any:
        return self.explainer.schema.read(rows_taken(rows, []))

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


def placed(explainer: Any, device: str | None) -> Any:
    """The explainer with its search on a device, if one is named."""
    if device is None:
        return explainer
    if isinstance(explainer, SeriesExplainer):
        raise OptionError(f"device={device!r} is for rows of tables: leave it out for cases")
    from macex.device import on_device

    return on_device(explainer, device)
