"""What is known of a counterfactual, in a word or two: how usual it is, and that it is minimal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from macex.render.speech import Speech
from macex.stages.selection import PLAUSIBLE

OVER = {
    "all values": "minimal",
    "seen values": "minimal_over_seen",
    "candidates": "minimal_over_candidates",
    None: "minimal",
}
FIRM, LIKELY = 0.5, 0.9  # from then on a robustness, or a reach, is no warning


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
