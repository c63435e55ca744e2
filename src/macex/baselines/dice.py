"""DiCE (Mothilal, Sharma, Tan, 2020), through the real dice-ml package in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macex.ask.constraints import Constraints
from macex.baselines.dice_network import network_of
from macex.baselines.peers.peer import Peer, one_of
from macex.baselines.peers.process import Program
from macex.engine.batch import Outcome
from macex.schema import Array

METHODS = ("random", "genetic", "kdtree", "gradient")


class Dice(Peer):
    """Mothilal et al. as dice-ml has it: `method` is "random", "genetic", "kdtree" or "gradient".

    `python` is the interpreter of the environment that has dice-ml; unless given it is that of
    the folder `.venv-peers` (made by `make peers`), or what MACEX_PEERS names. A query may take
    `seconds`. "gradient" needs a scikit-learn pipeline of one-hot categories, scaled numbers and an
    MLP of two classes, which is rebuilt as a torch network.
    """

    program = Program("dice", "dice-ml")

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
        self.name = f"dice {one_of('Dice', 'method', method, METHODS)}"
        self._network = network_of(model) if method == "gradient" else None
        super().__init__(
            model,
            data,
            {"method": method},
            seconds=seconds,
            python=python,
            schema=schema,
            constraints=constraints,
            classes=classes,
            names=names,
            random_state=random_state,
        )

    def details(self, opened: Outcome, first: int, training: Array) -> list[Array]:
        """For "gradient" the weights of the caller's network, on dice-ml's inputs."""
        if self._network is None:
            return []
        toward_last = bool(opened.goals.wanted[first, -1])
        return self._network.on(opened.task.space, training, last=toward_last)
