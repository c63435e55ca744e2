"""A scikit-learn model as an ONNX session."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal

from macex.errors import ModelError, needed
from macex.models.files.opening import opened
from macex.models.kinds.onnx import OnnxScore
from macex.schema import Array, Schema

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
