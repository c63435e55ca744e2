"""An answer in plain language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from macex.ask.goals import AnyOf
from macex.render.values import before_after, score_text, scores, shown


def sentences(explanation: Any) -> list[str]:
    """One sentence for each counterfactual, or one that says why there is none."""
    if not explanation.counterfactuals:
        return [explanation.reason or "No row was found that reaches the goal."]
    return [_sentence(explanation, found) for found in explanation.counterfactuals]


def _sentence(explanation: Any, found: Any) -> str:
    decided = isinstance(explanation.goal, AnyOf)
    if not found.changes:
        return _already(explanation, decided=decided)
    changes = [_clause(change, explanation.names) for change in found.changes]
    condition = f"If {listed(changes)}"
    before, after = scores(explanation.score, found.score)
    if decided:
        label = shown(found.label)
        return f"{condition}, the model would have decided {label} (score {before} → {after})."
    return f"{condition}, the score would have been {after} (now {before})."


def _already(explanation: Any, *, decided: bool) -> str:
    score = score_text(explanation.score)
    if decided:
        return f"The model already decides {shown(explanation.label)} (score {score})."
    return f"The score is already there: {score}."


def _clause(change: Any, names: Mapping[str, str]) -> str:
    before, after = before_after(change.before, change.after)
    return f"{called(change.column, names)} were {after} instead of {before}"


def called(column: str, names: Mapping[str, str]) -> str:
    """What a column is called in front of people.

    >>> called("hours_per_week", {}), called("edu", {"edu": "level of education"})
    ('hours per week', 'level of education')
    """
    return names.get(column, column.replace("_", " "))


def listed(parts: list[str]) -> str:
    """Parts joined as a sentence joins them.

    >>> listed(["a", "b", "c"])
    'a, b and c'
    """
    *first, last = parts
    return f"{', '.join(first)} and {last}" if first else last
