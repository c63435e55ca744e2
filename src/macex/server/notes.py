"""What the log line of a request says besides its route."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

NOTED: ContextVar[dict[str, Any] | None] = ContextVar("noted", default=None)
"""The notes of the request that is being answered, by all threads that answer it."""
PLAIN = ("n", "max_rows", "timeout_s", "margin", "diagnose", "robust", "reach")
NAMED = ("method", "prefer", "structure", "also")


def note(parts: Mapping[str, Any]) -> None:
    """Let the log line of the present request say this, too."""
    noted = NOTED.get()
    if noted is not None:
        noted.update(parts)


def gist(
    options: Mapping[str, Any], want: Any, constraints: Any, filtered: Any = None
) -> dict[str, Any]:
    """A question without what may be personal: which goal and which constraints, not their values.

    >>> gist({"n": 2, "robust": None}, {"kind": "rise_by", "by": 0.1}, {"fixed": ["age"]})
    {'n': 2, 'goal': 'rise_by', 'constraints': ['fixed']}
    """
    said = {part: options[part] for part in (*PLAIN, *NAMED) if options.get(part)}
    goals = {_goal(one) for one in (want if isinstance(want, list) else [want])}
    said["goal"] = ", ".join(sorted(goals))
    each = constraints if isinstance(constraints, list) else [constraints]
    parts = sorted({str(part) for one in each if isinstance(one, Mapping) for part in one})
    if parts:
        said["constraints"] = parts
    if isinstance(filtered, Mapping) and any(filtered.values()):
        said["filter"] = sorted(part for part, value in filtered.items() if value)
    return said


def _goal(want: Any) -> str:
    if want is None:
        return "any other"
    if isinstance(want, Mapping):
        return str(want.get("kind"))
    return getattr(want, "kind", None) or (
        "label" if isinstance(want, str | int | float) else "goal"
    )
