"""What a method for whole populations does: which rows it flips, and how far it moves them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.cohort.population import Population, crowd, opened
from macex.schema import Array

if TYPE_CHECKING:
    from macex.explainer import Explainer


@dataclass(frozen=True)
class Covered:
    """The rows in need, which of them are flipped, and the least distance at which.

    `actions` says in words what is to be done.
    """

    method: str
    actions: tuple[str, ...]
    flipped: Array  # (n,) bool
    distance: Array  # (n,) infinite where not flipped

    @property
    def coverage(self) -> float:
        """The share of the rows that is flipped."""
        return float(self.flipped.mean()) if len(self.flipped) else float("nan")

    @property
    def cost(self) -> float:
        """The mean distance of the rows flipped."""
        return float(self.distance[self.flipped].mean()) if self.flipped.any() else float("nan")


def population_of(explainer: Explainer, rows: Any, want: Any, constraints: Any) -> Population:
    """The rows as a plan would see them."""
    return opened(crowd(explainer.engine, rows, want, constraints))


def greedy(reached: Array, distance: Array, most: int) -> list[int]:
    """At most `most` lines of (A, n) that together reach the most rows; ties to the cheaper."""
    covered = np.zeros(reached.shape[1], bool)
    total = np.where(reached, distance, 0.0).sum(axis=1)
    cost = np.divide(total, reached.sum(axis=1), out=np.full(len(reached), np.inf), where=total > 0)
    chosen: list[int] = []
    while len(chosen) < most and len(reached):
        new = (reached & ~covered).sum(axis=1)
        if not new.any():
            break
        best = int(np.lexsort((np.arange(len(new)), cost, -new))[0])
        chosen.append(best)
        covered |= reached[best]
    return chosen


def covered(
    method: str, texts: list[str], reached: Array, distance: Array, chosen: list[int]
) -> Covered:
    """The rows that some chosen line reaches, each at the least distance."""
    far = np.where(reached[chosen], distance[chosen], np.inf)
    nearest = far.min(axis=0, initial=np.inf)
    return Covered(method, tuple(texts[at] for at in chosen), np.isfinite(nearest), nearest)
