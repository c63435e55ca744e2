"""Why an answer is among several: what it is the best in, or that it changes other columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, TypeVar

from macex.metrics import undominated

Why = Literal["fewest", "nearest", "plausible", "surest", "other columns"]
OTHER: Why = "other columns"
LOW: dict[Why, Callable[[Any], float]] = {  # the lower, the better
    "fewest": lambda found: found.sparsity,
    "nearest": lambda found: found.distance,
    "plausible": lambda found: -(found.plausibility or 0.0),
    "surest": lambda found: -(found.score if found.robustness is None else found.robustness),
}
FoundT = TypeVar("FoundT")


def whys(found: Sequence[Any]) -> tuple[Why | None, ...]:
    """Why each of several counterfactuals is there, best first; None where there is one.

    The first is the best in what comes first; each other one in what no other is as good in.
    """
    if len(found) < 2:
        return (None,) * len(found)
    return tuple(_why(found, place) for place in range(len(found)))


def _why(found: Sequence[Any], place: int) -> Why:
    for name, cost in LOW.items():
        mine, others = cost(found[place]), [cost(one) for one in found if one is not found[place]]
        if mine < min(others) or (place == 0 and mine == min(others)):
            return name
    return OTHER


def with_whys(found: Sequence[FoundT]) -> tuple[FoundT, ...]:
    """The counterfactuals, each of which knows why it is there."""
    made: list[Any] = [
        one if one.why == why else replace(one, why=why)
        for one, why in zip(list[Any](found), whys(found), strict=True)
    ]
    return tuple(made)


def front(found: Sequence[Any]) -> tuple[Any, ...]:
    """The counterfactuals than which no other is better in one respect and as good in the rest."""
    best = undominated([[cost(one) for cost in LOW.values()] for one in found])
    return tuple(one for one, kept in zip(found, best, strict=True) if kept)
