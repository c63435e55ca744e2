"""A score as a bar: where it lies now, where an answer takes it, and which part is enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite

from macex.ask.answers import Needed

ROOM = 0.08  # left free at both ends of a scale that is not that of probabilities


@dataclass(frozen=True)
class Scale:
    """The stretch of scores that all bars of a card share."""

    low: float
    high: float

    @staticmethod
    def over(scores: Sequence[float], needed: Needed) -> Scale:
        """From 0 to 1, or, where a score or a bound lies outside, what holds them all.

        >>> Scale.over([0.2, 0.7], Needed(low=0.5)), Scale.over([-3.0, 1.0], Needed(low=2.0))
        (Scale(low=0.0, high=1.0), Scale(low=-3.4, high=2.4))
        """
        held = [x for x in (*scores, needed.low, needed.high) if isfinite(x)]
        low, high = min(held, default=0.0), max(held, default=1.0)
        if low >= 0 and high <= 1:
            return Scale(0.0, 1.0)
        room = max(ROOM * (high - low), 1e-9 * max(1.0, abs(low), abs(high)))
        return Scale(low - room, high + room)

    def place(self, score: float) -> float:
        """Where a score lies, in percent of the stretch."""
        share = (score - self.low) / (self.high - self.low)
        return round(100 * min(1.0, max(0.0, share)), 2)


@dataclass(frozen=True)
class ScoreBar:
    """Places in percent: the score now, after a change (None: no change), and the goal's part."""

    before: float | None
    after: float | None
    goal: tuple[float, float] | None
    text: str


def bar(scale: Scale, needed: Needed, before: float, after: float | None, text: str) -> ScoreBar:
    """The bar of one answer, said aloud as `text`."""
    goal = (scale.place(needed.low), scale.place(needed.high)) if needed.bounded else None
    return ScoreBar(
        before=scale.place(before) if isfinite(before) else None,
        after=None if after is None or not isfinite(after) else scale.place(after),
        goal=goal,
        text=text,
    )
