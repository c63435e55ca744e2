"""What is claimed of a query: how it ended, what is proved, and why it has no answer.

`diagnosed` finds out which single constraint, if dropped, would give a row an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.rules import kin_of
from macex.engine.batch import BatchOf
from macex.explanation import Counterfactual
from macex.explanation.values import Cost, Over, Status
from macex.schema import Array

if TYPE_CHECKING:
    from macex.ask.constraints import Constraints
    from macex.ask.goals import Goal
    from macex.engine.batch import Outcome
    from macex.engine.fitted import Fitted


def status_of(
    outcome: Outcome, query: int, answers: Sequence[object]
) -> tuple[Status, Over | None]:
    """How a query ended and, where nothing helps, over which values that is proved."""
    if answers:
        return "found", None
    most = int(outcome.task.space.bounds.max_changes[query])
    changeable = int(outcome.task.space.changeable[query].sum())
    judge = outcome.judge
    if query in judge.asker.failed:
        return "not_found", None
    if not np.isfinite(outcome.verdict.progress[query]):
        return "budget", None
    if min(most, changeable) == 0:
        return "none", "all values"
    offering = outcome.found.reachable(query)
    proved, within = outcome.found.proved[query], min(most, changeable, offering)
    if proved and proved >= within:
        return "none", outcome.found.over
    if judge.ran_out[query] or judge.finished[query]:
        return "budget", None
    if outcome.found.tried[query] >= min(most, changeable):
        return "none", "candidates"
    return "not_found", None


def minimal_of(outcome: Outcome, query: int, changes: int) -> tuple[bool, Over | None]:
    """Whether no allowed row with fewer changes reaches the goal, and over which values."""
    if changes <= 1:
        return True, "all values"
    if outcome.found.proved[query] >= changes - 1:
        return True, outcome.found.over
    if outcome.found.tried[query] >= changes - 1:
        return True, "candidates"
    return False, None


def claims_kept(answers: Sequence[Counterfactual]) -> list[Counterfactual]:
    """The answers, without the claim of one that it is minimal where another has fewer changes.

    Fine-tuning may take a change back, by a value between those over which the proof was made.
    """
    least = min((answer.sparsity for answer in answers), default=0)
    return [
        replace(answer, minimal=False) if answer.minimal and answer.sparsity > least else answer
        for answer in answers
    ]


def reason_of(
    outcome: Outcome, query: int, status: Status, over: Over | None, near_score: float | None
) -> str:
    """Why a query has no answer; `near_score` is that of the nearest miss."""
    judge, one = outcome.judge, outcome.example
    goal = outcome.batch.goals[query].text
    if query in judge.asker.failed:
        return str(judge.asker.failed[query])
    force = _in_force(outcome.batch.constraints[query]) + _structured(outcome)
    near = "" if near_score is None else f" The nearest miss scores {near_score:g}."
    if status == "budget":
        spent = "time" if judge.asker.late else f"rows ({int(judge.spent[query])} scored)"
        given = outcome.batch.constraints[query]
        return f"{ran_out(spent, outcome.batch.goals[query], given)}{near}"
    if outcome.checked.fragile[query]:
        robust = outcome.batch.requirements.text
        return f"No {one} that reaches {goal} and {robust} was found.{force}{near}"
    if status == "none" and not outcome.task.max_changes[query]:
        return f"Nothing may change, so {goal} cannot be reached.{force}"
    if status == "none":
        return (
            f"Every allowed combination of {over} was tried and none reaches {goal}.{force}{near}"
        )
    return f"No {one} that reaches {goal} was found; not every combination was tried.{force}{near}"


def _structured(outcome: Outcome) -> str:
    if outcome.fitted.binding is None:
        return ""
    return ' Rows that break the structure of training are left out; structure="ignore" keeps them.'


def ran_out(what: str, goal: Goal, given: Constraints) -> str:
    """The reason for a row whose time or rows ran out."""
    return f"The {what} ran out before {goal.text} was reached.{_in_force(given)}"


def _in_force(given: Constraints) -> str:
    parts = [text for text, _ in given.parts()]
    if not parts:
        return ""
    more = f" and {len(parts) - 6} more" if len(parts) > 6 else ""
    return f" In force: {'; '.join(parts[:6])}{more}."


def notes_of(fitted: Fitted, outcome: Outcome) -> list[tuple[str, ...]]:
    """Notes for each query on relations that are not kept: it breaks them, or they were dropped."""
    batch = outcome.batch
    if fitted.keeping is None or not fitted.keeping.tests:
        return [()] * len(batch)
    texts = [f"{kept.text}: the row itself breaks it" for kept in fitted.keeping.tests]
    broken = fitted.keeping.broken(outcome.task.space.own)
    asked = {id(constraints): constraints for constraints in batch.constraints}
    yielding = {key: kin_of(fitted.binding, one).notes for key, one in asked.items()}
    notes = [yielding[id(constraints)] for constraints in batch.constraints]
    for query in np.flatnonzero(broken.any(axis=1)):
        notes[query] = (*(texts[at] for at in np.flatnonzero(broken[query])), *notes[query])
    return notes


MOST_ROWS = 50_000  # that finding out may cost a query, where the caller sets no limit
LEAST_ROWS = 2  # the query itself, and a change


def diagnosed(
    batch: BatchOf[Any, Any], items: list[Any], explain: Callable[[Any], list[Any]]
) -> list[Any]:
    """Name, for rows without an answer, each single constraint that stands in the way.

    What that costs is counted, and `max_rows` of the question holds for all of it.
    """
    relief: dict[int, list[str]] = {
        i: [] for i, item in enumerate(items) if item.status != "found" and np.isfinite(item.score)
    }
    cut = dict.fromkeys(relief, False)
    cost = {i: items[i].cost for i in relief}
    for text, relaxed in _tests(batch, relief):
        places = np.array([place for place in relaxed if _affordable(batch, items, cost, place)])
        cut |= {place: True for place in relaxed if place not in places}
        if not len(places):
            continue
        trial = _without(batch, places, [relaxed[place] for place in places], cost)
        for place, item in zip(places.tolist(), explain(trial), strict=True):
            if item.status == "found":
                relief[place].append(text)
            cut[place] |= item.status == "budget"
            cost[place] = _sum(cost[place], item.cost)
    return [
        replace(
            item,
            diagnosis=tuple(relief[i]),
            reason=with_relief(item.reason, relief[i], cut=cut[i]),
            cost=cost[i],
        )
        if i in relief
        else item
        for i, item in enumerate(items)
    ]


def _tests(batch: BatchOf[Any, Any], places: Any) -> list[tuple[str, dict[int, Any]]]:
    """Each single constraint in words, and by row what remains of the constraints without it."""
    tests: dict[tuple[int, str], dict[int, Any]] = {}
    for place in places:
        for turn, (text, without) in enumerate(batch.constraints[place].parts()):
            tests.setdefault((turn, text), {})[place] = without
    return [(text, relaxed) for (_, text), relaxed in tests.items()]


def _affordable(
    batch: BatchOf[Any, Any], items: list[Any], cost: dict[int, Cost], place: int
) -> bool:
    """Whether a query can pay for one more try."""
    if batch.question.max_rows is None:
        return cost[place].rows - items[place].cost.rows < MOST_ROWS
    return cost[place].rows + LEAST_ROWS + 1 + batch.requirements.price <= batch.question.max_rows


def _without(
    batch: BatchOf[Any, Any], places: Array, constraints: list[Any], cost: dict[int, Cost]
) -> BatchOf[Any, Any]:
    limited = batch.question.max_rows is not None
    spent = np.array([cost[place].rows for place in places]) if limited else 0
    return replace(
        batch.take(places),
        constraints=constraints,
        question=replace(batch.question, n=1, diagnose=False),
        spent=spent,
    )


def _sum(first: Cost, second: Cost) -> Cost:
    calls, rows, seconds = first
    return Cost(calls + second.calls, rows + second.rows, seconds + second.seconds)


def with_relief(reason: str | None, relief: list[str], *, cut: bool) -> str:
    """A reason for no answer, and the constraints that stand in the way."""
    said = reason or ""
    if not relief and cut:
        return f"{said} Rows or time ran out before every constraint could be tried without."
    if not relief:
        return f"{said} No single constraint, if dropped, would give an answer."
    return f"{said} Dropping one of these would give an answer: {'; '.join(relief)}."
