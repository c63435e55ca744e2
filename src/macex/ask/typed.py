"""Goals as people type them: a label, or a goal written as in the library."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from macex.ask.goals import above, any_of, at_least, at_most, below, between, rise_by
from macex.errors import GoalError, closest

CALL = re.compile(r"\s*(\w+)\s*\((.*)\)\s*")
BOUNDS: dict[str, tuple[Callable[..., Any], int]] = {
    "above": (above, 1),
    "at_least": (at_least, 1),
    "at_most": (at_most, 1),
    "below": (below, 1),
    "between": (between, 2),
    "rise_by": (rise_by, 1),
}


def typed_label(text: str, classes: Iterable[object] | None) -> object:
    """A label as the model knows it, from what was typed.

    >>> typed_label("1", (0, 1)), typed_label("yes", None)
    (1, 'yes')
    """
    return next((known for known in classes or () if str(known) == text), text)


def goal_typed(text: str | None, classes: Sequence[object] | None) -> Any:
    """The goal that was typed; None for any other decision.

    >>> goal_typed("at_least(0.7, label=yes)", ("no", "yes")).text
    "score of 'yes' at least 0.7"
    """
    if text is None:
        return None
    call = CALL.fullmatch(text)
    if call is None or text in map(str, classes or ()):
        return typed_label(text, classes)
    name, inside = call[1], [part.strip() for part in call[2].split(",")]
    if name == "any_of":
        return any_of(*(typed_label(part, classes) for part in inside))
    if name not in BOUNDS:
        raise GoalError(f"want has no goal {name!r}{closest(name, [*BOUNDS, 'any_of'])}")
    return _bound(name, inside, classes)


def _bound(name: str, inside: list[str], classes: Sequence[object] | None) -> Any:
    make, count = BOUNDS[name]
    labels = [part.partition("=")[2].strip() for part in inside if part.startswith("label")]
    numbers = [part for part in inside if not part.startswith("label")]
    try:
        bounds = [float(part) for part in numbers]
    except ValueError:
        bounds = []
    if len(bounds) != count or len(labels) > 1:
        shape = ", ".join(["NUMBER"] * count)
        raise GoalError(f"want takes {name}({shape}) or {name}({shape}, label=LABEL)")
    return make(*bounds, label=typed_label(labels[0], classes) if labels else None)
