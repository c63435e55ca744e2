"""What every chunk of rows is asked: the explainer and the options, together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.ask.goals import AboveRow, Goal, resolve
from macex.errors import ConstraintError, GoalError, SchemaError
from macex.explainer import Explainer
from macex.explainer.call import check_call
from macex.explainer.sturdy import sturdiness
from macex.explanation import Explanations
from macex.scale.unreadable import rows_taken, unread, unreadable


@dataclass(frozen=True)
class Question:
    """The same question for any number of rows; a chunk of them is answered at once.

    With `on_error="keep"` a row that cannot be read gets a reason, as one does that the model
    fails on.
    """

    explainer: Explainer
    n: int = 1
    want: Any = None
    constraints: Constraints | Mapping[str, Any] | None = None
    max_rows: int | None = None
    margin: float = 1e-6
    diagnose: bool = False
    on_error: str = "keep"
    robust: float | None = None
    also: Sequence[Any] = ()

    def __post_init__(self) -> None:
        check_call(self.n, self.max_rows, None, self.margin, self.on_error)
        sturdiness(self.explainer._fitted, self.robust, ())  # noqa: SLF001 - a check
        if not isinstance(self.constraints, Constraints | Mapping | None):
            raise ConstraintError(
                "constraints= takes Constraints(...), the same for all rows, not a "
                f"{type(self.constraints).__name__}"
            )
        self.explainer._merged(self.constraints)  # noqa: SLF001 - a check
        if isinstance(self.goal, AboveRow):
            raise GoalError(
                "above_row(...) is no goal for many chunks: ask for above(score) instead"
            )

    @property
    def goal(self) -> Goal:
        """What is wanted of every row."""
        return resolve(self.want, 1)[0]

    @property
    def keeps(self) -> bool:
        """Whether a row that goes wrong gets a reason instead of an error."""
        return self.on_error == "keep"

    def answers(self, rows: Any) -> Explanations:
        """The explanations of some rows, in their order."""
        return self.answered(rows)[0]

    def answered(self, rows: Any, progress: Any = None) -> tuple[Explanations, dict[int, str]]:
        """The explanations of some rows, and of those that cannot be read what is wrong."""
        try:
            return self._asked(rows, progress), {}
        except SchemaError:
            if not self.keeps:
                raise
            faults = unreadable(self.explainer.schema, rows)
            if not faults:
                raise
        sound = [at for at in range(len(rows)) if at not in faults]
        found = self._asked(self._retyped(rows_taken(rows, sound)), progress)
        items: dict[int, Any] = dict(zip(sound, found, strict=True))
        items |= unread(self.explainer, rows, faults, self.goal, self.n)
        ordered = [items[at] for at in range(len(rows))]
        return Explanations(ordered, found.names, found.meta, self._rows(rows)), faults

    def _rows(self, rows: Any) -> Any:
        return self.explainer.schema.read(rows_taken(rows, []))

    def _asked(self, rows: Any, progress: Any) -> Explanations:
        return self.explainer.explain(
            rows,
            n=self.n,
            want=self.want,
            constraints=self.constraints,
            max_rows=self.max_rows,
            margin=self.margin,
            diagnose=self.diagnose,
            on_error=self.on_error,
            progress=progress,
            robust=self.robust,
            also=self.also,
        )

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
