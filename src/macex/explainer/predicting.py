"""What the model itself says of rows: its decisions and its scores, as explanations show them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.models.asking import Asker
from macex.schema import Array

if TYPE_CHECKING:
    from macex.explainer.explainer import Explainer


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


def predicted(explainer: Explainer, rows: Any) -> Predictions:
    """What an explainer's model says of some rows.

    >>> import pandas as pd
    >>> from macex import Explainer
    >>> data = pd.DataFrame({"hours": range(20, 60)})
    >>> explainer = Explainer(lambda rows: rows["hours"] / 100, data, classes=("no", "yes"))
    >>> said = predicted(explainer, data.tail(2))
    >>> said.label(0), said.shown.tolist()
    ('yes', [0.58, 0.59])
    """
    fitted = explainer._fitted  # noqa: SLF001 - the other half of the class
    read = explainer.schema.read(rows)
    answers, _ = Asker(fitted.oracle.own, explainer.schema, read)(read.codes, np.arange(len(read)))
    return Predictions(
        explainer.classes, fitted.outlook.rounded(answers.scores), answers.decision.astype(int)
    )
