"""The way to an answer of several changes: the score after each, the one that helps most first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from macex.errors import MacexError
from macex.explainer import Explainer
from macex.render.bars import Scale, ScoreBar, bar
from macex.render.plots.path import walked
from macex.render.speech import Speech


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
        order, scores = walked(explainer, explanation, found)
    except MacexError:
        return ()
    scale = Scale.over(scores, explanation.needed)
    made, bounds = [], (explanation.needed.low, explanation.needed.high)
    for turn, at in enumerate(order, 1):
        change, score = found.changes[at], scores[turn]
        text = f"{speech.name(change.column)} → {speech.change(change)[1]}"
        told = speech.score_apart(score, [end for end in bounds if end != score])
        said = speech.say("score.now", {"score": told})
        drawn = bar(scale, explanation.needed, scores[turn - 1], score, said)
        made.append(Step(text, told, drawn))
    return tuple(made)
