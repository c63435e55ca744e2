"""The box around a counterfactual: ranges in which every combination reaches the goal."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from math import log
from typing import Any, NamedTuple

from macex.render.names import Names
from macex.render.speech import Speech

LOOKS = 8  # samples at most, each of a smaller box, until one holds as a whole
DOUBT = log(LOOKS / 0.05)  # each look may deceive once in 160 times, so all of them once in 20


class Range(NamedTuple):
    """The values of one changed column; an end that is the column's own is open."""

    column: str
    low: Any
    high: Any
    open_low: bool = False  # nothing lower was seen in training
    open_high: bool = False


@dataclass(frozen=True)
class Box:
    """For each changed number a range, such that all combinations reach the goal.

    With `exact` every combination was tested, or one for each cell of a tree model. Otherwise
    `sampled` combinations were drawn and all of them reach it, so that with 95 % confidence at most
    5.1 / `sampled` of them do not: the rule of three, for the best of eight looks.
    """

    ranges: tuple[Range, ...]
    settings: tuple[tuple[str, Any], ...]  # changed columns that are not numbers
    exact: bool
    tested: int
    sampled: int = 0
    names: Names = field(default_factory=dict, repr=False, compare=False)

    @property
    def failing_at_most(self) -> float:
        """The share of combinations that may not reach the goal, with 95 % confidence."""
        return 0.0 if self.exact else min(1.0, DOUBT / max(1, self.sampled))

    @property
    def text(self) -> str:
        """The ranges in words."""
        speech = Speech(self.names)
        parts = [_said(one, speech) for one in self.ranges]
        parts += [f"{speech.name(c)} {speech.setting(c, value)}" for c, value in self.settings]
        return speech.listed(parts) if parts else "no change needed"

    def to_dict(self) -> dict[str, Any]:
        """The box as JSON."""
        from macex.explanation.json import plain

        return {
            "ranges": [plain(one._asdict()) for one in self.ranges],
            "settings": {column: plain(value) for column, value in self.settings},
            "exact": self.exact,
            "tested": self.tested,
            "sampled": self.sampled,
            "failing_at_most": self.failing_at_most,
            "text": self.text,
        }

    def __repr__(self) -> str:
        if self.exact:
            return f"{self.text} (every combination reaches the goal; {self.tested:,} tested)"
        share = f"{100 * self.failing_at_most:.2g} %"
        known = f"{self.sampled:,} sampled combinations reach the goal"
        return f"{self.text} ({known}; with 95 % confidence at most {share} do not)"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"


def _said(one: Range, speech: Speech) -> str:
    low, high = speech.span(one.column, one.low, one.high)
    name = speech.name(one.column)
    if one.low == one.high:
        return f"{name} {speech.setting(one.column, one.low)}"
    if one.open_low and one.open_high:
        return f"any {name}"
    if one.open_high:
        return f"{name} at least {low}"
    return f"{name} at most {high}" if one.open_low else f"{name} {low} to {high}"
