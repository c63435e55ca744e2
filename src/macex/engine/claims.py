"""What is claimed of a query: how it ended, what is proved, and why it has no answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from macex.ask.precedence import kin_of
from macex.explanation import Counterfactual
from macex.explanation.values import Over, Status

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
    binding = outcome.fitted.binding
    if binding is None or not binding.binding:
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
