"""A model with a meter: calls, rows and CPU seconds, counted where the model is called."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


class Metered:
    """A classifier that counts what it is asked; CPU seconds are those of all threads."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self.classes_ = model.classes_
        self.reset()

    def reset(self) -> None:
        """Set the meter to zero."""
        self.calls, self.rows, self.cpu = 0, 0, 0.0

    def predict_proba(self, frame: Any) -> Any:
        """The model's probabilities."""
        return self._timed(self.model.predict_proba, frame)

    def predict(self, frame: Any) -> Any:
        """The model's decisions."""
        return self._timed(self.model.predict, frame)

    def _timed(self, ask: Callable[[Any], Any], frame: Any) -> Any:
        began = time.process_time()
        try:
            return ask(frame)
        finally:
            self.cpu += time.process_time() - began
            self.calls += 1
            self.rows += len(frame)
