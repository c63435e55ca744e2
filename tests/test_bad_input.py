"""Whatever comes in ends in a clear error or a clear answer, in bounded time."""

from __future__ import annotations

import copy
import io
import json
import pickle
import threading
import zipfile
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.svm import SVC, LinearSVC

import macex as mx

STATUSES = {"found", "none", "not_found", "budget"}
EDUCATION = {"HS": 0.0, "BSc": 1.0, "MSc": 2.0, "PhD": 3.0}
NUMBERS = ["age", "income", "debt"]


def people(count=300, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, count),
            "income": np.round(rng.normal(50, 15, count), 1),
            "debt": np.round(rng.gamma(2, 8, count), 1),
            "edu": rng.choice(list(EDUCATION), count),
            "own": rng.random(count) < 0.5,
        }
    )


def chance(rows):
    """The probability of a yes; an unknown education counts as the lowest."""
    edu = rows["edu"].map(EDUCATION).astype(float).fillna(0.0)
    z = (rows["income"] - 50) / 10 - (rows["debt"] - 16) / 8 + (edu - 1.5) * 0.7
    z = z + (rows["age"] - 50) / 40
    return (1 / (1 + np.exp(-z.fillna(0.0)))).to_numpy()


X = people()
Q = X.head(3)
N = X[NUMBERS].astype(float)
Y = np.where(chance(X) > 0.5, "yes", "no")


def explainer(model=chance, data=X, classes=("no", "yes"), **options):
    return mx.Explainer(model, data, classes=classes, **options)


E = explainer()


def broken_promises(found, predict):
    """Rows whose label is not the model's own, or that do not leave the query's class."""
    bad = []
    for place, item in enumerate(found):
        if predict(item.query)[0] != item.label:
            bad.append((place, "query", item.label))
        bad += [
            (place, answer.label, answer.score)
            for answer in item.counterfactuals
            if predict(answer.row)[0] != answer.label or answer.label == item.label
        ]
    return bad


def looked_at(found):
    """Every way to look at a result."""
    for item in found:
        assert item.status in STATUSES
        assert (item.reason is None) == (item.status == "found")
        assert repr(item)
        assert item._repr_html_()
        assert isinstance(item.sentences(), list)
        json.loads(item.to_json(canonical=True))
        for answer in (*item.counterfactuals, *([item.miss] if item.miss else [])):
            assert len(answer.row) == 1
    json.loads(found.to_json())
    assert isinstance(found.metrics(), dict)
    assert repr(found)
    assert repr(found.summary())
    assert found._repr_html_()
    assert "<html" in found.to_html()
    assert list(found.to_changes().columns)[:2] == ["cf.row", "cf.rank"]
    frame = found.to_frame()
    assert "cf.status" in frame.columns
    return frame


# Options and arguments -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"data": X.head(0)}, "no rows"),
        ({"data": X[[]]}, "no columns"),
        ({"data": [[1, 2]]}, "list"),
        ({"data": pd.concat([X, X[["age"]]], axis=1)}, "'age'"),
        ({"data": X.assign(income=np.inf)}, "'income'"),
        ({"data": X.assign(z=[[1]] * len(X))}, "'z'"),
        ({"model": None}, "^model must have"),
        ({"model": "xgboost"}, "^model must have"),
        ({"model": LogisticRegression()}, "not fitted"),
        ({"classes": 5}, "^classes"),
        ({"classes": ("a", "a")}, "classes"),
        ({"classes": ("a", "b", "c")}, "classes"),
        ({"names": 5}, "names"),
        ({"names": {"agee": "years"}}, "'agee', which is not a column; did you mean 'age'"),
        ({"schema": {"agee": "categorical"}}, "did you mean 'age'"),
        ({"schema": {"age": "categoricl"}}, "did you mean 'categorical'"),
        ({"constraints": {"fixd": ["age"]}}, "did you mean 'fixed'"),
        ({"constraints": {"fixed": ["agee"]}}, "did you mean 'age'"),
        ({"method": "exhaustiv"}, "method"),
        ({"candidates": 3}, "candidates"),
        ({"distance": "l2"}, "distance"),
        ({"prefer": ["few"]}, "prefer"),
        ({"random_state": None}, "random_state"),
    ],
)
def test_a_wrong_option_is_an_error_that_names_it(options, named):
    with pytest.raises(mx.MacexError, match=named):
        explainer(**options)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n": 0}, "n must"),
        ({"max_rows": 0}, "max_rows"),
        ({"timeout_s": -1}, "timeout_s"),
        ({"timeout_s": float("nan")}, "timeout_s"),
        ({"margin": 1}, "margin"),
        ({"margin": "a"}, "margin"),
        ({"on_error": "kep"}, "on_error"),
        ({"progress": 5}, "progress"),
        ({"want": "yess"}, "did you mean 'yes'"),
        ({"want": ["yes"]}, "1 entries for 3 rows"),
        ({"want": {"yes"}}, "want="),
        ({"want": [pd.NA, "yes", pd.Timestamp(0)]}, "class|want"),
        ({"want": mx.any_of("yes", "noo")}, "did you mean 'no'"),
        ({"want": mx.at_least(0.5, label="yse")}, "'yse'"),
        ({"want": mx.above_row(X.head(2))}, "one row"),
        ({"constraints": 5}, "constraints"),
        ({"constraints": [{}]}, "1 entries for 3 rows"),
        ({"constraints": [None, 5, None]}, "constraints"),
    ],
)
def test_a_wrong_argument_is_an_error_that_names_it(options, named):
    with pytest.raises(mx.MacexError, match=named):
        E.explain(Q, **options)


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        (None, "NoneType"),
        ([1, 2], "list"),
        (np.zeros(5), "2"),
        ({"age": 3}, "'income'"),
        (Q.drop(columns="debt"), "'debt'"),
        (Q.assign(zz=1), "'zz'"),
        (pd.concat([Q, Q[["age"]]], axis=1), "'age'"),
        (Q.assign(age="old"), "'age'"),
        (Q.assign(age=30.5), "'age'"),
        (Q.assign(age=np.nan), "'age'"),
        (Q.assign(income=-np.inf), "'income'"),
        (Q.assign(edu=3), "'edu'"),
        (Q.assign(own="True"), "'own'"),
    ],
)
def test_rows_that_do_not_fit_are_an_error_that_names_the_column(rows, named):
    with pytest.raises(mx.SchemaError, match=named):
        E.explain(rows)


def test_numbers_of_numpy_are_numbers():
    constraints = mx.Constraints(max_changes=np.int64(2), weights={"income": np.float32(2)})
    found = explainer(random_state=np.int64(3)).explain(
        Q, n=np.int64(2), max_rows=np.int64(900), margin=np.float32(0.1), constraints=constraints
    )
    assert {item.status for item in found} == {"found"}


def test_a_seed_may_be_any_whole_number():
    assert explainer(random_state=2**70).explain(Q)[0].status == "found"


def test_a_label_of_the_wrong_type_is_not_offered_as_its_own_correction():
    model = explainer(classes=(0, 1))
    with pytest.raises(mx.GoalError) as error:
        model.explain(Q, want="1")
    assert "did you mean '1'" not in str(error.value)


def test_a_distance_function_at_fault_is_an_option_error():
    for function in (lambda a, b: 1 / 0, lambda a, b: np.full(len(a), np.nan), lambda a, b: 3.0):
        with pytest.raises(mx.OptionError, match="distance"):
            explainer(distance=function).explain(Q)


# Constraints ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constraints", "named"),
    [
        ({"ranges": {"age": (50, 20)}}, "'age'"),
        ({"ranges": {"age": ("a", 3)}}, "'age'"),
        ({"ranges": {"income": (30, float("nan"))}}, "'income'"),
        ({"ranges": {"edu": ("HS", "MSc")}}, "'edu'"),
        ({"ranges": ["age"]}, "ranges"),
        ({"increase": ["age"], "decrease": ["age"]}, "'age'"),
        ({"increase": ["edu"]}, "'edu'"),
        ({"allowed": {"edu": []}}, "'edu'"),
        ({"allowed": {"edu": ["Phd"]}}, "did you mean 'PhD'"),
        ({"allowed": {"edu": {"HSx": ["BSc"]}}}, "did you mean 'HS'"),
        ({"groups": [["age"]]}, "group"),
        ({"groups": [["age", "income"], ["income", "debt"]]}, "'income'"),
        ({"rules": ["income >"]}, "expected"),
        ({"rules": ["incom > 3"]}, "did you mean 'income'"),
        ({"rules": ["edu > 'HS'"]}, "'edu'"),
        ({"rules": ["__import__('os')"]}, "unknown function"),
        ({"rules": ["(" * 500 + "1" + ")" * 500]}, "nested"),
        ({"rules": [3]}, "rule"),
        ({"max_changes": -1}, "max_changes"),
        ({"weights": {"income": -1}}, "'income'"),
        ({"derived": {"debt": "debt * 2"}}, "'debt'"),
        ({"derived": {"debt": "income", "income": "debt"}}, "'debt'"),
        ({"derived": {"dbt": "income"}}, "did you mean 'debt'"),
        ({"may_blank": ["age"]}, "'age'"),
        ({"strict": "no"}, "strict"),
        ({"fixed": 5}, "fixed"),
    ],
)
def test_a_constraint_that_makes_no_sense_is_an_error(constraints, named):
    with pytest.raises(mx.ConstraintError, match=named):
        E.explain(Q, constraints=constraints)


@pytest.mark.parametrize("said", [{"fixed": ["debt"]}, {"ranges": {"debt": (0, 5)}}])
def test_a_derived_column_keeps_its_constraints_or_refuses_them(said):
    try:
        found = E.explain(Q, constraints={"derived": {"debt": "income * 0.3"}, **said})
    except mx.ConstraintError as error:
        assert "'debt'" in str(error)  # noqa: PT017 - either of the two is a clear answer
        return
    for item in found:
        for answer in item.counterfactuals:
            before, after = item.query["debt"].iloc[0], answer.row["debt"].iloc[0]
            assert after == before or ("ranges" in said and 0 <= after <= 5)


def test_a_derived_whole_number_that_is_missing_is_never_answered():
    formula = "if income > 50 then 30 else log(0 - 1)"
    constraints = {"derived": {"age": formula}, "only": ["income"]}
    for item in E.explain(Q, want=mx.rise_by(-0.1), constraints=constraints):
        for answer in item.counterfactuals:
            assert 0 <= answer.row["age"].iloc[0] <= 200


def test_a_chain_of_derived_columns_is_computed_in_order():
    chain = {"debt": "income * 0.3", "own": "debt > 14"}
    for item in E.explain(Q, constraints={"derived": chain}):
        row = item.counterfactuals[0].row.iloc[0]
        assert row["own"] == (row["debt"] > 14)


@pytest.mark.parametrize("menu", [{}, {"PhD": []}, {"HS": ["BSc"]}])
def test_a_value_without_a_transition_stays(menu):
    rows = X[X["edu"] == "PhD"].head(3)
    for item in E.explain(rows, n=4, constraints={"allowed": {"edu": menu}}):
        assert all(c.column != "edu" for cf in item.counterfactuals for c in cf.changes)


def test_transitions_that_have_nothing_in_common_allow_nothing():
    first = explainer(constraints={"allowed": {"edu": {"HS": ["BSc"]}}})
    rows = X[X["edu"] == "BSc"].head(3)
    for item in first.explain(rows, n=4, constraints={"allowed": {"edu": {"BSc": ["MSc"]}}}):
        assert all(c.column != "edu" for cf in item.counterfactuals for c in cf.changes)


@pytest.mark.parametrize(
    "rule",
    [
        lambda rows: rows["zz"] > 1,
        lambda new, old: new["income"] >= old["income"],
        lambda rows: True,
        lambda rows: pd.array([pd.NA] * len(rows), dtype="boolean"),
    ],
)
def test_a_rule_function_at_fault_is_a_constraint_error(rule):
    with pytest.raises(mx.ConstraintError, match="rule"):
        E.explain(Q, constraints={"rules": [rule]})


@pytest.mark.parametrize(
    "constraints",
    [
        {"fixed": list(X.columns)},
        {"only": []},
        {"protected": list(X.columns)},
        {"max_changes": 0},
        {"rules": ["income > 1000"]},
        {"only": ["income"], "ranges": {"income": (1000, 2000)}},
        {"strict": True, "fixed": ["income"], "ranges": {"income": (90, 95)}},
    ],
)
def test_constraints_that_leave_no_answer_are_an_answer(constraints):
    found = E.explain(Q, constraints=constraints, diagnose=True)
    assert {item.status for item in found} <= {"none", "not_found"}
    looked_at(found)


@pytest.mark.parametrize("want", [None, mx.at_least(0.9999)])
@pytest.mark.parametrize(
    "constraints",
    [
        {"only": ["income"], "ranges": {"income": (1000, 2000)}},
        {"only": ["own"]},
        {"protected": ["income"], "max_changes": 1},
    ],
)
def test_the_nearest_miss_keeps_the_constraints(constraints, want):
    for item in E.explain(Q, want=want, constraints=constraints):
        changed = {change.column for change in item.miss.changes} if item.miss else set()
        assert changed <= set(constraints.get("only", X.columns))
        assert not changed & set(constraints.get("protected", ()))


@pytest.mark.parametrize("options", [{"max_rows": 1}, {"timeout_s": 1e-6}])
def test_a_diagnosis_cut_short_claims_nothing(options):
    for item in E.explain(Q, diagnose=True, constraints={"fixed": ["income"]}, **options):
        assert item.status == "budget"
        assert "No single constraint" not in item.reason


def test_a_group_leaves_a_combination_never_seen_alone_or_moves_to_one_seen():
    data = pd.DataFrame({"city": list("AABB") * 20, "zip": list("1234") * 20, "v": np.arange(80.0)})
    model = lambda rows: np.where((rows["city"] == "B") | (rows["v"] > 90), 0.9, 0.1)  # noqa: E731
    asked = pd.DataFrame({"city": ["A", "Q"], "zip": ["4", "4"], "v": [3.0, 3.0]})
    found = explainer(model, data).explain(asked, constraints={"groups": [["city", "zip"]]})
    seen = set(zip(data["city"], data["zip"], strict=True))
    for item in found:
        row = item.counterfactuals[0].row.iloc[0]
        assert (row["city"], row["zip"]) in seen


def test_may_blank_offers_the_missing_value():
    model = lambda rows: np.where(rows["income"].isna(), 0.9, 0.1)  # noqa: E731
    found = explainer(model).explain(Q, constraints={"may_blank": ["income"]})
    assert [item.counterfactuals[0].changes[0].after for item in found] == [None] * 3


# Models --------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [lambda rows: np.ones(len(rows)), DummyClassifier().fit(X, Y)])
def test_a_model_that_always_decides_the_same_gets_no_answer(model):
    found = explainer(model).explain(Q)
    assert {item.status for item in found} <= {"none", "not_found"}
    looked_at(found)


def test_a_classifier_with_one_class_gets_no_answer_or_is_told_so():
    model = RandomForestClassifier(3, random_state=0).fit(N, np.ones(len(N)))
    try:
        found = mx.Explainer(model, N).explain(N.head(1))
    except mx.MacexError as error:
        assert "2 columns" not in str(error)  # noqa: PT017 - it returned one
    else:
        assert found[0].status in {"none", "not_found"}


@pytest.mark.parametrize(
    "given",
    [
        lambda n: np.full(n, np.nan),
        lambda n: np.ones(3),
        lambda n: 0.5,
        lambda n: None,
        lambda n: np.array(["a"] * n),
        lambda n: np.ones((n, 2, 2)),
        lambda n: {"a": 1},
        lambda n: np.ones((n, 0)),
    ],
)
def test_an_answer_that_is_no_score_is_a_model_error(given):
    with pytest.raises(mx.ModelError, match="model"):
        mx.Explainer(lambda rows: given(len(rows)), X)


def test_probabilities_that_do_not_sum_to_one_are_a_model_error():
    class Odd:
        classes_ = (0, 1)

        def predict_proba(self, rows):
            return np.full((len(rows), 2), 0.9)

    with pytest.raises(mx.ModelError, match="no probabilities"):
        mx.Explainer(Odd(), X)


class Tensor:
    """What a tensor library returns: it must be detached and moved before NumPy reads it."""

    def __init__(self, values, ready=False):
        self.values, self.ready = values, ready

    def detach(self):
        return Tensor(self.values, ready=True)

    def cpu(self):
        return self

    def __array__(self, dtype=None, copy=None):
        if not self.ready:
            raise RuntimeError("detach first")
        return np.asarray(self.values, dtype=dtype)


@pytest.mark.parametrize(
    "form", [list, pd.Series, Tensor, lambda p: p[:, None], lambda p: p.astype(object)]
)
def test_scores_may_come_in_many_forms(form):
    found = explainer(lambda rows: form(chance(rows))).explain(Q)
    assert found.to_json(canonical=True) == E.explain(Q).to_json(canonical=True)


def cliff(rows):
    return np.where(chance(rows) > 0.6, np.inf, np.where(chance(rows) > 0.3, 0.2, -np.inf))


@pytest.mark.parametrize("options", [{"want": "yes"}, {"n": 3}, {"want": mx.at_least(1.0)}])
def test_an_infinite_score_of_a_decision_function_ranks_as_the_extreme(options):
    asked = mx.Explainer(cliff, X, classes=("no", "yes"), prefer="surest")
    refused = X[cliff(X) < 0].head(10)
    found = asked.explain(refused, **options)
    assert [item.score for item in asked.explain(refused, want="no")] == [1e100] * 10
    for item in found:
        assert np.isposinf(cliff(item.counterfactuals[0].row)).all()
        assert item.counterfactuals[0].score == 1e100
    assert json.loads(found.to_json())["explanations"][0]["counterfactuals"][0]["score"] == 1e100


def test_an_infinite_score_without_classes_is_a_score():
    found = mx.Explainer(cliff, X).explain(X.head(10), want=mx.at_least(5.0))
    assert [cf.score for item in found for cf in item.counterfactuals] == [1e100] * 10


def test_an_infinite_probability_is_refused():
    class Sure:
        classes_ = np.array(["no", "yes"])

        def predict_proba(self, rows):
            return np.stack([np.zeros(len(rows)), cliff(rows)], axis=1)

    with pytest.raises(mx.ModelError, match="infinite score"):
        mx.Explainer(Sure(), X)


def test_a_model_that_writes_into_its_input_sees_fresh_rows():
    def greedy(rows):
        rows["income"] -= 50
        rows.insert(0, "seen", 1)
        return 1 / (1 + np.exp(-rows["income"] / 5))

    pure = explainer(lambda rows: 1 / (1 + np.exp((50 - rows["income"]) / 5)))
    rows = Q.copy()
    found = explainer(greedy).explain(rows, n=2)
    assert found.to_json(canonical=True) == pure.explain(Q, n=2).to_json(canonical=True)
    pd.testing.assert_frame_equal(rows, Q)


def test_a_model_that_rolls_dice_gets_an_answer_of_some_kind():
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="not deterministic"):
        dice = explainer(lambda rows: rng.random(len(rows)))
    looked_at(dice.explain(Q))


@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (False, True), (-1, 7)])
def test_a_model_that_only_predicts_is_enough(labels):
    class Labels:
        def predict(self, rows):
            return np.array(labels)[(chance(rows) > 0.5).astype(int)]

    found = mx.Explainer(Labels(), X).explain(Q, n=2, margin=0.4)
    assert broken_promises(found, Labels().predict) == []
    assert {item.status for item in found} == {"found"}


@pytest.mark.parametrize("threshold", [0.3, 0.7])
def test_a_tuned_threshold_decides(threshold):
    model = FixedThresholdClassifier(LogisticRegression(), threshold=threshold, pos_label="yes")
    found = mx.Explainer(model.fit(N, Y), N).explain(N.head(20), n=2)
    assert broken_promises(found, model.predict) == []
    assert {item.status for item in found} == {"found"}


@pytest.mark.parametrize("threshold", [0.35, 0.65])
def test_a_tuned_threshold_decides_even_where_training_does_not_show_it(threshold):
    model = FixedThresholdClassifier(LogisticRegression(), threshold=threshold, pos_label="yes")
    model.fit(N, Y)
    clear = N[np.abs(model.predict_proba(N)[:, 1] - 0.5) > 0.25]
    found = mx.Explainer(model, clear).explain(clear.head(20), n=2)
    assert broken_promises(found, model.predict) == []


def test_a_margin_counts_from_a_tuned_threshold():
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.3, pos_label="yes")
    found = mx.Explainer(model.fit(N, Y), N).explain(N.head(10), want="yes", margin=0.2)
    answers = [cf for item in found for cf in item.counterfactuals]
    assert min(model.predict_proba(cf.row)[0, 1] for cf in answers) >= 0.39


@pytest.mark.parametrize(
    "model",
    [
        SVC(),
        SVC(decision_function_shape="ovo"),
        FixedThresholdClassifier(
            LinearSVC(), threshold=0.5, pos_label="yes", response_method="decision_function"
        ),
    ],
    ids=["svc", "ovo", "tuned margin"],
)
def test_a_decision_function_is_no_more_than_the_models_own_decision(model):
    labels = Y if "yes" in str(model) else np.digitize(N["income"], [40, 60])
    model.fit(N, labels)
    found = mx.Explainer(model, N).explain(N.head(20), n=2)
    assert broken_promises(found, model.predict) == []


def test_votes_of_many_classes_are_no_more_than_the_models_own_decision():
    labels = np.random.default_rng(1).integers(0, 6, len(N))
    model = SVC(gamma=0.01, C=10).fit(N, labels)
    assert broken_promises(mx.Explainer(model, N).explain(N.head(30), n=2), model.predict) == []


@pytest.mark.parametrize("model", [LinearRegression(), RandomForestRegressor(10, random_state=0)])
def test_a_regressor_is_asked_for_scores(model):
    model.fit(N, chance(X) * 100)
    asked, rows = mx.Explainer(model, N), N.head(4)
    other = float(model.predict(N.iloc[[5]])[0])
    own = model.predict(rows)
    wanted = {
        mx.between(40, 45): lambda s, _: 40 <= s <= 45,
        mx.rise_by(10): lambda s, own: s >= own + 10 - 1e-3,
        mx.rise_by(-10): lambda s, own: s <= own - 10 + 1e-3,
    }
    for goal, met in (*wanted.items(), (mx.above_row(N.iloc[5]), lambda s, _: s > other)):
        for place, item in enumerate(asked.explain(rows, want=goal)):
            assert item.status == "found"
            assert met(model.predict(item.counterfactuals[0].row)[0], own[place])
    with pytest.raises(mx.GoalError, match="score"):
        asked.explain(rows)
    looked_at(asked.explain(rows, want=mx.above(1e9)))


class Picky:
    """A model that fails, once trouble is on, for rows of some education."""

    trouble = False

    def __call__(self, rows):
        if self.trouble and (rows["edu"] == "Dr").any():
            raise ValueError("unknown education")
        return chance(rows)


def trouble(rows):
    model = Picky()
    asked = explainer(model)
    model.trouble = True
    return asked, rows


def test_a_model_that_fails_is_reported_in_its_own_words():
    asked, rows = trouble(Q.assign(edu=["HS", "Dr", "HS"]))
    with pytest.raises(mx.ModelError, match=r"unknown education.*row 1 ") as error:
        asked.explain(rows)
    assert error.value.row["edu"].tolist() == ["Dr"]


@pytest.mark.parametrize(
    "constraints", [None, [None, {"groups": [["age", "own"]]}] * 1100], ids=["alike", "mixed"]
)
def test_the_row_at_fault_is_counted_in_the_callers_batch(constraints):
    def fussy(rows):
        if (rows["income"] == 777).any():
            raise ValueError("too rich")
        return np.where(rows["age"] > 0, 0.9, 0.1)

    rows = people(2200, seed=4)
    rows.loc[2101, "income"] = 777.0
    asked = explainer(fussy, method=mx.Exhaustive(max_rows=50), fallback=False)
    with pytest.raises(mx.ModelError, match="row 2101 "):
        asked.explain(rows, want="yes", constraints=constraints)


def test_rows_that_fail_are_kept_without_a_label_and_harm_no_others():
    rows = people(400, seed=3)
    rows.loc[::4, "edu"] = "Dr"
    asked, rows = trouble(rows)
    found = asked.explain(rows, on_error="keep")
    failed = (rows["edu"] == "Dr").to_numpy()
    assert {item.status for item, bad in zip(found, failed, strict=True) if not bad} == {"found"}
    for item in (item for item, bad in zip(found, failed, strict=True) if bad):
        assert item.label is None
        assert not np.isfinite(item.score)
        assert "unknown education" in item.reason
    looked_at(found[:8])


def test_a_model_that_fails_always_is_kept_too():
    asked, rows = trouble(Q.assign(edu="Dr"))
    found = asked.explain(rows, on_error="keep", want=mx.rise_by(0.1))
    assert {item.status for item in found} == {"not_found"}
    looked_at(found)


# Data ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 6])
def test_a_tiny_training_set_is_enough(count):
    looked_at(explainer(data=X.head(count)).explain(X.head(3), n=3))


def test_one_column_is_enough():
    model = lambda rows: 1 / (1 + np.exp(50 - rows["income"]))  # noqa: E731
    found = explainer(model, X[["income"]]).explain(X[["income"]].head(3), n=3)
    assert {item.status for item in found} == {"found"}


def test_constant_columns_leave_nothing_to_change():
    data = pd.DataFrame({"a": [1] * 9, "b": ["x"] * 9})
    found = explainer(lambda rows: np.full(len(rows), 0.3), data).explain(data.head(2))
    assert {item.status for item in found} <= {"none", "not_found"}
    looked_at(found)


def test_a_class_of_a_few_rows_is_reached():
    found = explainer(lambda rows: np.where(rows["income"] > 84, 0.9, 0.1)).explain(Q)
    assert (X["income"] > 84).sum() < 30
    assert {item.status for item in found} == {"found"}


def test_missing_values_in_training_and_query():
    data = X.copy()
    data.loc[5:40, "income"] = np.nan
    data.loc[30:60, "edu"] = None
    found = explainer(data=data).explain(data.iloc[[5, 35, 55, 70]], n=2)
    assert {item.status for item in found} == {"found"}
    looked_at(found)


@pytest.mark.parametrize("width", [50, 200])
def test_many_columns_need_no_more_changes_than_they_must(width):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(200, width)), columns=[f"c{i}" for i in range(width)])
    weights = rng.normal(size=width) * 4.5 / np.sqrt(width)
    lead = data.to_numpy() @ weights
    row = data.iloc[[int(np.argmax(lead))]]
    ends = np.minimum((data.min() - row) * weights, (data.max() - row) * weights).to_numpy()[0]
    needed = int((lead.max() + np.cumsum(np.sort(ends)) > 0).sum()) + 1
    model = explainer(lambda rows: 1 / (1 + np.exp(-rows.to_numpy() @ weights)), data)
    (item,) = model.explain(row)
    assert item.counterfactuals[0].sparsity <= needed + 1
    assert item.cost.calls <= 30


def test_many_categories_cost_few_rows():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"id": [f"k{i}" for i in range(10_000)], "v": rng.normal(size=10_000)})
    found = explainer(lambda rows: 1 / (1 + np.exp(-rows["v"])), data).explain(data.head(2))
    assert {item.status for item in found} == {"found"}
    assert max(item.cost.rows for item in found) < 600


def test_whole_numbers_past_the_floats_and_narrow_floats_come_back_as_they_were():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(
        {
            "id": rng.integers(2**60, 2**60 + 1000, 200),
            "small": rng.random(200).astype(np.float32),
            "whole": pd.array(rng.integers(0, 50, 200), dtype="Int64"),
            "kind": pd.Categorical(rng.choice(list("abc"), 200), categories=list("abcz")),
            "when": pd.Timestamp("2024-01-01", tz="Europe/Zurich")
            + pd.to_timedelta(rng.integers(0, 300, 200), unit="D"),
        }
    )
    model = lambda rows: rows["whole"].astype(float).to_numpy() / 100 + 0.25  # noqa: E731
    found = explainer(model, data).explain(data.head(5), n=2)
    for place, item in enumerate(found):
        pd.testing.assert_frame_equal(item.query, data.iloc[[place]])
        for answer in item.counterfactuals:
            kept = [c for c in data if c not in {change.column for change in answer.changes}]
            pd.testing.assert_frame_equal(answer.row[kept], data.iloc[[place]][kept])
            assert list(answer.row.dtypes) == list(data.dtypes)
    looked_at(found)


def test_labels_of_columns_need_not_be_text():
    data = X.set_axis(range(5), axis=1)
    model = lambda rows: chance(rows.set_axis(X.columns, axis=1))  # noqa: E731
    item = explainer(model, data).explain(data.head(1), constraints={"fixed": [1]})[0]
    assert item.counterfactuals[0].changes[0].column != "1"


def test_arrays_of_floats_and_of_objects():
    floats = explainer(lambda a: 1 / (1 + np.exp(a[:, 1] - a[:, 0] / 3)), N.to_numpy()[:, 1:])
    looked_at(floats.explain(N.to_numpy()[:2, 1:], n=2))
    model = lambda a: chance(pd.DataFrame(a, columns=X.columns).infer_objects())  # noqa: E731
    looked_at(explainer(model, X.to_numpy(object)).explain(X.to_numpy(object)[:2], n=2))


# Limits --------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 2, 10, 50])
def test_a_query_costs_no_more_than_max_rows(most):
    for method in ("exhaustive", "reinforce", "gradientless"):
        for item in explainer(method=method).explain(Q, max_rows=most, n=2):
            assert item.cost.rows <= most
            assert item.status in {"found", "budget"}


def test_time_that_runs_out_ends_the_call():
    for want in (None, mx.rise_by(0.1)):
        asked = explainer(data=people(2000, seed=3))
        found = asked.explain(people(100, seed=5), want=want, timeout_s=1e-6)
        assert len(found) == 100
        assert max(item.cost.rows for item in found) <= 101


def test_a_goal_of_its_own_for_every_row_costs_little_more_than_one_for_all():
    rows, calls = people(100, seed=5), []

    def counted(frame):
        calls[-1] += 1
        return chance(frame)

    calls.append(0)
    asked = explainer(counted, people(2000, seed=3))
    for want in (mx.at_least(0.7), mx.rise_by(0.1)):
        calls.append(0)
        asked.explain(rows, want=want)
    assert calls[2] <= calls[1] + 60  # whatever the number of rows


def test_a_goal_no_row_can_reach_is_an_answer():
    looked_at(E.explain(Q, want=mx.at_least(2)))


def test_fifty_answers_are_distinct():
    for item in E.explain(Q, n=50):
        rows = [tuple(cf.row.iloc[0]) for cf in item.counterfactuals]
        assert len(set(rows)) == len(rows) >= 3


def test_a_large_batch_takes_few_calls():
    calls = []

    def model(rows):
        calls.append(len(rows))
        return 1 / (1 + np.exp(50 - rows["income"].to_numpy()))

    rows = people(4000, seed=8)[["age", "income"]]
    found = explainer(model, X[["age", "income"]]).explain(rows)
    assert {item.status for item in found} == {"found"}
    assert len(calls) < 60


# Results, files, threads ---------------------------------------------------------------------


def test_a_query_already_there_is_one_answer_without_changes():
    wanted = [item.label for item in E.explain(Q)]
    found = E.explain(Q, want=wanted, n=3)
    assert [[len(cf.changes) for cf in item.counterfactuals] for item in found] == [[0]] * 3
    looked_at(found)


def test_an_empty_batch_keeps_its_columns():
    frame = looked_at(E.explain(X.head(0)))
    assert list(frame.columns[:5]) == list(X.columns)


def test_an_empty_batch_of_polars_stays_polars():
    polars = pytest.importorskip("polars")
    data = polars.DataFrame({name: X[name].tolist() for name in X})
    model = lambda rows: chance(pd.DataFrame(rows.to_dict(as_series=False)))  # noqa: E731
    asked = explainer(model, data)
    assert isinstance(looked_at(asked.explain(data.head(2))), polars.DataFrame)
    assert isinstance(looked_at(asked.explain(data.head(0))), polars.DataFrame)


def test_equal_answers_are_equal_values():
    assert E.explain(Q)[0] == E.explain(Q)[0]


def test_results_and_explainers_can_be_copied_and_pickled():
    found = E.explain(Q)
    for twin in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):  # noqa: S301
        assert twin.to_json() == found.to_json()
    asked = mx.Explainer(LogisticRegression().fit(N, Y), N)
    twin = pickle.loads(pickle.dumps(asked))  # noqa: S301
    same = asked.explain(N.head(3)).to_json(canonical=True)
    assert twin.explain(N.head(3)).to_json(canonical=True) == same


def test_threads_get_the_same_bytes():
    asked, texts = explainer(), []

    def ask():
        texts.append(asked.explain(X.head(30), n=2).to_json(canonical=True))

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(texts) == 3
    assert len(set(texts)) == 1


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "explainer.macex"
    E.save(path)
    return path


def rewritten(path, **parts):
    """The file with some of its parts replaced."""
    with zipfile.ZipFile(path) as box:
        kept = {name: box.read(name) for name in box.namelist()}
    with zipfile.ZipFile(path, "w") as box:
        for name, content in (kept | parts).items():
            box.writestr(name, content)


@pytest.mark.parametrize("place", ["absent/x.macex", "."])
def test_a_place_that_cannot_be_written_is_named_as_it_was_given(tmp_path, place):
    with pytest.raises((mx.MacexError, OSError)) as error:
        E.save(tmp_path / place)
    assert ".part" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_file_is_a_saved_error(saved):
    whole = saved.read_bytes()
    rng = np.random.default_rng(0)
    for length in range(0, len(whole), max(1, len(whole) // 12)):
        saved.write_bytes(whole[:length])
        with pytest.raises(mx.SavedError):
            mx.load(saved, chance)
    for place in rng.integers(0, len(whole), 60):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        saved.write_bytes(bytes(damaged))
        with suppress(mx.SavedError):  # a date in the archive may be damaged unnoticed
            mx.load(saved, chance)


def test_a_file_of_something_else_is_a_saved_error(saved):
    codes = io.BytesIO()
    np.save(codes, np.zeros((3, 2)))
    with zipfile.ZipFile(saved) as box:
        document = json.loads(box.read("explainer.json"))
    for parts in (
        {"codes.npy": codes.getvalue()},
        {"explainer.json": json.dumps({**document, "schema": [1]})},
        {"explainer.json": "[1]"},
    ):
        E.save(saved)
        rewritten(saved, **parts)
        with pytest.raises(mx.SavedError):
            mx.load(saved, chance)


@pytest.mark.parametrize(
    "model",
    [
        lambda rows: chance(rows) * np.nan,
        lambda rows: 1 / 0,
        lambda rows: 1 - chance(rows),
        None,
    ],
)
def test_a_file_loaded_with_another_model_is_an_error(saved, model):
    with pytest.raises(mx.MacexError):
        mx.load(saved, model)


@pytest.mark.parametrize(
    "constraints",
    [
        {"allowed": {"age": {70: [20, 30]}}},
        {"allowed": {"own": {True: [False]}}},
        {"ranges": {"income": (np.float64(3), np.int64(90))}},
        {"ranges": {"born": (pd.Timestamp("1960-01-01"), None)}},
    ],
)
def test_constraints_survive_a_file(tmp_path, constraints):
    data = X.assign(born=pd.Timestamp("2024-01-01") - pd.to_timedelta(X["age"] * 365, unit="D"))
    before = explainer(data=data, constraints=constraints)
    before.save(tmp_path / "a.macex")
    after = mx.load(tmp_path / "a.macex", chance)
    rows = data.head(3)
    assert after.explain(rows, n=2).to_json(canonical=True) == before.explain(rows, n=2).to_json(
        canonical=True
    )


def test_an_explainer_answers_the_same_after_a_file(tmp_path):
    data = people(3000, seed=1)[NUMBERS].astype(float)
    labels = np.where(data["income"] - data["debt"] > 34, "yes", "no")
    model = FixedThresholdClassifier(LogisticRegression(), threshold=0.3, pos_label="yes")
    before = mx.Explainer(model.fit(data, labels), data)
    before.save(tmp_path / "a.macex")
    after = mx.load(tmp_path / "a.macex", model)
    rows = data.head(40)
    assert after.explain(rows, n=2).to_json(canonical=True) == before.explain(rows, n=2).to_json(
        canonical=True
    )
