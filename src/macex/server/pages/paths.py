"""The way to an answer of several changes: what follows from each, and the score after it.

Its order keeps the rules of the question, and comes near the goal as soon as it can.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from macex.errors import MacexError
from macex.explainer import Explainer
from macex.render.plots.decision import walked
from macex.render.scores import Scale, ScoreBar, bar
from macex.render.speech import Speech

MOST = 6  # changes whose orders are compared: each doubles the rows that the model scores


@dataclass(frozen=True)
class Step:
    """One change on the way, and the score from before it to after it."""

    text: str
    score: str
    bar: ScoreBar


def steps(explainer: Explainer, explanation: Any, found: Any, speech: Speech) -> tuple[Step, ...]:
    """The way from a row to an answer; none where it is a single step, or cannot be walked."""
    if len(found.changes) < 2:
        return ()
    try:
        texts, scores = _ordered(explainer, found, speech) or _walked(
            explainer, explanation, found, speech
        )
    except MacexError:
        return ()
    scale = Scale.over(scores, explanation.needed)
    made, bounds = [], (explanation.needed.low, explanation.needed.high)
    for turn, text in enumerate(texts, 1):
        score = scores[turn]
        told = speech.score_apart(score, [end for end in bounds if end != score])
        said = speech.say("score.now", {"score": told})
        drawn = bar(scale, explanation.needed, scores[turn - 1], score, said)
        made.append(Step(text, told, drawn))
    return tuple(made)


def _ordered(
    explainer: Explainer, found: Any, speech: Speech
) -> tuple[list[str], list[float]] | None:
    """The steps in words, and the scores from the row on; none for a miss, or many changes."""
    if getattr(found, "boxing", None) is None or len(found.changes) > MOST:
        return None
    way = explainer.steps(found)
    texts = [
        _listed(step.moves, speech)
        + (f", so that {_listed(step.follows, speech)}" if step.follows else "")
        for step in way.steps
    ]
    return texts, [way.score, *(step.score for step in way.steps)]


def _walked(
    explainer: Explainer, explanation: Any, found: Any, speech: Speech
) -> tuple[list[str], list[float]]:
    order, scores = walked(explainer, explanation, found)
    return [_listed([found.changes[at]], speech) for at in order], scores


def _listed(changes: Iterable[Any], speech: Speech) -> str:
    return ", ".join(f"{speech.name(one.column)} → {speech.change(one)[1]}" for one in changes)
