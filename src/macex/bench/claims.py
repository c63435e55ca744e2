"""Claims: what should hold, whether this run bears it out, and by which number."""

from __future__ import annotations

from collections.abc import Iterable
from math import isnan
from typing import NamedTuple


class Claim(NamedTuple):
    """A sentence, whether it holds (None: not measured), and the number behind that."""

    sentence: str
    held: bool | None
    number: str

    @property
    def verdict(self) -> str:
        """The verdict in words."""
        return {True: "held", False: "NOT HELD", None: "not measured"}[self.held]


def at_most(sentence: str, value: float, limit: float, unit: str = "") -> Claim:
    """The claim that a measured value stays within a limit.

    >>> at_most("rows scored per query", 318.2, 600)
    Claim(sentence='rows scored per query', held=True, number='318.2, at most 600')
    """
    if isnan(value):
        return Claim(sentence, None, "-")
    return Claim(sentence, value <= limit + 1e-9, f"{value:.4g}{unit}, at most {limit:g}{unit}")


def at_least(sentence: str, value: float, limit: float, unit: str = "") -> Claim:
    """The claim that a measured value reaches a limit."""
    if isnan(value):
        return Claim(sentence, None, "-")
    return Claim(sentence, value >= limit - 1e-9, f"{value:.4g}{unit}, at least {limit:g}{unit}")


def everywhere(
    sentence: str,
    excess: Iterable[tuple[str, float]],
    limit: float = 0.0,
    spare: int = 0,
) -> Claim:
    """The claim that no cell exceeds a limit, but for a `spare` few; those that do are named.

    >>> everywhere("sparser than others", [("adult", -0.1), ("breast", 0.02)])[1:]
    (False, '1 of 2 cells; not in breast (+0.02)')
    >>> everywhere("sparser than others", [("adult", -0.1), ("breast", 0.02)], spare=1).held
    True
    """
    cells = list(excess)
    if not cells:
        return Claim(sentence, None, "-")
    broken = [f"{name} ({value:+.2f})" for name, value in cells if value > limit + 1e-9]
    number = f"{len(cells) - len(broken)} of {len(cells)} cells"
    if broken:
        number += f"; not in {', '.join(broken)}"
    held = not broken or len(broken) <= spare < len(cells)
    return Claim(sentence, held, number)
