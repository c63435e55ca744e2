"""MACE as the paper's authors run it: OmniXAI's explainer, in a process of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from macex.ask.constraints import Constraints
from macex.baselines.peers.peer import Peer, one_of
from macex.baselines.peers.process import Program

METHODS = ("rl", "gld")


class OmniXai(Peer):
    """OmniXAI's `MACEExplainer` with its own settings: `method` is "rl" or "gld".

    It can be told which columns stay; of other constraints it knows nothing, and what it may not
    set is put back. `python` and `seconds` are as in `Dice`; its environment is the folder
    `omnixai` in `.venv-peers`.
    """

    program = Program("omnixai", "OmniXAI", room="omnixai")

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        method: str = "rl",
        seconds: float = 60.0,
        python: str | None = None,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        classes: Sequence[object] | None = None,
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        self.name = f"omnixai {one_of('OmniXai', 'method', method, METHODS)}"
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
