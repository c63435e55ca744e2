"""Whoever comes from another package, or guesses, is told what is meant."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex import errors
from macex.errors import ArgumentError, AttributeMissingError, PlaceError

DATA = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20}, index=range(7000, 7040))


def model(rows):
    return 1 / (1 + np.exp(44.5 - rows["hours"]))


EXPLAINER = mx.Explainer(model, DATA, classes=("no", "yes"))
FOUND = EXPLAINER.explain(DATA.head(30), n=2)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: EXPLAINER.explain(DATA, desired_class="yes"), 'want="yes"'),
        (lambda: EXPLAINER.explain(DATA, features_to_vary=["hours"]), '"only"'),
        (lambda: EXPLAINER.explain(DATA, permitted_range={}), '"ranges"'),
        (lambda: EXPLAINER.explain(DATA, total_CFs=3), "n=3"),
        (lambda: EXPLAINER.explain(DATA, n_jobs=2), "explain_file"),
        (lambda: EXPLAINER.explain(DATA, margn=0), "did you mean 'margin'"),
        (lambda: mx.Explainer(model, DATA, backend="sklearn"), "predict_proba"),
        (lambda: mx.Explainer(model, DATA, clases=("a", "b")), "did you mean 'classes'"),
        (lambda: mx.Constraints(fix=["debt"]), 'fixed=["age"]'),
        (lambda: mx.Constraints(rangs={}), "did you mean 'ranges'"),
    ],
)
def test_an_unknown_argument_is_refused_with_the_right_one(call, said):
    with pytest.raises(ArgumentError) as caught:
        call()
    assert said in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, mx.MacexError)


@pytest.mark.parametrize(
    ("look", "said"),
    [
        (lambda: EXPLAINER.predict, "ask your model"),
        (lambda: EXPLAINER.generate_counterfactuals, ".explain(rows, n=3)"),
        (lambda: EXPLAINER.explian, "did you mean 'explain'"),
        (lambda: FOUND.to_dataframe, ".to_frame()"),
        (lambda: FOUND.counterfactuals, "found[0].counterfactuals"),
        (lambda: FOUND[0].to_dataframe, ".to_frame()"),
        (lambda: FOUND[0].counterfactual, "did you mean 'counterfactuals'"),
        (lambda: FOUND.summary().to_df, ".to_frame()"),
    ],
)
def test_an_unknown_attribute_is_refused_with_the_right_one(look, said):
    with pytest.raises(AttributeMissingError) as caught:
        look()
    assert said in str(caught.value)
    assert isinstance(caught.value, AttributeError)


def test_the_name_of_a_row_is_not_its_place():
    with pytest.raises(PlaceError, match=r"the row that is called 7029 is found\[29\]"):
        FOUND[7029]
    with pytest.raises(IndexError, match="there are 30 explanations"):
        FOUND[99]
    assert len(list(FOUND)) == 30
    assert FOUND[-1] is FOUND[29]


def test_hints_name_arguments_that_exist_not_and_mean_ones_that_do():
    taken = set(inspect.signature(mx.Explainer.explain).parameters)
    assert "want" in taken
    assert not set(errors.EXPLAIN) & taken
    assert not set(errors.EXPLAINER) & set(inspect.signature(mx.Explainer).parameters)
    assert not set(errors.CONSTRAINTS) & set(inspect.signature(mx.Constraints).parameters)
    for known, kind in (
        (errors.ON_EXPLAINER, mx.Explainer),
        (errors.ON_EXPLANATIONS, mx.Explanations),
    ):
        assert [name for name in known if hasattr(kind, name)] == []


def test_values_travel_and_are_copied_as_before():
    again = pickle.loads(pickle.dumps(FOUND))  # noqa: S301 - our own
    assert again.to_json(canonical=True) == FOUND.to_json(canonical=True)
    assert copy.deepcopy(mx.Constraints(fixed=["debt"])) == mx.Constraints(fixed=["debt"])
    assert copy.copy(FOUND)[0].label == FOUND[0].label
    assert not hasattr(FOUND, "_repr_mimebundle_")


def test_a_label_left_in_the_data_and_a_model_without_fit_are_named():
    linear = pytest.importorskip("sklearn.linear_model")
    label = ["yes" if hours > 44 else "no" for hours in DATA["hours"]]
    fitted = linear.LogisticRegression().fit(DATA, label)
    with pytest.raises(mx.ModelError, match=r"data has 'granted', which the model was not fitted"):
        mx.Explainer(fitted, DATA.assign(granted=[text == "yes" for text in label]))
    with pytest.raises(mx.ModelError, match="fit the model before"):
        mx.Explainer(linear.LogisticRegression(), DATA)
