"""What a report says of the question behind it: the goal, what may change, and which model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from macex.ask.goals import Goal, goal_told
from macex.engine.engine import EngineOf
from macex.engine.recorder import fingerprint
from macex.render.results import Facts

FEW = 12  # letters of a hash that people compare
EACH = "one for each row"
ANY = "any other decision"


def facts_about(
    engine: EngineOf[Any, Any, Any, Any],
    want: Any,
    constraints: Any,
    mark: Callable[[Any], str] = fingerprint,
) -> Facts:
    """The facts of a question, in words; `mark` hashes engines."""
    return {
        "want": ANY if want is None else _goal(engine, want),
        "constraints": _limits(engine, constraints),
        "model": mark(engine)[:FEW],
    }


def _goal(engine: EngineOf[Any, Any, Any, Any], want: Any) -> str:
    if isinstance(want, Iterable) and not isinstance(want, str | bytes):
        return EACH
    return goal_told(engine.goals(want, 1)[0]) if isinstance(want, Goal) else str(want)


def _limits(engine: EngineOf[Any, Any, Any, Any], constraints: Any) -> str:
    if constraints is not None and not isinstance(constraints, type(engine.constraints) | Mapping):
        return EACH
    return "; ".join(text for text, _ in engine.merged(constraints).parts()) or "everything"
