"""NICE (Brughmans, Leyman, Martens, 2023), through its authors' package in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macex.ask.constraints import Constraints
from macex.baselines.peers.peer import Peer, one_of
from macex.baselines.peers.process import Program

REWARDS = ("sparsity", "proximity", "none")


class Nice(Peer):
    """Brughmans et al. as NICEx has it: `reward` is "sparsity", "proximity" or "none".

    NICE gives one counterfactual and knows no constraints: what it may not change is put back, and
    the row counts if it reaches the goal all the same. `python` and `seconds` are as in `Dice`.
    """

    program = Program("nice", "NICE")

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        reward: str = "sparsity",
        seconds: float = 60.0,
        python: str | None = None,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.name = f"nice {one_of('Nice', 'reward', reward, REWARDS)}"
        super().__init__(
            model,
            data,
            {"optimization": reward},
            seconds=seconds,
            python=python,
            schema=schema,
            constraints=constraints,
            classes=classes,
            names=names,
            random_state=random_state,
        )
