"""An answer in plain language: a sentence for each, and badges of a word or two."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from macex.ask.goals import AnyOf
from macex.render.names import CodeTable, reason_codes
from macex.render.scores import scores_told
from macex.render.speech import ENGLISH, Speech
from macex.render.stretches import is_stretch, stretch_clause
from macex.stages.selection import PLAUSIBLE

FEW = 3  # channels that are told in one sentence where there is a table, too
OVER = {
    "all values": "minimal",
    "seen values": "minimal_over_seen",
    "candidates": "minimal_over_candidates",
    None: "minimal",
}
FIRM, LIKELY = 0.5, 0.9  # from then on a robustness, or a reach, is no warning


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
    """Why fewer answers were found than requested, where that is known."""
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


@dataclass(frozen=True)
class Badge:
    """A short text, what it means, and whether it is a warning."""

    text: str
    help: str
    warns: bool = False


def badges(found: Any, minimal_over: str | None, speech: Speech) -> tuple[Badge, ...]:
    """The badges of one counterfactual."""

    def told(
        text: str, meaning: str, share: float | None = None, *, warns: bool = False
    ) -> tuple[Badge, ...]:
        known = (
            {} if share is None else {"share": speech.score(share), "percent": round(100 * share)}
        )
        said, helps = (speech.say(f"badge.{key}", known) for key in (text, meaning))
        return (Badge(said, helps, warns),)

    usual, over = found.plausibility, "all values" if found.sparsity == 1 else minimal_over
    proved, why, reach = found.minimal and found.changes, found.why, getattr(found, "reach", None)
    made: tuple[Badge, ...] = ()
    if why and not (proved and why == "fewest"):  # that it is minimal says more
        made += told(why.replace(" ", "_"), "why_help")
    if usual is not None:
        real = usual >= PLAUSIBLE
        made += told("usual" if real else "unusual", "usual_help", usual, warns=not real)
    if proved:
        made += told(OVER[over], "minimal_help")
    if found.robustness is not None:
        made += told("robust", "robust_help", found.robustness, warns=found.robustness < FIRM)
    if reach is not None:
        made += told("reach", "reach_help", reach, warns=reach < LIKELY)
    if found.copies:
        made += told("copies", "copies_help", warns=True)
    if getattr(found, "of_other_class", False):
        made += told("other_class", "other_class_help", warns=True)
    return made
