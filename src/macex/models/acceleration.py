"""`accelerate`: a model's ONNX twin for the small calls that searches make, where it pays.

A scikit-learn pipeline takes milliseconds for a frame of one row, its ONNX form a fraction of one.
The twin must agree with the model on the training rows and on rows mixed from them; both are timed
at several sizes, and the faster one is asked. The model itself has the final word on every answer.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

import numpy as np

from macex.errors import MacexError, ModelError, needed
from macex.models.consultation import consult
from macex.models.files.opening import opened
from macex.models.kinds import live
from macex.models.kinds.onnx import OnnxScore
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


Numbers = Literal["float", "double"]
TREES = (
    ("xgboost", "XGBoost", "convert_xgboost", "XGB"),
    ("lightgbm", "LightGbm", "convert_lightgbm", "LGBM"),
)
OPSETS = {"": 18, "ai.onnx.ml": 3}


def onnx_twin(model: Any, schema: Schema, numbers: Numbers) -> Callable[[Any], Array]:
    """A function of a frame that gives the scores of `model`, by ONNX, with floats or doubles."""
    if not hasattr(model, "get_params"):
        raise ModelError("only scikit-learn estimators and pipelines have an ONNX form")
    _register()
    classifier = hasattr(model, "predict_proba") or hasattr(model, "decision_function")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about versions, not about the model
        made = needed("skl2onnx", "onnx").convert_sklearn(
            model if numbers == "float" else _narrowed(model),
            initial_types=_inputs(model, schema, numbers),
            options=_options(model) if classifier else None,
            target_opset=OPSETS,
        )
    session = opened(made.SerializeToString(), "onnx")
    outputs = [output.name for output in session.get_outputs()]
    return OnnxScore(session, outputs[1] if classifier else outputs[0])


def _narrowed(model: Any) -> Any:
    """A pipeline that hands floats to its last step, as trees make of doubles themselves."""
    if not hasattr(model, "steps"):
        return model
    narrow = needed("skl2onnx.sklapi", "onnx").CastTransformer()
    return type(model)([*model.steps[:-1], ("narrow", narrow), model.steps[-1]])


def _options(model: Any) -> dict[Any, Any]:
    """Scores as a table; without probabilities, the raw scores of the last step."""
    if hasattr(model, "predict_proba"):
        return {"zipmap": False}
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    return {id(last): {"raw_scores": True}}


def _inputs(model: Any, schema: Schema, numbers: Numbers) -> list[tuple[str, Any]]:
    """One input per column for pipelines of frames, one matrix for all else."""
    types = needed("skl2onnx.common.data_types", "onnx")
    number = types.FloatTensorType if numbers == "float" else types.DoubleTensorType
    texts = [column.storage.numbers.kind == "O" for column in schema.frame_columns]
    times = [column.name for column in schema.frame_columns if column.kind == "datetime"]
    if times:
        raise ModelError(f"column {times[0]!r} holds times, which ONNX does not have")
    by_name = schema.library != "numpy" and hasattr(model, "steps")
    if not by_name:
        if any(texts):
            raise ModelError(f"column {schema.frame_names[texts.index(True)]!r} holds text")
        return [("rows", number([None, len(schema.frame_columns)]))]
    kinds = {True: types.StringTensorType, False: number}
    return [
        (column.name, kinds[text]([None, 1]))
        for column, text in zip(schema.frame_columns, texts, strict=True)
    ]


def _register() -> None:
    """Teach the converter the trees of other libraries, as far as they are installed."""
    register = needed("skl2onnx", "onnx").update_registered_converter
    shapes = needed("skl2onnx.common.shape_calculator", "onnx")
    for library, where, how, name in TREES:
        if find_spec(library) is None or find_spec("onnxmltools") is None:
            continue
        kinds = import_module(library)
        way = getattr(
            import_module(f"onnxmltools.convert.{library}.operator_converters.{where}"), how
        )
        register(
            getattr(kinds, f"{name}Classifier"),
            f"{where}{name}Classifier",
            shapes.calculate_linear_classifier_output_shapes,
            way,
            options={"nocl": [True, False], "zipmap": [True, False, "columns"]},
        )
        register(
            getattr(kinds, f"{name}Regressor"),
            f"{where}{name}Regressor",
            shapes.calculate_linear_regressor_output_shapes,
            way,
        )
