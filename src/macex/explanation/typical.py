"""What is typical of the changes of one column: a step up or down, or the most frequent pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median
from typing import Any, NamedTuple

from macex.explanation.values import Change

PAIRS = 3


class TypicalStep(NamedTuple):
    """How often a number moves one way, and the median of how far."""

    times: int
    size: Any


class Typical(NamedTuple):
    """The changes of one column: how often, and what they are like.

    `up` and `down` are for numbers and dates; `pairs` are the most frequent changes otherwise, and
    those from or to a missing value. `stretch` is for channels of time series: the median of the
    first and of the last time point that change.
    """

    column: str
    times: int
    up: TypicalStep | None = None
    down: TypicalStep | None = None
    pairs: tuple[tuple[Change, int], ...] = ()
    stretch: tuple[int, int] | None = None


def typical(column: str, changes: Sequence[Change], *, numbers: bool) -> Typical:
    """What is typical of some changes of one column.

    >>> typical("age", [Change("age", 30, 34), Change("age", 30, 32)], numbers=True).up
    TypicalStep(times=2, size=3.0)
    """
    moved = [c for c in changes if numbers and None not in (c.before, c.after) and _movable(c)]
    steps = [change.after - change.before for change in moved]
    others = changes if not moved else [c for c in changes if None in (c.before, c.after)]
    return Typical(
        column,
        len(changes),
        _step([step for step in steps if step > step * 0]),
        _step([-step for step in steps if step < step * 0]),
        tuple(Counter(others).most_common(PAIRS)),
    )


def typical_stretch(channel: str, changes: Sequence[Any]) -> Typical:
    """What is typical of some changes of one channel: when they begin and end.

    >>> from types import SimpleNamespace as Given
    >>> typical_stretch("flow", [Given(start=3, stop=9), Given(start=5, stop=7)]).stretch
    (4, 7)
    """
    first = round(median(change.start for change in changes))
    last = round(median(change.stop - 1 for change in changes))
    return Typical(channel, len(changes), stretch=(first, last))


def _movable(change: Change) -> bool:
    try:
        change.after - change.before
    except TypeError:
        return False
    return True


def _step(sizes: Sequence[Any]) -> TypicalStep | None:
    return TypicalStep(len(sizes), median(sizes)) if sizes else None
