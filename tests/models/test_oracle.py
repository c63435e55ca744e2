"""Every kind of answer a model may give is understood; what no model may answer is refused."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LinearRegression
from sklearn.svm import SVC

from macex.errors import ModelError, OptionError
from macex.models.consultation import consult
from macex.models.oracle import NotAScoreError, Oracle

YES = np.array([0.1, 0.4, 0.6, 0.9])
TWO = np.column_stack([1 - YES, YES])
THREE = np.array([[0.2, 0.3, 0.5], [0.6, 0.2, 0.2], [0.1, 0.8, 0.1], [0.3, 0.3, 0.4]])
FRAME = pd.DataFrame({"x": range(4)})


class TorchLike:
    """A tensor: numbers only come out after `detach().cpu()`."""

    def __init__(self, values) -> None:
        self.values = values

    def detach(self):
        return SimpleNamespace(cpu=lambda: self.values)

    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("call detach() first")


def model(classes=None, **methods) -> SimpleNamespace:
    """A model whose methods return what they are given here."""
    told = {} if classes is None else {"classes_": np.array(classes)}
    return SimpleNamespace(**told, **{n: lambda _, v=v: v for n, v in methods.items()})


def asked(given, classes=None):
    oracle, answers = consult(given, FRAME, 4, classes)
    again = oracle(FRAME, 4)
    assert np.array_equal(again.scores, answers.scores)
    assert np.array_equal(again.decision, answers.decision)
    return oracle.outlook, answers


@pytest.mark.parametrize(
    "given",
    [
        TWO,
        TWO.tolist(),
        TWO.astype("float32"),
        pd.DataFrame(TWO),
        TorchLike(TWO),
        YES,
        YES[:, None],
        pd.Series(YES),
        TorchLike(YES),
    ],
    ids=["2", "list", "float32", "frame", "tensor", "(n,)", "(n, 1)", "series", "tensor (n,)"],
)
def test_probabilities_of_two_classes_come_in_many_forms(given):
    outlook, answers = asked(model(classes=["no", "yes"], predict_proba=given))
    assert outlook.classes == ("no", "yes")
    assert outlook.scale == "probabilities"
    assert np.allclose(answers.scores, TWO)
    assert answers.decision.tolist() == [0, 0, 1, 1]


def test_three_columns_are_three_classes():
    outlook, answers = asked(model(classes=[3, 5, 7], predict_proba=THREE))
    assert outlook.classes == (3, 5, 7)
    assert all(type(label) is int for label in outlook.classes)
    assert answers.decision.tolist() == [2, 0, 1, 2]


def test_columns_without_names_are_numbered():
    assert asked(model(predict_proba=THREE))[0].classes == (0, 1, 2)
    assert asked(model(predict_proba=TWO))[0].classes == (0, 1)


def test_one_column_of_probabilities_without_names_is_that_of_yes():
    outlook, answers = asked(model(predict_proba=YES[:, None]))
    assert outlook.classes == (0, 1)
    assert np.allclose(answers.scores, TWO)


def test_names_given_by_the_caller_come_before_the_model_s_own():
    given = model(classes=[0, 1], predict_proba=TWO)
    assert asked(given, classes=("no", "yes"))[0].classes == ("no", "yes")


def test_a_list_of_tables_is_the_last_column_of_each():
    tables = [np.column_stack([1 - column, column]) for column in THREE.T]
    outlook, answers = asked(lambda _: tables)
    assert outlook.classes == (0, 1, 2)
    assert np.allclose(answers.scores, THREE)


def test_a_bare_function_of_one_number_is_a_score():
    outlook, answers = asked(lambda _: np.array([-3.0, 10.0, 20.0, 7.0]))
    assert (outlook.classes, outlook.scale, outlook.width) == (None, "raw", 1)
    assert answers.decision.tolist() == [-1] * 4
    assert answers.scores[:, 0].tolist() == [-3, 10, 20, 7]


def test_a_bare_function_with_two_names_is_the_probability_of_the_second():
    outlook, answers = asked(lambda _: YES, classes=("no", "yes"))
    assert outlook.scale == "probabilities"
    assert np.allclose(answers.scores, TWO)
    outlook, answers = asked(lambda _: YES - 0.5, classes=("no", "yes"))
    assert outlook.scale == "margins"
    assert answers.decision.tolist() == [0, 0, 1, 1]


def test_a_bare_function_of_several_numbers_has_classes():
    assert asked(lambda _: THREE)[0].scale == "probabilities"
    outlook, answers = asked(lambda _: THREE * 9 - 4)
    assert (outlook.scale, outlook.classes) == ("margins", (0, 1, 2))
    assert answers.decision.tolist() == [2, 0, 1, 2]


@pytest.mark.parametrize(
    "given",
    [
        np.array(["b", "a", "c", "a"]),
        np.array([["b"], ["a"], ["c"], ["a"]]),
        pd.Series(list("baca")),
        pd.Series(list("baca"), dtype="category"),
        list("baca"),
    ],
    ids=["array", "(n, 1)", "series", "category", "list"],
)
def test_labels_are_classes_without_scores(given):
    outlook, answers = asked(model(predict=given))
    assert (outlook.classes, outlook.scale) == (("a", "b", "c"), "labels")
    assert answers.decision.tolist() == [1, 0, 2, 0]
    assert answers.scores.sum(axis=1).tolist() == [1] * 4


def test_labels_from_a_tensor_are_labels_too():
    outlook, answers = asked(model(predict=TorchLike(np.array([0, 1, 1, 0]))))
    assert (outlook.classes, outlook.scale) == ((0, 1), "labels")
    assert answers.decision.tolist() == [0, 1, 1, 0]


def test_whole_numbers_are_labels_and_others_scores():
    assert asked(model(predict=np.array([0, 1, 1, 0])))[0].scale == "labels"
    assert asked(model(predict=np.array([True, False, True, True])))[0].classes == (False, True)
    assert asked(model(predict=np.array([0.5, 1.5, 2.0, 3.0])))[0].scale == "raw"
    regressor = LinearRegression().fit(FRAME, [1, 2, 3, 4])
    assert asked(regressor)[0].scale == "raw"


def test_a_signed_margin_belongs_to_two_classes():
    margin = np.array([-2.0, -0.5, 0.5, 3.0])
    for given in (margin, margin[:, None]):
        outlook, answers = asked(model(classes=["no", "yes"], decision_function=given))
        assert outlook.scale == "margins"
        assert answers.scores.tolist() == [[-m, m] for m in margin]
        assert answers.decision.tolist() == [0, 0, 1, 1]


def test_a_margin_per_class_is_a_score_per_class():
    outlook, answers = asked(model(classes=list("abc"), decision_function=THREE * 9))
    assert (outlook.scale, outlook.width) == ("margins", 3)
    assert answers.decision.tolist() == [2, 0, 1, 2]


def test_a_margin_without_classes_is_a_score():
    assert asked(model(decision_function=YES))[0].scale == "raw"


def test_margins_of_pairs_of_classes_leave_the_labels():
    rows, label = make_blobs(60, centers=4, random_state=0)
    machine = SVC(decision_function_shape="ovo").fit(rows, label)
    assert machine.decision_function(rows).shape == (60, 6)
    oracle, answers = consult(machine, rows, 60, None)
    assert oracle.outlook.scale == "labels"
    assert np.array_equal(answers.decision, machine.predict(rows))


REFUSED = {
    "text": np.full((4, 2), "high"),
    "too few": TWO[:3],
    "too many": np.vstack([TWO, TWO]),
    "three-dimensional": TWO[:, :, None],
    "no columns": TWO[:, :0],
    "one number": 0.5,
    "nothing": None,
    "complex": TWO + 1j,
    "three columns": THREE,
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_answer_of_the_wrong_form_is_refused(what):
    with pytest.raises(ModelError):
        consult(model(classes=["no", "yes"], predict_proba=REFUSED[what]), FRAME, 4, None)


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([np.nan, 0.5], "NaN"),
        ([np.inf, 0.5], "infinite"),
        ([0.9, 0.9], "0.9"),
        ([1.5, -0.5], "1.5"),
    ],
)
def test_a_row_that_has_no_probabilities_is_named(row, words):
    bad = TWO.copy()
    bad[2] = row
    with pytest.raises(NotAScoreError, match=words) as fault:
        consult(model(classes=["no", "yes"], predict_proba=bad), FRAME, 4, None)
    assert fault.value.rows.tolist() == [2]


def test_a_label_that_is_no_class_is_refused_by_row():
    with pytest.raises(NotAScoreError, match="'maybe'") as fault:
        consult(model(classes=["no", "yes"], predict=["no", "yes", "no", "maybe"]), FRAME, 4, None)
    assert fault.value.rows.tolist() == [3]


def test_a_model_must_be_able_to_answer():
    with pytest.raises(OptionError, match="predict_proba"):
        consult(object(), FRAME, 4, None)


def test_an_answer_that_changes_its_width_is_refused():
    given = model(classes=["no", "yes"], predict_proba=TWO)
    oracle, _ = consult(given, FRAME, 4, None)
    with pytest.raises(ModelError, match="3 columns, 2"):
        oracle.read(THREE, 4)


@pytest.mark.parametrize(
    ("given", "nothing"),
    [
        (model(predict_proba=TWO), np.zeros((0, 2))),
        (lambda _: YES, np.zeros(0)),
        (model(predict=list("abaa")), np.zeros(0)),
    ],
    ids=["probabilities", "score", "labels"],
)
def test_no_rows_have_no_answers(given, nothing):
    answers = consult(given, FRAME, 4, None)[0].read(nothing, 0)
    assert len(answers.scores) == len(answers.decision) == 0


def decided(threshold: float) -> Oracle:
    given = model(
        classes=["no", "yes"],
        predict_proba=TWO,
        predict=np.where(threshold <= YES, "yes", "no"),
    )
    oracle, answers = consult(given, FRAME, 4, None)
    return oracle.compared(answers)


def test_a_decision_that_agrees_with_the_scores_so_far_is_asked_for_all_the_same():
    oracle = decided(0.5)
    assert oracle.outlook.agrees
    assert oracle.outlook.by_predict
    assert oracle.calls_per_ask == 2


@pytest.mark.parametrize("threshold", [0.3, 0.8])
def test_a_threshold_is_found_between_the_last_no_and_the_first_yes(threshold):
    oracle = decided(threshold)
    assert not oracle.outlook.agrees
    assert oracle.outlook.threshold == pytest.approx({0.3: 0.25, 0.8: 0.75}[threshold])
    assert oracle.calls_per_ask == 2
    assert oracle(FRAME, 4).decision.tolist() == (threshold <= YES).astype(int).tolist()


def test_decisions_that_follow_no_threshold_have_none():
    given = model(classes=["no", "yes"], predict_proba=TWO, predict=["yes", "no", "no", "yes"])
    oracle, answers = consult(given, FRAME, 4, None)
    outlook = oracle.compared(answers).outlook
    assert (outlook.agrees, outlook.threshold) == (False, None)


@pytest.mark.parametrize(("size", "unit"), [(1.0, 1e-6), (1000.0, 1e-3), (1e-4, 1e-10)])
def test_raw_scores_are_compared_in_millionths_of_their_spread(size, unit):
    outlook, _ = asked(lambda _: np.array([0.0, 0.0, 1.0, 1.0]) * size)
    assert outlook.unit == pytest.approx(unit)


def test_a_constant_score_has_a_unit_of_its_size():
    assert asked(lambda _: np.full(4, 5000.0))[0].unit == pytest.approx(1e-2)
    assert asked(lambda _: np.zeros(4))[0].unit == pytest.approx(1e-6)
