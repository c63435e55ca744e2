"""What is said between an explainer and a program in another process, in codes by unit.

The programs know no missing numbers; some keep numbers in single precision and round them. So a
missing number is put to them as the column's median, and a value that comes back as it went is the
query's own again.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from macex.ask.units import Unit, unit_codes
from macex.baselines.baseline import lawful
from macex.baselines.peers.process import Process, Refused, TookTooLong
from macex.schema import Array, special
from macex.stages.shapes import Pool

if TYPE_CHECKING:
    from macex.engine.batch import Outcome
    from macex.engine.fitted import Fitted

DECIMALS = 6  # of numbers without a grid
Details = Callable[["Outcome", int, Array], list[Array]]


@dataclass
class Talk:
    """The conversation about queries that share the goal of the query `first`.

    `details` gives what else a program needs to know of a goal.
    """

    fitted: Fitted
    opened: Outcome
    process: Process
    first: int
    details: Details

    @property
    def units(self) -> tuple[Unit, ...]:
        """The columns of the program's table."""
        return self.opened.task.space.units

    def explained(self, query: int, seconds: float) -> Pool:
        """The rows offered for a query; a failure becomes the reason why there are none."""
        task, title = self.opened.task, self.process.program.title
        try:
            head = {"goal": self._prepared(), "n": task.count, "seed": self._seed(query)}
            (rows,) = self.process.request(
                {"do": "explain", **head, **self._constraints(query)},
                _filled(self.units, task.queries[query][None])[0],
                answer=lambda rows: self._scored(rows, query),
                seconds=self._left(seconds),
            )
        except TookTooLong:
            if self.opened.judge.late:
                return Pool.empty(len(self.units))
            return self._failed(query, f"{title} took longer than {seconds:g} s")
        except Refused as error:
            return self._failed(query, f"{title} gave up: {error}")
        at = np.full(len(rows), query)
        return Pool(at, lawful(task, self._codes(rows, query), at), np.zeros(len(rows)))

    def _left(self, seconds: float) -> float:
        """The time a query has, within that of the call."""
        deadline = self.opened.judge.asker.deadline
        return seconds if deadline is None else min(seconds, deadline - time.monotonic())

    def _prepared(self) -> str:
        """Tell the process of the training rows and of the goal, unless it knows them.

        What a program asks of the model on the way is at nobody's expense.
        """
        goal = self.opened.goals.signature(self.first).hex()
        names = tuple(unit.name for unit in self.units)
        training = _filled(self.units, unit_codes(self.units, self.fitted.ground.codes))
        if self.process.table != names:
            head = {"do": "open", "columns": names}
            self._setup({**head, "precision": self._precision()}, training)
            self.process.table = names
        if goal not in self.process.goals:
            meets = np.zeros(len(training), int)
            meets[self.fitted.meeting(self.opened.goals, self.first)] = 1
            more = self.details(self.opened, self.first, training)
            self._setup({"do": "goal", "goal": goal, "seed": self._seed(self.first)}, meets, *more)
            self.process.goals.add(goal)
        return goal

    def _setup(self, head: dict[str, Any], *arrays: Array) -> None:
        self.process.request(head, *arrays, answer=self._free, seconds=None)

    def _precision(self) -> dict[str, int]:
        """The decimals of every column of numbers."""
        columns = self.fitted.ground.schema.columns
        return {
            unit.name: columns[unit.members[0]].decimals if unit.step else DECIMALS
            for unit in self.units
            if not unit.discrete
        }

    def _constraints(self, query: int) -> dict[str, Any]:
        """What may vary, and within what, as far as a program can be told."""
        space = self.opened.task.space
        changeable = space.changeable[query]
        vary = [unit.name for unit, may in zip(self.units, changeable, strict=True) if may]
        ranges = {
            unit.name: limits
            for place, unit in enumerate(self.units)
            if changeable[place] and (limits := self._limits(query, place)) is not None
        }
        return {"vary": vary, "ranges": ranges}

    def _limits(self, query: int, place: int) -> list[Any] | None:
        """The categories or the range that constraints leave a column; None if all of it."""
        space, unit = self.opened.task.space, self.units[place]
        if unit.discrete:
            own = float(space.queries[query, place])
            ok = space.admits_one(np.full(len(unit.seen), query), place, unit.seen)
            if (ok | (unit.seen == own)).all():
                return None
            return [str(code) for code in sorted({*unit.seen[ok].tolist(), own})]
        column = unit.members[0]
        low = max(unit.low, float(space.bounds.floor[query, column]))
        high = min(unit.high, float(space.bounds.ceiling[query, column]))
        return None if (low, high) == (unit.low, unit.high) else [low, high]

    def _scored(self, rows: Array, query: int) -> Array:
        """The chance of the goal, at the query's expense; a row that was not scored has none."""
        codes, at = self._codes(rows, query), np.full(len(rows), query)
        chance: Array = expit(self.opened.judge(codes, at, probe=True).progress)
        return chance

    def _free(self, rows: Array) -> Array:
        codes, at = self._codes(rows, self.first), np.full(len(rows), self.first)
        answers, _ = self.opened.judge.asker(self.opened.task.space.columns(codes, at), at)
        chance: Array = expit(self.opened.goals.judge(answers, at).progress)
        return chance

    def _codes(self, rows: Array, query: int) -> Array:
        """A program's rows as codes: numbers on their grid, what it did not touch as it was."""
        space = self.opened.task.space
        own = space.queries[query]
        codes = np.array(rows, dtype=float)
        for place, unit in enumerate(self.units):
            if not unit.discrete:
                codes[:, place] = space.snap(place, codes[:, place])
        sent = _filled(self.units, own[None])
        return np.where(rows.astype(np.float32) == sent.astype(np.float32), own, codes)

    def _failed(self, query: int, said: str) -> Pool:
        self.opened.judge.asker.failed[query] = said
        return Pool.empty(len(self.units))

    def _seed(self, query: int) -> int:
        return int(self.opened.task.draws.rows[query] % 2**32)


def _filled(units: tuple[Unit, ...], codes: Array) -> Array:
    """Rows by unit with medians in the place of missing numbers."""
    found = codes.copy()
    for place, unit in enumerate(units):
        odd = special(found[:, place])
        if not unit.discrete and odd.any():
            found[odd, place] = (
                np.median(np.repeat(unit.seen, unit.counts)) if len(unit.seen) else 0
            )
    return found
