"""A model that fails is an error that names the row, or a reason for that row alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from checks.loans import chance, loans

CLASSES = ("refused", "granted")


class Failing:
    """`chance`, but rows of one age are answered in a way that no model may."""

    def __init__(self, how: str, age: int = 999) -> None:
        self.how, self.age = how, age

    def __call__(self, rows: pd.DataFrame) -> np.ndarray:
        yes = chance(rows)
        scores = np.column_stack([1 - yes, yes])
        bad = (rows["age"] == self.age).to_numpy()
        if not bad.any():
            return scores
        if self.how == "raise":
            raise KeyError("no such age")
        if self.how == "nan":
            scores[bad] = np.nan
        if self.how == "improbable":
            scores[bad] = [0.9, 0.9]
        if self.how == "negative":
            scores[bad] = [-0.5, 1.5]
        if self.how == "short":
            return scores[:-1]
        if self.how == "columns":
            return np.column_stack([scores, scores])
        if self.how == "text":
            return np.full(scores.shape, "high")
        return scores


HOW = ["raise", "nan", "improbable", "negative", "short", "columns", "text"]
BY_ROW = ["raise", "nan", "improbable", "negative"]


def made(how: str, method: str) -> tuple[Failing, mx.Explainer]:
    model = Failing(how)
    return model, mx.Explainer(model, loans(), method=method, classes=CLASSES)


def odd_rows(count: int = 5, at: int = 2) -> pd.DataFrame:
    """Rows of which one has an age that training never had."""
    rows = loans().head(count).copy()
    rows.iloc[at, rows.columns.get_loc("age")] = 150
    return rows


@pytest.mark.parametrize("how", HOW)
def test_a_failure_is_a_model_error(how):
    model, asked = made(how, "exhaustive")
    model.age = 150
    with pytest.raises(mx.ModelError) as caught:
        asked.explain(odd_rows())
    assert isinstance(caught.value.partial, mx.Explanations)
    if how in BY_ROW:
        assert caught.value.row["age"].tolist() == [150]
        assert "row 2" in str(caught.value)


@pytest.mark.parametrize("how", BY_ROW)
def test_the_row_at_fault_is_named_by_its_place_in_the_call(how, monkeypatch):
    monkeypatch.setattr("macex.engine.batch.MOST_QUERIES", 2)
    model, asked = made(how, "exhaustive")
    model.age = 150
    rows = odd_rows(7, at=5)
    with pytest.raises(mx.ModelError, match="row 5") as caught:
        asked.explain(rows)
    assert len(caught.value.partial) == 4
    assert caught.value.partial.to_json(canonical=True) == asked.explain(rows.head(4)).to_json(
        canonical=True
    )


@pytest.mark.parametrize("how", ["raise", "nan", "improbable"])
def test_a_kept_failure_costs_its_own_row_alone(method, how):
    model, asked = made(how, method)
    model.age = 150
    rows = odd_rows()
    found = asked.explain(rows, on_error="keep")
    others = asked.explain(rows.drop(rows.index[2]), on_error="keep")
    assert found[2].status == "not_found"
    assert not found[2].counterfactuals
    said = {"raise": "no such age", "nan": "NaN"}.get(how, "probabilities")
    assert said in found[2].reason
    kept = [e.to_json(canonical=True) for place, e in enumerate(found) if place != 2]
    assert kept == [e.to_json(canonical=True) for e in others]


@pytest.mark.parametrize("how", HOW)
def test_a_model_that_fails_on_everything_can_be_kept(how):
    model, asked = made(how, "exhaustive")
    rows = loans().head(3).assign(age=150)
    model.age = 150
    for explanation in asked.explain(rows, on_error="keep"):
        assert explanation.status == "not_found"
        assert explanation.reason
        assert "may change" not in explanation.reason


@pytest.mark.parametrize("how", BY_ROW)
def test_equal_rows_fail_alike(how):
    model, asked = made(how, "exhaustive")
    model.age = 150
    rows = odd_rows().iloc[[2, 0, 2, 2]]
    found = asked.explain(rows, on_error="keep")
    assert found[0].to_json(canonical=True) == found[2].to_json(canonical=True)
    assert found[0].to_json(canonical=True) == found[3].to_json(canonical=True)


@pytest.mark.parametrize("how", ["raise", "nan"])
def test_a_candidate_that_fails_gives_one_answer_in_any_batch(method, how):
    model, asked = made(how, method)
    model.age = int(loans()["age"].mode().iloc[0])  # offered to nearly every query
    rows = loans()[loans()["age"] != model.age].head(4)
    together = asked.explain(rows, on_error="keep")
    for place, explanation in enumerate(together):
        alone = asked.explain(rows.iloc[[place]], on_error="keep")[0]
        assert explanation.to_json(canonical=True) == alone.to_json(canonical=True)
        assert explanation.status == "found" or explanation.reason


@pytest.mark.parametrize("how", HOW)
def test_a_model_that_fails_on_training_is_refused(how):
    class Model:
        classes_ = CLASSES
        predict_proba = Failing(how, age=int(loans()["age"].iloc[0]))

    with pytest.raises(mx.ModelError):
        mx.Explainer(Model(), loans())


@pytest.mark.parametrize("how", ["raise", "nan"])
def test_what_others_ask_about_is_no_answer_for_a_row_that_was_given_up(how):
    draw = np.random.default_rng(0)
    rows = pd.DataFrame({"a": draw.normal(size=400).round(1), "b": draw.integers(0, 9, 400)})
    strict = []

    def model(frame: pd.DataFrame) -> np.ndarray:
        yes = 1 / (1 + np.exp(1 - frame["a"].to_numpy() - frame["b"].to_numpy() / 4))
        bad = (frame["b"] == 7).to_numpy() & (frame["a"] > 0.5).to_numpy() & bool(strict)
        if how == "raise" and bad.any():
            raise ValueError("no such row")
        return np.where(bad, np.nan, yes)

    explainer = mx.Explainer(model, rows, classes=("no", "yes"))
    strict.append(True)
    together = explainer.explain(rows.head(40), on_error="keep")
    statuses = {one.status for one in together}
    assert {"found", "not_found"} <= statuses
    for place in range(40):
        alone = explainer.explain(rows.iloc[[place]], on_error="keep")
        same = together[place : place + 1]
        assert alone.to_json(canonical=True) == same.to_json(canonical=True)
