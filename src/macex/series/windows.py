"""One long series cut into cases, and several numbers a case made one score."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from macex.errors import OptionError, SchemaError, require_count
from macex.schema import Array

WAYS: dict[str, Callable[..., Array]] = {"mean": np.mean, "max": np.max, "min": np.min}


class Windows(NamedTuple):
    """Cases (n, channels, length) cut from a series, and the position where each begins."""

    cases: Array
    starts: Array


def windows(series: Any, length: int, step: int | None = None) -> Windows:
    """Cut a long series (channels, time), or (time,), into cases of a length, `step` apart.

    By default windows do not overlap; what is left at the end is not a case. Cases are views of the
    series, so that overlapping ones take no room.

    >>> cut = windows(np.arange(10.0), length=4, step=3)
    >>> cut.cases.shape, cut.starts.tolist()
    ((3, 1, 4), [0, 3, 6])
    """
    values = np.asarray(series)
    values = values[None] if values.ndim == 1 else values
    if values.ndim != 2:
        raise SchemaError(f"a series is (channels, time) or (time,), not of shape {values.shape}")
    length = require_count("windows(length=)", length)
    step = length if step is None else require_count("windows(step=)", step)
    if length > values.shape[1]:
        raise OptionError(f"length={length}: the series has {values.shape[1]} time points")
    view = np.lib.stride_tricks.sliding_window_view(values, length, axis=1)[:, ::step]
    starts = np.arange(view.shape[1]) * step
    return Windows(view.transpose(1, 0, 2), starts)


class StepScore:
    """A model that gives a number for every step of a case, as one score for a goal.

    The steps are those of a forecast, or the time points that a detector of anomalies scores. `of`
    is `"mean"`, `"max"`, `"min"` or the position of one step. Any step above 5 is
    `StepScore(model, "max")` with the goal `above(5)`, every step is `"min"`. `call` names the
    method of the model, if it is not `predict`, e.g. `"decision_function"`.

    >>> forecast = lambda cases: cases[:, 0, -3:] + 1
    >>> StepScore(forecast, "max")(np.arange(8.0).reshape(1, 1, 8)).tolist()
    [8.0]
    """

    def __init__(self, model: Any, of: str | int = "mean", call: str = "predict") -> None:
        if isinstance(of, bool) or not (isinstance(of, int) or of in WAYS):
            known = ", ".join(map(repr, WAYS))
            raise OptionError(f"of={of!r}: {known}, or the position of a step")
        asked: Any = getattr(model, call, None) or (model if callable(model) else None)
        if asked is None:
            raise OptionError(f"the model has no {call}(...) and is no function of cases")
        self.model, self.of, self._asked = model, of, asked

    def __call__(self, cases: Any) -> Array:
        """One number for every case."""
        steps = np.asarray(self._asked(cases), dtype=float)
        if steps.ndim == 1:
            return steps
        if steps.shape[0] != len(cases):
            raise SchemaError(
                f"the model gave numbers of shape {steps.shape} for {len(cases)} cases"
            )
        steps = steps.reshape(len(steps), -1)
        if isinstance(self.of, int):
            if not -steps.shape[1] <= self.of < steps.shape[1]:
                raise OptionError(f"of={self.of}: the model gives {steps.shape[1]} steps")
            return steps[:, self.of]
        return np.asarray(WAYS[self.of](steps, axis=1))
