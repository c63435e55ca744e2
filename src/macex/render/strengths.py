"""Why an answer is among several: what it is the best in, or that it changes other columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from macex.metrics import undominated

OTHER = "other columns"
LOW: dict[str, Callable[[Any], float]] = {  # the lower, the better
    "fewest changes": lambda found: found.sparsity,
    "nearest": lambda found: found.distance,
    "most plausible": lambda found: -(found.plausibility or 0.0),
    "surest": lambda found: -(found.score if found.robustness is None else found.robustness),
}


def strengths(found: Sequence[Any]) -> tuple[str, ...]:
    """Why each of several counterfactuals is there, best first; nothing where there is one.

    The first is the best in what comes first; each other one in what no other is as good in.
    """
    if len(found) < 2:
        return ("",) * len(found)
    return tuple(_strength(found, place) for place in range(len(found)))


def _strength(found: Sequence[Any], place: int) -> str:
    for name, cost in LOW.items():
        mine, others = cost(found[place]), [cost(one) for one in found if one is not found[place]]
        if mine < min(others) or (place == 0 and mine == min(others)):
            return name
    return OTHER


def front(found: Sequence[Any]) -> tuple[Any, ...]:
    """The counterfactuals than which no other is better in one respect and as good in the rest."""
    best = undominated([[cost(one) for cost in LOW.values()] for one in found])
    return tuple(one for one, kept in zip(found, best, strict=True) if kept)
