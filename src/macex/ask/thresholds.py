"""Which scores reach a goal, for people who read a score and ask how much is enough."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from macex.ask.answers import SLIGHT, Goals


class Needed(NamedTuple):
    """The scores that reach a goal; an infinite bound means no bound.

    `label` is the class whose score it is, or None if it belongs to no single class. A bound that
    is not `exact` was estimated from the model's decisions. Without bounds the score alone does not
    decide: among three classes the wanted one needs the lead, whatever its score.
    """

    low: float = -np.inf
    high: float = np.inf
    open_low: bool = False
    open_high: bool = False
    label: object = None
    exact: bool = True

    @property
    def bounded(self) -> bool:
        """Whether the score alone decides."""
        return bool(np.isfinite(self.low) or np.isfinite(self.high))

    def holds(self, score: float) -> bool:
        """Whether a score lies between the bounds.

        >>> Needed(low=0.5, open_low=True).holds(0.5), Needed(high=3.0).holds(-1.0)
        (False, True)
        """
        over = score > self.low if self.open_low else score >= self.low
        under = score < self.high if self.open_high else score <= self.high
        return over and under


def needed(goals: Goals, query: int) -> Needed:
    """Which scores reach the goal of a query."""
    if goals.by_class[query]:
        return _decided(goals, query)
    low, high = float(goals.low[query]), float(goals.high[query])
    openness = bool(goals.open_low[query]), bool(goals.open_high[query])
    classes = goals.outlook.classes
    label = None if classes is None else classes[int(goals.output[query])]
    return Needed(low, high, *openness, label)


def _decided(goals: Goals, query: int) -> Needed:
    outlook, wanted = goals.outlook, np.flatnonzero(goals.wanted[query])
    label = outlook.classes[int(wanted[0])] if outlook.classes and len(wanted) == 1 else None
    if outlook.width != 2 or len(wanted) != 1:
        return Needed(label=label)
    if outlook.agrees:
        if outlook.scale != "probabilities":
            return Needed(label=label)
        slight = 0 < goals.margin <= SLIGHT
        low = 0.5 if slight else 0.5 + goals.margin / 2
        return Needed(low, open_low=slight, label=label, exact=not outlook.by_predict)
    if outlook.threshold is None:
        return Needed(label=label)
    turned = 1 - outlook.threshold if outlook.probable else -outlook.threshold
    return Needed(outlook.threshold if wanted[0] else turned, label=label, exact=False)
