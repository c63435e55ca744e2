"""The model's decisions and scores for rows, as explanations show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.answers import SLIGHT, Answers, compile_goals
from macex.ask.goals import AboveRow, resolve
from macex.models.asker import Asker
from macex.schema import Array, Rows
from macex.schema.text import code_to_set

if TYPE_CHECKING:
    from macex.engine.engine import Engine


@dataclass(frozen=True)
class Predictions:
    """Decisions and scores, one entry per row; a model of bare scores decides nothing."""

    classes: tuple[object, ...] | None
    scores: Array  # (n, K) one number per class or output, rounded as in explanations
    decision: Array  # (n,) int position of the decided class, -1 where there are no classes

    def __len__(self) -> int:
        return len(self.decision)

    def label(self, row: int) -> object:
        """What the model decides for a row; None where it has no classes."""
        return None if self.classes is None else self.classes[int(self.decision[row])]

    @property
    def shown(self) -> Array:
        """One score per row, (n,): of the second of two classes, else of the decision."""
        if self.scores.shape[1] <= 2:
            return self.scores[:, -1]
        if self.classes is None:
            return self.scores[:, 0]
        return self.scores[np.arange(len(self)), self.decision]


def predicted(engine: Engine, rows: Any) -> Predictions:
    """What an explainer's model says of some rows.

    >>> import pandas as pd
    >>> from macex import Explainer
    >>> data = pd.DataFrame({"hours": range(20, 60)})
    >>> explainer = Explainer(lambda rows: rows["hours"] / 100, data, classes=("no", "yes"))
    >>> said = predicted(explainer.engine, data.tail(2))
    >>> said.label(0), said.shown.tolist()
    ('yes', [0.58, 0.59])
    """
    fitted = engine.fitted
    read = engine.schema.read(rows)
    answers, _ = Asker(fitted.oracle.own, engine.schema, read)(read.codes, np.arange(len(read)))
    return Predictions(
        engine.classes, fitted.outlook.rounded(answers.scores), answers.decision.astype(int)
    )


Cells = list[tuple[str, object, object]]
"""Columns with what is in them before and after."""


def tried(
    engine: Engine, rows: Rows, variants: Sequence[Mapping[str, object]]
) -> tuple[Predictions, list[Cells], list[Cells]]:
    """What the model says of the first of some rows, and of it with other values in some columns.

    Beside the answers, the row's own first, come the changes of each variant, and what follows from
    them by causes: column, before, after. A text is read as it would be typed.

    >>> import pandas as pd
    >>> from macex import Explainer
    >>> data = pd.DataFrame({"hours": range(20, 60)})
    >>> explainer = Explainer(lambda rows: rows["hours"] / 100, data, classes=("no", "yes"))
    >>> row = explainer.schema.read({"hours": 40})
    >>> said, changes, follows = tried(explainer.engine, row, [{"hours": "55"}])
    >>> said.label(0), said.label(1), changes, follows
    ('no', 'yes', [[('hours', 40, 55)]], [[]])
    """
    schema, own = engine.schema, rows.codes[0]
    codes = np.repeat(own[None], len(variants) + 1, axis=0)
    for line, variant in enumerate(variants, 1):
        for name, value in variant.items():
            at = schema.position(name)
            codes[line, at] = code_to_set(schema.columns[at], value)
    fitted = engine.fitted
    full = codes if fitted.causal is None else fitted.causal.told(codes, own)
    asker = Asker(fitted.oracle.own, schema, rows)
    answers, _ = asker(full, np.zeros(len(codes), int))
    said = Predictions(
        engine.classes, fitted.outlook.rounded(answers.scores), answers.decision.astype(int)
    )
    changes = [_cells(rows, line, own) for line in codes[1:]]
    return said, changes, [_cells(rows, *both) for both in zip(full[1:], codes[1:], strict=True)]


def followed(engine: Engine, codes: Array, own: Array) -> Array:
    """Rows of codes (n, d) made of the row `own` (d,), with what follows from what was set."""
    causal = engine.fitted.causal
    return codes if causal is None else causal.followed(codes, own)


def _cells(rows: Rows, line: Array, before: Array) -> Cells:
    """The cells in which a line of codes differs, as the first row has them and as they are."""
    schema = rows.schema
    return [
        (schema.names[at], rows.cell(0, at), schema.columns[at].value(float(line[at])))
        for at in np.flatnonzero(line != before).tolist()
    ]


def checked_goal(engine: Engine, want: object) -> None:
    """Raise for a goal that cannot be asked of an explainer's model."""
    outlook = engine.outlook
    goals = [goal for goal in resolve(want, 1) if not isinstance(goal, AboveRow)]
    own = Answers(np.zeros((1, max(1, outlook.width))), np.zeros(1, int))
    compile_goals(goals, own, outlook, SLIGHT)
