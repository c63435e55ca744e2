"""The shape of a model's answers, which goals are judged by.

`Answers` are the outputs for some rows; `Outlook` is what is known of the model once it has
answered for the training rows: its classes, what its numbers mean, how finely they are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from macex.ask.goals import label_position
from macex.errors import GoalError, closest
from macex.schema import Array

TINY = 1e-15
Scale = Literal["probabilities", "margins", "labels", "raw"]


class Answers(NamedTuple):
    """A model's answers, one entry per row."""

    scores: Array  # (n, K) one number per class or output
    decision: Array  # (n,) int position of the decided class, -1 where there are no classes

    def take(self, index: Array) -> Answers:
        """The entries at `index`."""
        if index.dtype == bool:
            index = np.flatnonzero(index)
        return Answers(self.scores.take(index, axis=0), self.decision[index])


@dataclass(frozen=True)
class Outlook:
    """What a model's numbers mean.

    `by_predict` says that the model's own `predict` is asked for every decision, since it is not
    known to be the class with the highest score. `agrees` says that the two agreed on every row
    seen so far. Where they did not, `threshold` is the score at which, for two classes, the
    decision turns, as far as it could be seen.
    """

    classes: tuple[object, ...] | None
    scale: Scale
    width: int
    unit: float = 1e-6  # scores are rounded to it before they are compared, ranked or shown
    spread: float = 1.0  # how far scores of a score goal lie apart in training
    by_predict: bool = False
    agrees: bool = True
    threshold: float | None = None

    @property
    def probable(self) -> bool:
        """Whether scores are probabilities (a bare label counts as certain)."""
        return self.scale in ("probabilities", "labels")

    def rounded(self, scores: Array) -> Array:
        """Scores as they are compared: the last bits of a batched model change nothing."""
        return np.round(np.asarray(scores, dtype=float), self._digits) + 0.0

    @cached_property
    def _digits(self) -> int:
        return -int(np.floor(np.log10(self.unit) + 0.5))

    def as_progress(self, inside: Array, outside: Array) -> Array:
        """The lead of the wanted classes on a scale on which gains roughly add up, 0 when even.

        For probabilities that is the log of their ratio, which for two classes is the log odds. It
        is rounded, so that the last bits of a batched model change nothing, but it tells rows apart
        that a rounded probability of 0 would not.
        """
        if not self.probable:
            return np.round((inside - outside) / (2 * self.spread), 6)
        return np.round(np.log(np.maximum(inside, TINY)) - np.log(np.maximum(outside, TINY)), 4)

    def lead_over_threshold(self, scores: Array, wanted: Array) -> tuple[Array, Array] | None:
        """Score and threshold toward the wanted class, for two classes; None if not known."""
        if self.threshold is None or self.width != 2:
            return None
        toward = np.where(wanted[:, 1], scores[:, 1], scores[:, 0])
        other = 1 - self.threshold if self.probable else -self.threshold
        return toward, np.where(wanted[:, 1], self.threshold, other)

    def position(self, label: object) -> int:
        """Where `label` stands among the classes."""
        return label_position(label, self.classes or ())

    def output(self, label: object) -> int:
        """Which output a score goal looks at."""
        if label is not None:
            return self._labelled(label)
        if self.classes is not None and self.width == 2:
            return 1
        if self.width == 1:
            return 0
        raise GoalError(
            f"the model has {self.width} outputs: say which one the score goal looks at with "
            f"label={closest('', self.classes or range(self.width))}"
        )

    def _labelled(self, label: object) -> int:
        if self.classes is not None:
            return self.position(label)
        if isinstance(label, (int, np.integer)) and 0 <= int(label) < self.width:
            return int(label)
        raise GoalError(
            f"label={label!r} names no output: the model has outputs 0 to {self.width - 1}"
        )
