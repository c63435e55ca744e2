"""Sessions are fed by name or as a matrix; labels, scores and classes are found in them."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC

import macex as mx
from models.people import GRANTED, NUMBERS, POINTS, TIER, onnx_session, words

skl2onnx = pytest.importorskip("skl2onnx")
runtime = pytest.importorskip("onnxruntime")


def session(model, kind="FloatTensorType", **options):
    types = skl2onnx.common.data_types
    inputs = [("rows", getattr(types, kind)([None, 3]))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = skl2onnx.convert_sklearn(model, initial_types=inputs, **options)
    return runtime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize(
    ("kind", "zipmap"),
    [("FloatTensorType", True), ("FloatTensorType", False), ("DoubleTensorType", False)],
)
@pytest.mark.parametrize("labels", [words(GRANTED), TIER + 5], ids=["text", "numbers"])
def test_classes_and_scores_are_those_of_the_model(labels, zipmap, kind):
    model = LogisticRegression().fit(NUMBERS, labels)
    explainer = mx.Explainer(session(model, kind, options={"zipmap": zipmap}), NUMBERS)
    assert explainer.classes == tuple(model.classes_.tolist())
    found = explainer.explain(NUMBERS.head(5))
    for place, explanation in enumerate(found):
        assert explanation.label == model.predict(NUMBERS.iloc[[place]])[0]
        assert model.predict(explanation.counterfactuals[0].row)[0] != explanation.label


def test_a_network_s_classes_are_found_too():
    model = MLPClassifier((4,), max_iter=20, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(NUMBERS, words(GRANTED))
    made = session(model, options={"zipmap": False})
    assert mx.Explainer(made, NUMBERS).classes == ("granted", "refused")


def test_a_number_is_a_score():
    model = LinearRegression().fit(NUMBERS, POINTS)
    explainer = mx.Explainer(session(model), NUMBERS)
    assert explainer.classes is None
    found = explainer.explain(NUMBERS.head(3), want=mx.between(4, 4.5))
    assert all(3.999 <= model.predict(e.counterfactuals[0].row)[0] <= 4.501 for e in found)


def test_the_label_of_the_session_is_the_decision():
    """Probabilities of support vectors may contradict their decisions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SVC(probability=True, random_state=0).fit(NUMBERS, words(GRANTED))
    made = session(model, options={"zipmap": False})
    found = mx.Explainer(made, NUMBERS).explain(NUMBERS.head(30))
    label = made.run(None, {"rows": NUMBERS.head(30).to_numpy(np.float32)})[0]
    assert [explanation.label for explanation in found] == label.tolist()


def test_an_input_that_is_no_column_is_named():
    made, data, _ = onnx_session()
    with pytest.raises(mx.ModelError, match="an input 'income', which is not a column"):
        mx.Explainer(made, data.rename(columns={"income": "wealth"}))


def test_missing_text_is_the_row_s_fault():
    made, data, _ = onnx_session()
    explainer = mx.Explainer(made, data)
    rows = pd.concat([data.head(1), data.head(1).assign(job=None)])
    found = explainer.explain(rows, on_error="keep")
    assert [explanation.status == "found" for explanation in found] == [True, False]
    assert "'job' is missing" in found[1].reason


def test_an_explainer_of_a_session_can_be_sent():
    made, data, _ = onnx_session()
    explainer = mx.Explainer(made, data)
    sent = pickle.loads(pickle.dumps(explainer))  # noqa: S301 - our own
    rows = data.head(3)
    assert sent.explain(rows).to_json(canonical=True) == explainer.explain(rows).to_json(
        canonical=True
    )


def test_a_model_of_whole_cases_is_fed_with_cases(tmp_path):
    onnx = pytest.importorskip("onnx")
    make, number = onnx.helper, onnx.TensorProto.FLOAT
    graph = make.make_graph(
        [make.make_node("ReduceMean", ["cases", "axes"], ["scores"], keepdims=0)],
        "means",
        [make.make_tensor_value_info("cases", number, [None, 2, 5])],
        [make.make_tensor_value_info("scores", number, [None, 2])],
        [onnx.numpy_helper.from_array(np.array([2]), "axes")],
    )
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 18)])
    model.ir_version = 9
    path = tmp_path / "means.onnx"
    path.write_bytes(model.SerializeToString())
    level = np.arange(20.0)[:, None, None] * np.array([1, -1])[:, None] + np.zeros((20, 2, 5))
    explainer = mx.SeriesExplainer(mx.load_model(path), level, classes=("up", "down"))
    cases = np.array([[[1.0] * 5, [2.0] * 5], [[3.0] * 5, [2.0] * 5]])
    assert [found.label for found in explainer.explain(cases)] == ["down", "up"]
