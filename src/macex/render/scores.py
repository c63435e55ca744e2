"""A score and what it needs, in words and as a bar: a number alone does not say what is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from macex.ask.answers import Needed
from macex.ask.goals import AnyOf
from macex.render.speech import Speech

CLASSES = 6  # whose probabilities are told
ROOM = 0.08  # left free at both ends of a scale that is not that of probabilities


def goal_text(explanation: Any, speech: Speech) -> str:
    """What is wanted: the labels as they are, any other decision, or a score in words."""
    goal = explanation.goal
    if not isinstance(goal, AnyOf):
        return str(goal.text)
    if goal.labels is None:
        label = explanation.needed.label
        return speech.say("goal.other") if label is None else speech.plain(label)
    return speech.listed([speech.plain(label) for label in goal.labels], "or")


def score_line(explanation: Any, speech: Speech) -> str:
    """The score, whose it is, and what it needs."""
    if not isfinite(explanation.score):
        return speech.say("score.plain", {"score": speech.score(explanation.score)})
    score, needs = score_text(explanation, explanation, speech), needs_text(explanation, speech)
    decided = isinstance(explanation.goal, AnyOf)
    label = goal_text(explanation, speech) if decided else explanation.needed.label
    if label is None:
        said = speech.say("score.plain", {"score": score})
    else:
        said = speech.say("score.of", {"label": speech.plain(label), "score": score})
    return f"{said}{speech.say('value.comma')}{needs}" if needs else said


def score_text(explanation: Any, found: Any, speech: Speech) -> str:
    """The score of the row or of an answer, told from the row's and from what is needed."""
    needed = explanation.needed
    others = [
        other for other in (explanation.score, needed.low, needed.high) if other != found.score
    ]
    return speech.score_apart(found.score, others)


def scores_told(explanation: Any, found: Any, speech: Speech) -> tuple[str, str]:
    """The scores of the row and of an answer, told from each other and from what is needed."""
    needed = explanation.needed
    known = (explanation.score, found.score, needed.low, needed.high)

    def told(score: float) -> str:
        return speech.score_apart(score, [other for other in known if other != score])

    return told(explanation.score), told(found.score)


def probabilities_text(explanation: Any, found: Any, speech: Speech) -> str:
    """What the model gives each class, before and after; the few that matter, of many."""
    before = getattr(explanation, "probabilities", {})
    after = getattr(found, "probabilities", {})
    if not before or not after:
        return ""
    order = sorted(after, key=lambda label: -max(before[label], after[label]))
    chosen = [label for label in after if label in order[:CLASSES]]
    said = [
        f"{speech.plain(label)} {speech.score(before[label])} → {speech.score(after[label])}"
        for label in chosen
    ]
    left = len(order) - len(chosen)
    more = [speech.say_counted("card.more_classes", left)] if left else []
    return speech.say("card.probabilities", {"all": "; ".join([*said, *more])})


def needs_text(explanation: Any, speech: Speech) -> str:
    """How much the score needs; empty where that is not known."""
    needed = explanation.needed
    if needed.bounded:
        values = {"low": speech.bound(needed.low), "high": speech.bound(needed.high)}
        return speech.say(f"needs.{_kind(needed)}", values)
    known = explanation.asked.goals is not None and isinstance(explanation.goal, AnyOf)
    if not known:
        return ""
    return speech.say("needs.lead_any" if needed.label is None else "needs.lead")


def _kind(needed: Needed) -> str:
    if isfinite(needed.low) and isfinite(needed.high):
        return "between"
    if isfinite(needed.low):
        return "about" if not needed.exact else "more" if needed.open_low else "at_least"
    return "less" if needed.open_high else "at_most"


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
