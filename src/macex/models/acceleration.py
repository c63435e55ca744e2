"""`accelerate`: a model's ONNX twin for the small calls that searches make, where it pays.

A scikit-learn pipeline takes milliseconds for a frame of one row, its ONNX form a fraction of one.
The twin must agree with the model on the training rows and on rows mixed from them; both are timed
at several sizes, and the faster one is asked. The model itself has the final word on every answer.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from macex.errors import MacexError, ModelError
from macex.models.consultation import consult
from macex.models.conversion import onnx_twin
from macex.models.kinds import live
from macex.models.oracle import Oracle
from macex.models.quick import Quick, Report
from macex.schema import Array, Rows, Schema

SIZES = (1, 16, 128, 1024, 8192)
CHECKED = 5000
CLOSE = 1e-4
ENOUGH_S = 0.2


def accelerate(model: Any, data: Any, *, classes: Sequence[object] | None = None) -> Any:
    """The model with an ONNX twin that is asked where it is faster, or the model with a warning.

    Parameters
    ----------
    model : a scikit-learn estimator or pipeline, XGBoost and LightGBM steps included.
    data : the rows it was trained on, as they are given to `Explainer`.
    classes : as for `Explainer`.

    The result goes where the model would go. Its `report` says what was gained.
    """
    schema = Schema.infer(data)
    rows = schema.read(data)
    sample = np.unique(np.linspace(0, len(rows) - 1, CHECKED).astype(int))
    frame = schema.frame(rows.codes[sample], rows, sample)
    oracle, _ = consult(model, frame, len(sample), classes)
    try:
        twin, difference = _agreeing(live(model), schema, oracle, _mixed(schema, rows, sample))
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001 - converters fail in every way there is
        return _fallback(model, _first_line(error))
    report = _timed(oracle, twin, frame, difference)
    if not any(map(report.pays, report.sizes)):
        return _fallback(model, "its ONNX form is not faster at any size")
    whole = frozenset(column.name for column in schema.frame_columns if not column.missing)
    return Quick(model, twin, whole, report)


def _agreeing(
    model: Any, schema: Schema, oracle: Oracle, frames: list[Any]
) -> tuple[Callable[[Any], Array], float]:
    """A twin that agrees with the model, and how far they differ: of floats, or else of doubles.

    Floats are faster. Numbers that were rounded to them may fall on the other side of a split.
    """
    twin = onnx_twin(model, schema, "float")
    difference = _difference(oracle, twin, frames)
    if difference > CLOSE * oracle.outlook.spread:
        twin = onnx_twin(model, schema, "double")
        difference = _difference(oracle, twin, frames)
    if difference > CLOSE * oracle.outlook.spread:
        raise ModelError(f"the scores of its ONNX form differ by up to {difference:.2g}")
    return twin, difference


def _fallback(model: Any, why: str) -> Any:
    warnings.warn(f"{type(model).__name__} is asked as it is: {why}", stacklevel=3)
    return model


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else repr(error)


def _mixed(schema: Schema, rows: Rows, sample: Array) -> list[Any]:
    """The training rows, and as many with each column shuffled by itself, as searches mix them."""
    codes = rows.codes[sample]
    draw = np.random.default_rng(0)
    shuffled = np.column_stack([draw.permutation(column) for column in codes.T])
    return [schema.frame(codes, rows, sample), schema.frame(shuffled)]


def _difference(oracle: Oracle, twin: Callable[[Any], Any], frames: list[Any]) -> float:
    """The largest difference between the scores of the model and of its twin."""
    largest = 0.0
    for frame in frames:
        count = len(frame)
        scores = oracle.read(oracle.ask(frame), count).scores
        try:
            others = oracle.read(twin(frame), count).scores
        except MacexError as error:
            raise ModelError(f"its ONNX form fails: {error}") from error
        largest = max(largest, float(np.abs(scores - others).max(initial=0.0)))
    return largest


def _timed(oracle: Oracle, twin: Callable[[Any], Any], frame: Any, difference: float) -> Report:
    """Both at every size, the best of a few calls each."""
    sizes, before, after = [], [], []
    for size in SIZES:
        part = frame[np.arange(size) % len(frame)] if isinstance(frame, np.ndarray) else None
        if part is None:
            part = _repeated(frame, size)
        sizes.append(size)
        before.append(_milliseconds(oracle.ask, part))
        after.append(_milliseconds(twin, part))
    return Report("ONNX", tuple(sizes), tuple(before), tuple(after), len(frame), difference)


def _repeated(frame: Any, size: int) -> Any:
    """A frame of `size` rows, taken round and round."""
    at = np.arange(size) % len(frame)
    return frame.iloc[at].reset_index(drop=True) if hasattr(frame, "iloc") else frame[at]


def _milliseconds(ask: Callable[[Any], Any], frame: Any) -> float:
    """The best of five calls, or of as many as fit into a fifth of a second."""
    best, began = np.inf, time.perf_counter()
    for _ in range(5):
        start = time.perf_counter()
        ask(frame)
        now = time.perf_counter()
        best = min(best, now - start)
        if now - began > ENOUGH_S:
            break
    return 1000 * best
