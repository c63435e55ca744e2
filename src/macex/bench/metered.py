"""A model with a meter: calls, rows and seconds, counted where the model is called."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from macex.models.consultation import original

ASKED = ("predict_proba", "predict")


@dataclass
class ModelMeter:
    """What a model was asked; CPU seconds are those of all threads."""

    calls: int = 0
    rows: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    busy: bool = False
    most: int | None = None  # rows that are answered; whoever asks for more is refused

    def reset(self) -> None:
        """Set the meter to zero."""
        self.calls, self.rows, self.seconds, self.cpu = 0, 0, 0.0, 0.0

    @contextmanager
    def limited(self, most: int | None) -> Iterator[None]:
        """Refuse more rows than `most` from the next reset on."""
        self.most = most
        try:
            yield
        finally:
            self.most = None

    def refuse(self, rows: int) -> None:
        """Raise where so many rows more are more than are answered."""
        if self.most is not None and self.rows + rows > self.most:
            raise OverBudgetError(
                f"the model answers {self.most:,} rows here, and was asked about "
                f"{self.rows + rows:,}"
            )


class OverBudgetError(RuntimeError):
    """The model was asked about more rows than the budget allows."""


class Counted:
    """A method of a model, counted; what the model asks itself is part of the question.

    It looks like the bound method whose place it takes, and travels with the model. While the model
    answers, its own methods are back in their places: it may ask itself as it likes, by keywords.
    """

    def __init__(self, meter: ModelMeter, model: Any, name: str) -> None:
        self.meter, self.__self__, self.__name__ = meter, model, name

    @property
    def __func__(self) -> Any:
        """The function behind it."""
        return original(type(self.__self__), self.__name__)

    def __call__(self, frame: Any) -> Any:
        """The model's answer."""
        meter = self.meter
        if meter.busy:
            return self._answer(frame)
        meter.refuse(len(frame))
        meter.busy = True
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            return self._answer(frame)
        finally:
            meter.busy = False
            meter.seconds += time.perf_counter() - wall
            meter.cpu += time.process_time() - cpu
            meter.calls += 1
            meter.rows += len(frame)

    def _answer(self, frame: Any) -> Any:
        own = vars(self.__self__)
        counted = {name: own.pop(name) for name in ASKED if isinstance(own.get(name), Counted)}
        try:
            return getattr(self.__self__, self.__name__)(frame)
        finally:
            own.update(counted)


def attach(model: Any) -> ModelMeter:
    """Put a meter on a classifier and on the last step of a pipeline, for good.

    The objects stay of their own classes. Whoever holds on to a method of the model from before is
    not counted.
    """
    meter = ModelMeter()
    for part in (model, *(step for _, step in getattr(model, "steps", ())[-1:])):
        for name in ASKED:
            if hasattr(part, name):
                setattr(part, name, Counted(meter, part, name))
    return meter


class PlainModel:
    """A classifier that shows nothing of what it is made of, so that it is asked with frames."""

    def __init__(self, model: Any) -> None:
        self.model, self.classes_ = model, model.classes_

    def predict_proba(self, frame: Any) -> Any:
        """The model's probabilities."""
        return self.model.predict_proba(frame)

    def predict(self, frame: Any) -> Any:
        """The model's labels."""
        return self.model.predict(frame)
