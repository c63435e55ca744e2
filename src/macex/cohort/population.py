"""A population as the engine sees it: rows, their goals, and what may change in each.

The table behind everything here is rows by actions. It is scored in slabs of bounded size, so that
the number of model calls grows with the cells of the table and not with the number of rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.answers import Answers
from macex.ask.compiling import build_space
from macex.ask.goals import compile_goals
from macex.ask.space import Space
from macex.errors import OptionError
from macex.explainer.measuring import measure_of
from macex.models.asking import CHUNK_ROWS, Asker
from macex.models.judge import Judge
from macex.schema import Array, Rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from macex.ask.constraints import Constraints
    from macex.ask.goals import Goal
    from macex.explainer.explainer import Explainer
    from macex.explainer.fitted import Fitted


MOST_CELLS = 16_000_000  # numbers that a block's table of rows by actions may hold
UNLIMITED = np.iinfo(np.int64).max // 2


@dataclass(frozen=True)
class Crowd:
    """Rows and what is asked of them, not yet put to the model."""

    fitted: Fitted
    rows: Rows
    goals: Sequence[Goal]
    constraints: Constraints

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, places: Array) -> Crowd:
        """Some of the rows."""
        goals = [self.goals[place] for place in places]
        return Crowd(self.fitted, self.rows.take(places), goals, self.constraints)

    def blocks(self, actions: int) -> Iterator[tuple[Array, Population]]:
        """The rows in blocks whose tables with so many actions fit into memory."""
        cells = max(1, actions) * max(1, self.rows.codes.shape[1])
        size = max(1, MOST_CELLS // cells)
        for start in range(0, len(self), size):
            places = np.arange(start, min(start + size, len(self)))
            yield places, opened(self if len(places) == len(self) else self.take(places))


@dataclass(frozen=True)
class Population:
    """Rows whose own decisions are known."""

    fitted: Fitted
    space: Space
    judge: Judge
    own: Answers
    there: Array  # (Q,) bool: the goal is reached without a change
    base: Array  # (Q,) progress of the rows as they are

    def __len__(self) -> int:
        return len(self.there)

    def distances(self, codes: Array, at: Array) -> Array:
        """How far rows are from those they were made from, with the caller's weights."""
        return measure_of(self.fitted, self.space)(codes, at)


def crowd(explainer: Explainer, rows: Any, want: Any, constraints: Any) -> Crowd:
    """A caller's rows, with one set of constraints for all of them."""
    read = explainer.schema.read(rows)
    wished = explainer._merged(constraints)  # noqa: SLF001 - the same reading as explain()
    goals = explainer._goals(want, len(read))  # noqa: SLF001 - the same
    return Crowd(explainer._fitted, read, goals, wished)  # noqa: SLF001 - the same


def check_count(option: str, given: Any) -> None:
    """Raise unless an option is a whole number of 1 or more."""
    if isinstance(given, bool) or not isinstance(given, Integral) or int(given) < 1:
        raise OptionError(f"{option} must be a whole number of 1 or more, not {given!r}")


def opened(asked: Crowd) -> Population:
    """Ask the model about the rows themselves."""
    fitted, rows, at = asked.fitted, asked.rows, np.arange(len(asked))
    asker = Asker(fitted.oracle, fitted.ground.schema, rows)
    space = build_space(fitted.ground, rows, [asked.constraints] * len(rows))
    own, _ = asker(rows.codes, at)
    goals = compile_goals(asked.goals, own, fitted.outlook, 1e-6)
    judge = Judge(asker, goals, space, np.full(len(rows), UNLIMITED))
    verdict = goals.judge(own, at)
    there = verdict.reached & space.holds(space.own, at)
    return Population(fitted, space, judge, own, there, verdict.progress)


def slabs(count: int) -> Iterator[Array]:
    """The rows of a table in parts of one model call each."""
    for start in range(0, count, CHUNK_ROWS):
        yield np.arange(start, min(start + CHUNK_ROWS, count))
