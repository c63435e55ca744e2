"""What is made of codes is what the first step of a pipeline makes of the frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from macex.models.first_steps import blocks_of, first_step, marks_of, steps_of
from macex.models.prepared import Prepared, prepared
from macex.schema.columns import MISSING
from models.pipelines import (
    CODES,
    COUNT,
    DECLINED,
    FRAME,
    NUMBERS,
    SCHEMA,
    STEPS,
    YES,
    columns,
    draw,
    encoder,
    fitted,
)


def made_by_step(found: Prepared, codes: np.ndarray) -> Any:
    return found.step.transform(SCHEMA.frame(codes))


def dense(matrix: Any) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


@pytest.mark.parametrize("name", STEPS)
def test_the_matrix_is_the_one_of_the_step(name):
    found = prepared(fitted(name), SCHEMA, CODES)
    assert found is not None
    assert found.current
    mixed = np.column_stack([draw.permutation(column) for column in CODES.T])
    for rows in (CODES, CODES[:1], mixed):
        wanted, made = made_by_step(found, rows), found.matrix(rows)
        assert type(made) is type(wanted)
        np.testing.assert_array_equal(dense(made), dense(wanted), strict=True)
        scores = fitted(name).predict_proba(SCHEMA.frame(rows))
        np.testing.assert_array_equal(found(rows, "predict_proba"), scores)


@pytest.mark.parametrize("name", DECLINED)
def test_a_step_that_is_not_understood_is_left_alone(name):
    assert prepared(fitted(name), SCHEMA, CODES) is None


seen = st.tuples(
    *(
        st.sampled_from([*column.seen.tolist(), *([MISSING] if column.missing else [])])
        if column.discrete
        else st.integers(int(column.low), int(column.high)).map(float)
        for column in SCHEMA.columns
    )
)


@given(rows=st.lists(seen, min_size=1, max_size=9), name=st.sampled_from(sorted(STEPS)))
def test_any_row_of_seen_categories_and_any_number_is_made_right(rows, name):
    found = prepared(fitted(name), SCHEMA, CODES)
    codes = np.array(rows)
    wanted = dense(made_by_step(found, codes))
    np.testing.assert_array_equal(dense(found.matrix(codes)), wanted, strict=True)


class Moody(StandardScaler):
    """A scaler that fails, but not for the rows it was trained on."""

    def transform(self, X, copy=None):
        if len(X) != COUNT:
            raise ValueError("not today")
        return super().transform(X, copy)


class Ranked(OneHotEncoder):
    """An encoder whose rows depend on each other."""

    def transform(self, X):
        return super().transform(X) * np.arange(len(X))[:, None]


@pytest.mark.parametrize("step", [Moody(), Ranked(sparse_output=False)])
def test_a_step_of_a_kind_of_its_own_is_never_looked_up(step):
    names = NUMBERS if isinstance(step, Moody) else ["job"]
    model = make_pipeline(columns((step, names)), LogisticRegression()).fit(FRAME, YES)
    assert prepared(model, SCHEMA, CODES) is None


class Own(Pipeline):
    """A pipeline that may do something of its own."""


def scaled(*last: Any) -> Pipeline:
    return make_pipeline(StandardScaler(), MinMaxScaler(), *last)


def test_the_steps_of_inner_pipelines_are_steps():
    last = LogisticRegression()
    model = make_pipeline("passthrough", scaled(), None, make_pipeline(last))
    assert [type(step) for step in steps_of(model)] == [
        StandardScaler,
        MinMaxScaler,
        LogisticRegression,
    ]
    assert first_step(model) is steps_of(model)[0]


@pytest.mark.parametrize(
    "model",
    [
        None,
        LogisticRegression(),
        make_pipeline(LogisticRegression()),
        make_pipeline("passthrough", LogisticRegression()),
        Own(scaled(LogisticRegression()).steps),
        GridSearchCV(scaled(LogisticRegression()), {}),
        GridSearchCV(LogisticRegression(), {}),
    ],
    ids=["none", "no pipeline", "one step", "handed on", "its own", "not searched", "no steps"],
)
def test_other_models_have_no_first_step(model):
    assert first_step(model) is None


def test_a_search_has_the_first_step_of_its_best_pipeline():
    search = GridSearchCV(scaled(LogisticRegression()), {}, cv=2).fit(FRAME[NUMBERS], YES)
    assert first_step(search) is search.best_estimator_[0]


def test_the_columns_of_a_block_are_found_however_they_were_chosen():
    order = ["town", "income", "job", "age"]
    step = columns((encoder(), [2, -4]), (StandardScaler(), slice("income", "income")))
    step.fit(FRAME[order])
    places = {name: SCHEMA.position(name) for name in order}
    texts, numbers = blocks_of(step, SCHEMA, 9)
    assert texts.columns == [places["job"], places["town"]]
    assert numbers.columns == [places["income"]]
    assert texts.by_column
    assert texts.moves is None
    assert [len(by) for _, by in numbers.moves] == [1, 1]


def test_whatever_a_step_or_its_parts_hold_is_marked():
    step = columns((make_pipeline(StandardScaler()), NUMBERS)).fit(FRAME)
    scaler = step.named_transformers_["pipeline"][0]
    marks = marks_of(step)
    assert all(held[name] is value for held, name, value in marks)
    scaler.partial_fit(FRAME[NUMBERS] * 2)
    assert {name for held, name, value in marks if held[name] is not value} >= {"mean_", "scale_"}
