"""ONNX sessions: inputs are fed by column name or as one matrix; scores are not labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macex.errors import ModelError, closest, needed
from macex.models.files.onnx_graph import checked
from macex.models.kinds.matrix import Matrix, as_numbers
from macex.schema import Array

NUMBERS = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
}
TEXT = "tensor(string)"


@dataclass(frozen=True)
class Feed:
    """What a session takes: one input per column, a single matrix, or cases of more axes."""

    kinds: Mapping[str, str]  # name of the input: its type
    matrix: Matrix | None = None
    cases: bool = False

    def __call__(self, frame: Any) -> dict[str, Any]:
        """The inputs of a session for a frame or an array."""
        if self.cases:
            ((name, kind),) = self.kinds.items()
            return {name: np.asarray(frame).astype(NUMBERS[kind])}
        if self.matrix is not None:
            ((name, kind),) = self.kinds.items()
            return {name: self.matrix(frame).astype(NUMBERS[kind])}
        if isinstance(frame, np.ndarray):
            frame = pd.DataFrame(frame, columns=list(self.kinds))
        labels = {str(label): label for label in frame.columns}
        return {
            name: _input(frame[self._label(name, labels)], name, kind)
            for name, kind in self.kinds.items()
        }

    def _label(self, name: str, labels: Mapping[str, Any]) -> Any:
        spelt = name if name in labels else {_spelt(known): known for known in labels}.get(name)
        if spelt is None:
            raise ModelError(
                f"the ONNX model has an input {name!r}, which is not a column of data"
                f"{closest(name, labels)}"
            )
        return labels[spelt]


class OnnxScore:
    """A session that gives numbers, as a function of a frame."""

    classes_: tuple[object, ...] | None = None

    def __init__(self, session: Any, output: str) -> None:
        self.session = session
        self.feed = feed_of(session)
        self.output = output

    def __call__(self, frame: Any) -> Array:
        """The scores of a frame."""
        (found,) = self.session.run([self.output], self.feed(frame))
        return _table(found)

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "session": content_of(self.session)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, session=session_of(state["session"]))


class OnnxClassifier(OnnxScore):
    """A session that gives labels and scores."""

    def __init__(self, session: Any, label: str, scores: str, classes: Sequence[object]) -> None:
        super().__init__(session, scores)
        self.label = label
        self.classes_ = tuple(classes)

    def decide(self, frame: Any) -> Array:
        """The labels of a frame."""
        (found,) = self.session.run([self.label], self.feed(frame))
        return np.asarray(found).reshape(-1)


def session_of(content: bytes) -> Any:
    """A session for the content of a file, which is looked at before the runtime sees it."""
    runtime = needed("onnxruntime", "onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1  # calls are small: handing work to threads costs more
    options.log_severity_level = 4
    options.add_session_config_entry("session.load_model_format", "ONNX")
    return runtime.InferenceSession(checked(content), options, providers=["CPUExecutionProvider"])


def content_of(session: Any) -> bytes:
    """What a session was made from."""
    content = getattr(session, "_model_bytes", None)
    return Path(session._model_path).read_bytes() if content is None else content  # noqa: SLF001


def of_session(session: Any) -> OnnxScore:
    """What asks a session: it has a label and scores, or scores alone."""
    kinds = {output.name: output.type for output in session.get_outputs()}
    scores = [name for name, kind in kinds.items() if kind.startswith("seq(map")]
    scores += [name for name, kind in kinds.items() if kind in {"tensor(float)", "tensor(double)"}]
    labels = [name for name, kind in kinds.items() if kind in {TEXT, "tensor(int64)"}]
    if not scores:
        raise ModelError(
            f"the ONNX model has no output of scores, only {', '.join(kinds.values())}: "
            "convert it with its probabilities"
        )
    classes = _classes(session) if labels else None
    if classes is None:
        return OnnxScore(session, scores[0])
    return OnnxClassifier(session, labels[0], scores[0], classes)


def feed_of(session: Any) -> Feed:
    """How a session is fed."""
    inputs = session.get_inputs()
    kinds = {one.name: one.type for one in inputs}
    for name, kind in kinds.items():
        if kind not in NUMBERS and kind != TEXT:
            raise ModelError(f"the ONNX model's input {name!r} is a {kind}, which no column can be")
    shape = inputs[0].shape or []
    if len(inputs) == 1 and len(shape) > 2 and kinds[inputs[0].name] in NUMBERS:
        return Feed(kinds, cases=True)
    wide = shape[-1] if shape else None
    if len(inputs) == 1 and wide != 1 and kinds[inputs[0].name] in NUMBERS:
        return Feed(kinds, Matrix(width=wide if isinstance(wide, int) else None))
    return Feed(kinds)


def _spelt(name: str) -> str:
    """A name as converters write it: letters, digits and underscores."""
    return "".join(letter if letter.isalnum() else "_" for letter in name)


def _input(column: Any, name: str, kind: str) -> Array:
    if kind == TEXT:
        values = column.to_numpy().astype(object)
        blank = pd.isna(values)
        if blank.any():
            raise ValueError(f"column {name!r} is missing in a row, and ONNX has no missing text")
        return values.astype(str).astype(object)[:, None]
    numbers = as_numbers(column, name)
    if kind.startswith("tensor(int") and np.isnan(numbers).any():
        raise ValueError(f"column {name!r} is missing in a row, and the input takes integers")
    return numbers.astype(NUMBERS[kind])[:, None]


def _table(found: Any) -> Array:
    """Scores as a table; a list of mappings has one mapping of label to score for each row."""
    if isinstance(found, list):
        return np.array([list(one.values()) for one in found], dtype=float)
    return np.asarray(found, dtype=float)


def _classes(session: Any) -> list[object] | None:
    """The labels a classifier was written with, in the order of its scores."""
    onnx = needed("onnx", "onnx")
    model = onnx.load_from_string(content_of(session))
    constants = {constant.name: constant for constant in model.graph.initializer}
    for node in reversed(model.graph.node):
        for attribute in node.attribute:
            if attribute.name.startswith("classlabels_str") and attribute.strings:
                return [text.decode() for text in attribute.strings]
            if attribute.name.startswith("classlabels_int") and attribute.ints:
                return list(attribute.ints)
        if node.op_type == "ArrayFeatureExtractor" and node.input[0] in constants:
            labels = onnx.numpy_helper.to_array(constants[node.input[0]]).reshape(-1).tolist()
            return [label.decode() if isinstance(label, bytes) else label for label in labels]
    return None
