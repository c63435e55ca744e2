"""The way to a counterfactual, step by step: what to do first, what follows, and what it takes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pandas as pd

from macex.errors import OptionError, closest
from macex.render.names import Names
from macex.render.sheets import Finding, Grid, Sheet
from macex.render.speech import Speech

AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([^\d\s].*?)?\s*$")


class StepMove(NamedTuple):
    """A column before and after a step."""

    column: str
    before: Any
    after: Any


@dataclass(frozen=True)
class OrderedStep:
    """What is done at once, what follows from it, and how the row stands then.

    `takes` is what it costs, by unit: `{"years": 2.0}`. `plausibility` is that among all training
    rows, whatever their decision.
    """

    moves: tuple[StepMove, ...]
    follows: tuple[StepMove, ...]
    score: float
    label: Any
    plausibility: float | None
    takes: Mapping[str, float]


@dataclass(frozen=True, repr=False)
class Steps(Finding):
    """The steps to a counterfactual, in an order in which every row on the way keeps the rules."""

    score: float
    steps: tuple[OrderedStep, ...]
    names: Names = field(default_factory=dict)

    @property
    def takes(self) -> dict[str, float]:
        """What all steps cost together, by unit."""
        total: dict[str, float] = {}
        for step in self.steps:
            for unit, amount in step.takes.items():
                total[unit] = total.get(unit, 0.0) + amount
        return total

    def to_frame(self) -> pd.DataFrame:
        """One line for each column that a step moves, or that follows from it."""
        heads = ["step", "column", "before", "after", "follows", "score", "label", "plausibility"]
        return pd.DataFrame(
            [
                (turn, *move, follows, step.score, step.label, step.plausibility)
                for turn, step in enumerate(self.steps, 1)
                for moves, follows in ((step.moves, False), (step.follows, True))
                for move in moves
            ],
            columns=heads,
        )

    def sheet(self) -> Sheet:
        """A line for each step."""
        speech, told = Speech(self.names), self.takes
        lines = tuple(
            (
                str(turn),
                _said(step.moves, speech),
                _said(step.follows, speech),
                speech.score(step.score),
                "" if step.plausibility is None else f"{step.plausibility:.2f}",
                amounts(step.takes),
            )
            for turn, step in enumerate(self.steps, 1)
        )
        steps = f"{len(lines)} step{'s' * (len(lines) != 1)}"
        title = f"{steps}, from a score of {speech.score(self.score)}" if lines else "Nothing to do"
        title += f", in {amounts(told)}" if told else ""
        return Sheet(title, (), (Grid("", HEADS, lines),) if lines else ())


HEADS = ("step", "do", "follows", "score", "usual", "takes")


def _said(moves: tuple[StepMove, ...], speech: Speech) -> str:
    return ", ".join(f"{speech.name(one.column)} {' → '.join(speech.change(one))}" for one in moves)


def amounts(takes: Mapping[str, float]) -> str:
    """What something costs, in words.

    >>> amounts({"years": 2.0, "": 500.0}), amounts({"years": 1.0})
    ('2 years and 500', '1 year')
    """
    said = [
        f"{amount:g} {unit.removesuffix('s') if amount == 1 else unit}".strip()
        for unit, amount in takes.items()
    ]
    return " and ".join(said)


@dataclass(frozen=True)
class StepCosts:
    """What steps cost, by column: a number, a text such as "2 years", or a function of both values.

    A number or text is what a change of the column takes, whatever its size.
    """

    given: Mapping[str, Any]

    @classmethod
    def of(cls, given: Any, columns: tuple[str, ...]) -> StepCosts:
        """StepCosts as a caller gives them, checked."""
        if not isinstance(given, Mapping):
            raise OptionError(
                f"costs takes a mapping such as {{'education': '2 years'}}, not {given!r}"
            )
        for name, cost in given.items():
            if name not in columns:
                raise OptionError(f"costs: there is no column {name!r}{closest(name, columns)}")
            if not callable(cost):
                _amount(name, cost)
        return cls(given)

    def __call__(self, moves: tuple[StepMove, ...], paid: set[str]) -> dict[str, float]:
        """What a step takes, by unit; a column of `paid` costs nothing more but by function."""
        takes: dict[str, float] = {}
        for move in moves:
            cost = self.given.get(move.column)
            if cost is None or (move.column in paid and not callable(cost)):
                continue
            paid.add(move.column)
            amount, unit = _amount(move.column, _told(cost, move))
            unit = next((known for known in (unit, f"{unit}s") if known in takes), unit)
            takes[unit] = takes.get(unit, 0.0) + amount
        return takes


def _told(cost: Any, move: StepMove) -> Any:
    if not callable(cost):
        return cost
    function: Callable[[Any, Any], Any] = cost
    try:
        return function(move.before, move.after)
    except Exception as fault:
        raise OptionError(
            f"costs: the function for {move.column!r} failed for {move.before!r} and "
            f"{move.after!r}: {fault}"
        ) from fault


def _amount(column: str, cost: Any) -> tuple[float, str]:
    """A cost as a number and its unit, which is written in the plural."""
    found = AMOUNT.match(cost if isinstance(cost, str) else f"{cost}")
    if found is None or isinstance(cost, bool):
        raise OptionError(
            f"costs: {cost!r} for {column!r} is no cost: give a number that is not negative, or "
            "one with a unit, such as '2 years'"
        )
    unit = found[2] or ""
    if found[1] == "1" and unit in ("year", "month", "week", "day", "hour"):
        unit += "s"
    return float(found[1]), unit
