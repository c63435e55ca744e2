"""Claims: what macex should reach, whether this run reached it, and by which number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from macex.bench.tables import Report


class Claim(NamedTuple):
    """A sentence, whether it holds (None: not measured), and the number behind that."""

    sentence: str
    held: bool | None
    number: str

    def __str__(self) -> str:
        verdict = {True: "held", False: "NOT HELD", None: "not measured"}[self.held]
        return f"- {verdict}: {self.sentence}: {self.number}"


def at_most(sentence: str, value: float, limit: float, unit: str = "") -> Claim:
    """The claim that a measured value stays within a limit.

    >>> str(at_most("rows scored per query", 318.2, 600))
    '- held: rows scored per query: 318.2, at most 600'
    """
    measured = value == value  # noqa: PLR0124
    held = value <= limit + 1e-9 if measured else None
    return Claim(sentence, held, f"{value:.4g}{unit}, at most {limit:g}{unit}")


def at_least(sentence: str, value: float, limit: float) -> Claim:
    """The claim that a measured value reaches a limit."""
    measured = value == value  # noqa: PLR0124
    held = value >= limit - 1e-9 if measured else None
    return Claim(sentence, held, f"{value:.4g}, at least {limit:g}")


def everywhere(sentence: str, excess: Iterable[tuple[str, float]], limit: float = 0.0) -> Claim:
    """The claim that no cell exceeds a limit; those that do are named.

    >>> str(everywhere("sparser than others", [("adult", -0.1), ("breast", 0.02)]))
    '- NOT HELD: sparser than others: 1 of 2 cells; not in breast (+0.02)'
    """
    cells = list(excess)
    broken = [f"{name} ({value:+.2f})" for name, value in cells if value > limit + 1e-9]
    number = f"{len(cells) - len(broken)} of {len(cells)} cells"
    if broken:
        number += f"; not in {', '.join(broken)}"
    return Claim(sentence, not broken if cells else None, number)


def print_claims(report: Report, claims: Iterable[Claim]) -> None:
    """End a report with its claims."""
    lines = [str(claim) for claim in claims]
    if lines:
        report.note("\n".join(["Claims", "", *lines]))
