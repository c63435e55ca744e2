"""A model with a meter: calls, rows and seconds, counted where the model is called."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

ASKED = ("predict_proba", "predict")


@dataclass
class Meter:
    """What a model was asked; CPU seconds are those of all threads."""

    calls: int = 0
    rows: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    busy: bool = False

    def reset(self) -> None:
        """Set the meter to zero."""
        self.calls, self.rows, self.seconds, self.cpu = 0, 0, 0.0, 0.0

    def timed(self, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The same question, counted; a question the model asks itself is part of the first."""

        def counted(frame: Any) -> Any:
            if self.busy:
                return ask(frame)
            self.busy = True
            wall, cpu = time.perf_counter(), time.process_time()
            try:
                return ask(frame)
            finally:
                self.busy = False
                self.seconds += time.perf_counter() - wall
                self.cpu += time.process_time() - cpu
                self.calls += 1
                self.rows += len(frame)

        return counted


def attach(model: Any) -> Meter:
    """Put a meter on a classifier, for good. The object stays of its own class.

    Whoever holds on to a method of the model from before is not counted.
    """
    meter = Meter()
    for name in ASKED:
        if hasattr(model, name):
            setattr(model, name, meter.timed(getattr(model, name)))
    return meter
