"""The goals of many rows: a few distinct goals, and which of them each row has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from macex.ask.answers import Answers, Goals, Outlook, compile_goals
from macex.ask.goals import AnyOf, Goal, resolve
from macex.device.arrays import Array, place_of
from macex.errors import GoalError
from macex.schema import Array as HostArray


class Wanted(NamedTuple):
    """The goals of some rows."""

    number: Array  # (n,) int: which goal each row has
    classes: list[HostArray]  # for each goal the wanted classes, (K,) bool


def wanted_of(want: Any, decision: Array, outlook: Outlook) -> Wanted:
    """The goals of rows from what a caller may pass as `want=`, and what the model decides now.

    Goal k < K is any class but k; those that name labels come after these.
    """
    place, count = place_of(decision), int(decision.shape[0])
    alone = isinstance(want, (AnyOf, str, bytes)) or not hasattr(want, "__len__")
    goals = resolve(want, 1 if alone else count)
    named = _named(goals)
    number: dict[Goal, int] = {goal: outlook.width + at for at, goal in enumerate(named)}
    each = place.array(np.array([number.get(goal, -1) for goal in goals], dtype=np.int64))
    classes = list(~np.eye(outlook.width, dtype=bool))
    if named:
        classes += list(compiled(named, outlook, 0.0).wanted)
    return Wanted(place.xp.where(each < 0, decision, each), classes)


def _named(goals: Sequence[Goal]) -> list[AnyOf]:
    """The distinct goals that name labels."""
    found: list[AnyOf] = []
    for goal in dict.fromkeys(goals):
        if not isinstance(goal, AnyOf):
            raise GoalError(
                f"{goal.text} is a goal that a device cannot search for: ask for classes, or use "
                "explainer.explain"
            )
        if goal.labels is not None:
            found.append(goal)
    return found


def compiled(goals: Sequence[AnyOf], outlook: Outlook, margin: float) -> Goals:
    """Goals that name labels, as the explainer knows them."""
    own = Answers(np.zeros((len(goals), outlook.width)), np.zeros(len(goals), int))
    return compile_goals(goals, own, outlook, margin)


def toward(classes: HostArray, outlook: Outlook, margin: float) -> Goals:
    """One goal, as the explainer knows it: the model decides for one of the classes (K,) bool."""
    labels = outlook.classes or ()
    chosen = tuple(label for label, wanted in zip(labels, classes, strict=True) if wanted)
    return compiled([AnyOf(chosen)], outlook, margin)
