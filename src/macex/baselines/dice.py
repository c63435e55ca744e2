"""DiCE (Mothilal, Sharma, Tan, 2020), through the real dice-ml package in a process of its own.

dice-ml brings its own versions of other libraries, so it runs in a separate environment. Every
query is put to it as a question of two classes, the goal missed or reached, over the codes of the
row. What it raises, and what takes it too long, is an answer that was not found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from weakref import finalize

import numpy as np

from macex.ask.constraints import Constraints
from macex.baselines.baseline import Baseline, open_queries
from macex.baselines.dice_network import network_of
from macex.baselines.dice_process import Process, peers_python
from macex.baselines.dice_talk import Talk
from macex.errors import OptionError, closest
from macex.explainer.fitted import same_goal
from macex.explainer.pipeline import Opened
from macex.stages.shapes import Pool

METHODS = ("random", "genetic", "kdtree", "gradient")
UNBOUNDED = 10**9  # dice-ml's own limits hold


class Dice(Baseline):
    """Mothilal et al. as dice-ml has it: `method` is "random", "genetic", "kdtree" or "gradient".

    `python` is the interpreter of the environment that has dice-ml; unless given it is that of
    the folder `.venv-peers` (made by `make peers`), or what MACEX_PEERS names. A query may take
    `seconds`. "gradient" needs a scikit-learn pipeline of one-hot categories, scaled numbers and an
    MLP of two classes, which is rebuilt as a torch network.
    """

    max_rows = UNBOUNDED

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        method: str = "random",
        seconds: float = 60.0,
        python: str | None = None,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        if method not in METHODS:
            raise OptionError(f"Dice(method={method!r}){closest(method, METHODS)}")
        if not seconds > 0:
            raise OptionError(f"Dice(seconds=) must be a positive number, not {seconds!r}")
        self.name, self.way, self.seconds = f"dice {method}", method, float(seconds)
        self.python = peers_python(python)
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            classes=classes,
            names=names,
            random_state=random_state,
        )
        self._network = network_of(model) if method == "gradient" else None
        self._process = Process(self.python)
        finalize(self, self._process.close)
        self._process.warm(method)

    def offer(self, opened: Opened) -> Pool:
        """What dice-ml offers, query by query, goal by goal."""
        found = [Pool.empty(opened.task.space.width)]
        network = self._network
        for queries in same_goal(opened.goals, np.flatnonzero(open_queries(opened))):
            talk = Talk(self._fitted, opened, self._process, self.way, network, int(queries[0]))
            for query in queries.tolist():
                if opened.judge.late:
                    break
                found.append(talk.explained(query, self.seconds))
        return Pool.join(found, opened.task.space.width)
