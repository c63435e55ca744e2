"""A baseline whose search is another program, in a process and an environment of its own.

Every query is put to it as a question of two classes, the goal missed or reached, over the codes of
the row. What it raises, and what takes it too long, is an answer that was not found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import finalize

import numpy as np

from macex.ask.constraints import Constraints
from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.peers.process import Process, Program
from macex.baselines.peers.talk import Talk
from macex.engine.batch import Outcome
from macex.errors import OptionError, closest
from macex.schema import Array
from macex.stages.arrays import alike_lines
from macex.stages.shapes import Pool

UNBOUNDED = 10**9  # the program's own limits hold


class Peer(Baseline):
    """A method that works in another process: it names its `program` and tells it `options`.

    `python` is the interpreter of the environment that has the program; unless given it is the one
    that `make peers` makes, or what MACEX_PEERS names. A query may take `seconds`.
    """

    max_rows = UNBOUNDED
    program: Program

    def __init__(
        self,
        model: Any,
        data: Any,
        options: Mapping[str, Any],
        *,
        seconds: float,
        python: str | None,
        schema: Any,
        constraints: Constraints | Mapping[str, Any] | None,
        classes: Sequence[object] | None,
        names: Mapping[str, str] | None,
        random_state: int,
    ) -> None:
        if not seconds > 0:
            owner = type(self).__name__
            raise OptionError(f"{owner}(seconds=) must be a positive number, not {seconds!r}")
        self.seconds, self.python = float(seconds), self.program.python(python)
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            classes=classes,
            names=names,
            random_state=random_state,
        )
        self._process = Process(self.python, self.program, options)
        finalize(self, self._process.close)
        self._process.warm()

    @property
    def spent(self) -> tuple[float, float]:
        """What explaining has taken inside the process: seconds by the clock, and of the CPU."""
        return self._process.seconds, self._process.cpu

    def close(self) -> None:
        """End the process; it is ended with the explainer, too, but that may be later."""
        self._process.close()

    def details(self, opened: Outcome, first: int, training: Array) -> list[Array]:
        """What else the program must know of the goal of the query `first`."""
        del opened, first, training
        return []

    def offer(self, opened: Outcome) -> Pool:
        """What the program offers, query by query, goal by goal."""
        found = [Pool.empty(opened.task.space.width)]
        asked = np.flatnonzero(open_queries(opened))
        for queries in alike_lines(asked, opened.goals.alike[asked][:, None]):
            talk = Talk(self.fitted, opened, self._process, int(queries[0]), self.details)
            for query in queries.tolist():
                if opened.judge.late:
                    break
                found.append(talk.explained(query, self.seconds))
        return Pool.join(found, opened.task.space.width)


def one_of(owner: str, option: str, value: str, known: Sequence[str]) -> str:
    """The value of an option; an error unless it is one of those known."""
    if value not in known:
        raise OptionError(f"{owner}({option}={value!r}){closest(value, known)}")
    return value
