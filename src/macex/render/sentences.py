"""An answer in plain language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from macex.ask.goals import AnyOf
from macex.render.catalogue import ENGLISH
from macex.render.reason_codes import CodeTable, reason_codes
from macex.render.scores import scores_told
from macex.render.speech import Speech
from macex.render.stretches import is_stretch, stretch_clause

FEW = 3  # channels that are told in one sentence where there is a table, too


def sentences(
    explanation: Any, language: str | Path = ENGLISH, codes: CodeTable | None = None
) -> list[str]:
    """One sentence for each counterfactual, or one that says why there is none.

    With a table of reason codes a last sentence names the main reasons.
    """
    speech = Speech(explanation.names, language, explanation.of_series)
    said = [sentence(explanation, found, speech) for found in explanation.counterfactuals]
    reasons = [] if codes is None else [str(code) for code in reason_codes(explanation, codes)]
    last = [speech.say("sentence.reasons", {"reasons": "; ".join(reasons)})] if reasons else []
    return (said or [no_answer(explanation, speech)]) + last


def no_answer(explanation: Any, speech: Speech) -> str:
    """Why there is no answer: the reason itself in English, what it amounts to otherwise."""
    if speech.language == ENGLISH:
        return explanation.reason or speech.say("sentence.nothing")
    said = [speech.say(f"sentence.{explanation.status}")]
    if explanation.diagnosis:
        constraints = {"constraints": "; ".join(explanation.diagnosis)}
        said.append(speech.say("sentence.relief", constraints))
    if explanation.miss is not None:
        score = speech.score(explanation.miss.score)
        said.append(speech.say("sentence.miss", {"score": score}))
    return " ".join(said)


def sentence(explanation: Any, found: Any, speech: Speech) -> str:
    """What a counterfactual says, as one sentence."""
    decided = isinstance(explanation.goal, AnyOf)
    if not found.changes:
        return _already(explanation, speech, decided=decided)
    changes = [_clause(change, speech) for change in found.changes]
    before, after = scores_told(explanation, found, speech)
    values = {
        "condition": _condition(changes, found, speech),
        "label": speech.plain(found.label),
        "before": before,
        "after": after,
    }
    return speech.say("sentence.decided" if decided else "sentence.scored", values)


def brief(explanation: Any, found: Any, speech: Speech) -> str:
    """What a counterfactual says as one sentence, where a table lists what changes."""
    channels = {change.column for change in found.changes if is_stretch(change)}
    if len(channels) <= FEW:
        return sentence(explanation, found, speech)
    before, after = scores_told(explanation, found, speech)
    decided = isinstance(explanation.goal, AnyOf)
    several = speech.say("series.several", {"count": len(channels)})
    values = {
        "condition": speech.say("sentence.condition", {"changes": several}),
        "label": speech.plain(found.label),
        "before": before,
        "after": after,
    }
    return speech.say("sentence.decided" if decided else "sentence.scored", values)


def fewer_texts(explanation: Any, speech: Speech) -> list[str]:
    """Why there are fewer answers than were asked for, where that is known."""
    why = getattr(explanation, "fewer", None)
    return [] if why is None else [speech.say(f"fewer.{why}")]


def _condition(changes: list[str], found: Any, speech: Speech) -> str:
    """What would have to be different, and what then is different, too."""
    said = {"changes": speech.listed(changes)}
    following = [
        _clause(change, speech, about=change.column in found.estimated)
        for change in found.consequences
    ]
    if not following:
        return speech.say("sentence.condition", said)
    return speech.say("sentence.condition_follows", said | {"follows": speech.listed(following)})


def _already(explanation: Any, speech: Speech, *, decided: bool) -> str:
    score = speech.score(explanation.score)
    if not decided:
        return speech.say("sentence.already_scored", {"score": score})
    values = {"label": speech.plain(explanation.label), "score": score}
    return speech.say("sentence.already_decided", values)


def _clause(change: Any, speech: Speech, *, about: bool = False) -> str:
    if is_stretch(change):
        return stretch_clause(change, speech)
    before, after = speech.change(change)
    values = {"name": speech.name(change.column), "before": before, "after": after}
    return speech.say("sentence.change_estimated" if about else "sentence.change", values)
