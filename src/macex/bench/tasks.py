"""A task: the smallest piece of a run that is measured, written down and never done twice."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class BenchTask:
    """What to measure. Tasks of a run are told apart by all of their fields together.

    `kind` names the measurement; `start` to `stop` are positions among a cell's queries; `n` is how
    many counterfactuals are asked for; `point` places a task on a curve.
    """

    kind: str
    dataset: str = ""
    model: str = ""
    method: str = ""
    seed: int = 0
    n: int = 1
    start: int = 0
    stop: int = 0
    point: str = ""

    @property
    def group(self) -> tuple[str, str, int]:
        """Tasks of one group share a fitted model, so one process does them all."""
        return (self.dataset or self.kind, self.model, self.seed)

    @property
    def name(self) -> str:
        """How people read it.

        >>> BenchTask("answers", "adult", "MLP", "default", stop=100).name
        'adult / MLP / default'
        """
        return " / ".join(filter(None, (self.dataset, self.model, self.method, self.point)))


@dataclass(frozen=True, slots=True)
class TaskOutcome:
    """What came of a task: a record for each query (or point), what it cost, or what went wrong.

    `code` is the version of the code that measured it.
    """

    task: BenchTask
    records: list[dict[str, Any]] = field(default_factory=list)
    cost: dict[str, float] = field(default_factory=dict)
    error: str | None = None
    code: str = ""

    def line(self) -> str:
        """One line of JSON."""
        return json.dumps(asdict(self), separators=(",", ":"), allow_nan=True)

    @classmethod
    def read(cls, document: Mapping[str, Any]) -> TaskOutcome:
        """The outcome that a line holds."""
        return cls(**{**document, "task": BenchTask(**document["task"])})
