"""Why an answer is among several: what it is the best in, or that it changes other columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from macex.ask.goals import AnyOf, Goal, inside
from macex.metrics import undominated

Why = Literal["fewest", "nearest", "plausible", "surest", "other columns"]
OTHER: Why = "other columns"
DECISION = AnyOf()
FoundT = TypeVar("FoundT")
Costs = Mapping[Why, Callable[[Any], float]]  # the lower, the better


def costs(goal: Goal) -> Costs:
    """What counterfactuals are compared by; which of them is surest depends on the goal."""

    def surest(found: Any) -> float:
        sure = inside(goal, found.score) if found.robustness is None else found.robustness
        return -float(sure)

    return {
        "fewest": lambda found: found.sparsity,
        "nearest": lambda found: found.distance,
        "plausible": lambda found: -(found.plausibility or 0.0),
        "surest": surest,
    }


def whys(found: Sequence[Any], goal: Goal = DECISION) -> tuple[Why | None, ...]:
    """Why each of several counterfactuals is there, best first; None where there is one.

    The first is the best in what comes first; each other one in what no other is as good in.
    """
    if len(found) < 2:
        return (None,) * len(found)
    compared = costs(goal)
    return tuple(_why(found, place, compared) for place in range(len(found)))


def _why(found: Sequence[Any], place: int, compared: Costs) -> Why:
    for name, cost in compared.items():
        mine, others = cost(found[place]), [cost(one) for one in found if one is not found[place]]
        if mine < min(others) or (place == 0 and mine == min(others)):
            return name
    return OTHER


def with_whys(found: Sequence[FoundT], goal: Goal) -> tuple[FoundT, ...]:
    """The counterfactuals, each of which knows why it is there."""
    made: list[Any] = [
        one if one.why == why else replace(one, why=why)
        for one, why in zip(list[Any](found), whys(found, goal), strict=True)
    ]
    return tuple(made)


def front(found: Sequence[Any], goal: Goal = DECISION) -> tuple[Any, ...]:
    """The counterfactuals than which no other is better in one respect and as good in the rest."""
    compared = costs(goal).values()
    best = undominated([[cost(one) for cost in compared] for one in found])
    return tuple(one for one, kept in zip(found, best, strict=True) if kept)
