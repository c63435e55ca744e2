"""What is asked: a class, any of several classes, or a score in a band.

A goal is a small value that can be written down, sent and compared. `resolve` turns what a caller
passes as `want=` into one goal per row, `goal_typed` reads a goal as people type it, and
`goal_stated` and `goal_read` write it as JSON and read it again. `Goals` (`answers.py`) holds the
goals of a batch as arrays.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import numpy as np

from macex.errors import LARGEST, GoalError, closest


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The model's own decision is one of these labels; `labels=None` means any but the present one.

    >>> any_of("granted", "review").text
    "'granted' or 'review'"
    """

    labels: tuple[object, ...] | None = None

    @property
    def text(self) -> str:
        """The goal in words."""
        if self.labels is None:
            return "any other decision"
        return " or ".join(repr(_plain(label)) for label in self.labels)


@dataclass(frozen=True, slots=True)
class Band:
    """A score between two bounds, each inclusive unless `open_low` or `open_high`."""

    low: float = -np.inf
    high: float = np.inf
    open_low: bool = False
    open_high: bool = False
    label: object = None

    @property
    def text(self) -> str:
        """The goal in words."""
        return f"score{_of(self.label)} {_band(self)}"


@dataclass(frozen=True, slots=True)
class RiseBy:
    """A score at least `by` higher than the row's own (lower for a negative `by`)."""

    by: float
    label: object = None

    @property
    def text(self) -> str:
        """The goal in words."""
        way = "up" if self.by >= 0 else "down"
        return f"score{_of(self.label)} {way} by {abs(self.by):g}"


@dataclass(frozen=True, slots=True)
class AboveRow:
    """A score above that of another row: `row` is one row, as a frame, a Series or a mapping."""

    row: Any
    label: object = None

    @property
    def text(self) -> str:
        """The goal in words."""
        return f"score{_of(self.label)} above the given row's"


Goal = AnyOf | Band | RiseBy | AboveRow


def goal_told(goal: Goal) -> str:
    """A goal in words, with its labels as people write them.

    >>> goal_told(AnyOf(("yes", "maybe"))), AnyOf(("yes", "maybe")).text
    ('yes or maybe', "'yes' or 'maybe'")
    """
    if isinstance(goal, AnyOf) and goal.labels:
        return " or ".join(map(str, goal.labels))
    return goal.text


def inside(goal: Goal, score: float) -> float:
    """How far a score is inside what a goal asks for, up to a constant: the more, the surer.

    >>> inside(Band(high=90), 85) > inside(Band(high=90), 89), inside(Band(1, 5), 3)
    (True, 2)
    """
    if isinstance(goal, Band):
        return min(score - goal.low, goal.high - score)
    return -score if isinstance(goal, RiseBy) and goal.by < 0 else score


def any_of(*labels: object) -> AnyOf:
    """The model decides for one of `labels`."""
    if not labels:
        raise GoalError("any_of() needs at least one label")
    return AnyOf(labels)


def at_least(bound: float, label: object = None) -> Band:
    """A score of `bound` or more.

    >>> at_least(0.7, label="granted").text
    "score of 'granted' at least 0.7"
    """
    return Band(low=_number(bound), label=label)


def at_most(bound: float, label: object = None) -> Band:
    """A score of `bound` or less."""
    return Band(high=_number(bound), label=label)


def above(bound: float, label: object = None) -> Band:
    """A score strictly above `bound`."""
    return Band(low=_number(bound), open_low=True, label=label)


def below(bound: float, label: object = None) -> Band:
    """A score strictly below `bound`."""
    return Band(high=_number(bound), open_high=True, label=label)


def between(low: float, high: float, label: object = None) -> Band:
    """A score from `low` to `high`, both included."""
    low, high = _number(low), _number(high)
    if low > high:
        raise GoalError(f"between({low:g}, {high:g}) is empty: the first bound is the lower one")
    return Band(low=low, high=high, label=label)


def rise_by(by: float, label: object = None) -> RiseBy:
    """A score at least `by` above the row's own; a negative number asks for a fall."""
    if _number(by) == 0:
        raise GoalError("rise_by(0) asks for nothing: give the rise in units of the score")
    return RiseBy(float(by), label)


def above_row(row: Any, label: object = None) -> AboveRow:
    """A score strictly above that of `row`."""
    return AboveRow(row, label)


def resolve(want: object, count: int) -> list[Goal]:
    """One goal per row from what a caller may pass as `want=`.

    >>> resolve("yes", 2)
    [AnyOf(labels=('yes',)), AnyOf(labels=('yes',))]
    """
    if isinstance(want, Goal):
        return [want] * count
    if want is None or isinstance(want, (str, bytes, bool, int, float, np.generic, date)):
        return [_single(want)] * count
    if isinstance(want, Mapping) or not (isinstance(want, Sequence) or hasattr(want, "__array__")):
        raise GoalError(f"want= takes a label, a goal or one entry per row, not {_type(want)}")
    entries = list(want) if isinstance(want, Sequence) else list(np.asarray(want).tolist())
    if len(entries) != count:
        raise GoalError(
            f"want= has {len(entries)} entries for {count} rows: give one per row, or just one; "
            "for a choice of labels use any_of(...)"
        )
    return [_single(entry) for entry in entries]


def _single(want: object) -> Goal:
    if isinstance(want, Goal):
        return want
    missing = want is None or (isinstance(want, float) and np.isnan(want))
    if not missing and not isinstance(want, (str, bytes, bool, int, float, np.generic, date)):
        raise GoalError(f"want= takes a label or a goal for each row, not {_type(want)} {want!r}")
    return (
        AnyOf(None) if missing else AnyOf((want.item() if isinstance(want, np.generic) else want,))
    )


def _number(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise GoalError(f"a score bound must be a number, not {_type(value)}")
    number = float(value) if abs(value) <= LARGEST or value != value else np.inf  # noqa: PLR0124
    if not np.isfinite(number):
        raise GoalError(f"a score bound must be finite, not {value}")
    return number


def _of(label: object) -> str:
    return "" if label is None else f" of {_plain(label)!r}"


def _band(goal: Band) -> str:
    if np.isinf(goal.high):
        return f"{'above' if goal.open_low else 'at least'} {goal.low:g}"
    if np.isinf(goal.low):
        return f"{'below' if goal.open_high else 'at most'} {goal.high:g}"
    return f"from {goal.low:g} to {goal.high:g}"


def _type(value: object) -> str:
    return type(value).__name__


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


def goal_stated(goal: Goal) -> dict[str, Any]:
    """A goal with every bound to the last digit; a bound that is not there is null.

    >>> goal_stated(RiseBy(0.1, label="yes"))
    {'kind': 'rise_by', 'by': 0.1, 'label': 'yes'}
    """
    if isinstance(goal, AnyOf):
        labels = None if goal.labels is None else [_plain(label) for label in goal.labels]
        return {"kind": "any_of", "labels": labels}
    if isinstance(goal, Band):
        low = None if np.isinf(goal.low) else goal.low
        high = None if np.isinf(goal.high) else goal.high
        open_ends = {"open_low": goal.open_low, "open_high": goal.open_high}
        return {"kind": "band", "low": low, "high": high, **open_ends, "label": _plain(goal.label)}
    if isinstance(goal, RiseBy):
        return {"kind": "rise_by", "by": goal.by, "label": _plain(goal.label)}
    raise GoalError("above_row(...) must be resolved by the explainer first")


def goal_read(document: Mapping[str, Any]) -> Goal:
    """The goal that was stated."""
    parts = {part: value for part, value in document.items() if part != "kind"}
    if document["kind"] == "any_of":
        labels = parts["labels"]
        return AnyOf(None if labels is None else tuple(labels))
    if document["kind"] == "rise_by":
        return RiseBy(**parts)
    low = -np.inf if parts["low"] is None else parts["low"]
    high = np.inf if parts["high"] is None else parts["high"]
    return Band(**{**parts, "low": low, "high": high})


def _plain(label: object) -> object:
    return label.item() if isinstance(label, np.generic) else label
