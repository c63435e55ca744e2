"""What is known of a counterfactual, in a word or two: how usual it is, and that it is minimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from macex.render.speech import Speech
from macex.stages.selection import PLAUSIBLE

OVER = {
    "all values": "badge.minimal",
    "seen values": "badge.minimal_over_seen",
    "candidates": "badge.minimal_over_candidates",
    None: "badge.minimal",
}
LIKELY = 0.9  # from then on a reach is no warning


@dataclass(frozen=True)
class Badge:
    """A short text, what it means, and whether it is a warning."""

    text: str
    help: str
    warns: bool = False


def badges(found: Any, minimal_over: str | None, speech: Speech) -> tuple[Badge, ...]:
    """The badges of one counterfactual."""
    known = found.plausibility is not None
    over = "all values" if found.sparsity == 1 else minimal_over
    proved = found.minimal and found.changes
    said = found.why and not (proved and found.why == "fewest")  # that it is minimal says more
    return (
        *([_why(found.why, speech)] if said else []),
        *([_usual(found.plausibility, speech)] if known else []),
        *([_minimal(over, speech)] if proved else []),
        *([_robust(found.robustness, speech)] if found.robustness is not None else []),
        *([_reach(found.reach, speech)] if getattr(found, "reach", None) is not None else []),
        *([_copies(speech)] if found.copies else []),
        *([_other_class(speech)] if getattr(found, "of_other_class", False) else []),
    )


def _why(why: str, speech: Speech) -> Badge:
    text = speech.say(f"badge.{why.replace(' ', '_')}")
    return Badge(text, speech.say("badge.why_help"))


def _usual(share: float, speech: Speech) -> Badge:
    usual = share >= PLAUSIBLE
    text = speech.say(f"badge.{'usual' if usual else 'unusual'}", {"share": speech.score(share)})
    help_text = speech.say("badge.usual_help", {"percent": round(100 * share)})
    return Badge(text, help_text, warns=not usual)


def _robust(share: float, speech: Speech) -> Badge:
    text = speech.say("badge.robust", {"share": speech.score(share)})
    return Badge(text, speech.say("badge.robust_help"), warns=share < 0.5)


def _reach(share: float, speech: Speech) -> Badge:
    text = speech.say("badge.reach", {"share": speech.score(share)})
    return Badge(text, speech.say("badge.reach_help"), warns=share < LIKELY)


def _copies(speech: Speech) -> Badge:
    return Badge(speech.say("badge.copies"), speech.say("badge.copies_help"), warns=True)


def _other_class(speech: Speech) -> Badge:
    return Badge(speech.say("badge.other_class"), speech.say("badge.other_class_help"), warns=True)


def _minimal(over: str | None, speech: Speech) -> Badge:
    return Badge(speech.say(OVER[over]), speech.say("badge.minimal_help"))
