"""Blocks are found where nothing speaks against it, and only there."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from macex.schema import Schema

ROWS = 60
RNG = np.random.default_rng(0)
PEOPLE = pd.DataFrame(
    {
        "age": RNG.integers(18, 80, ROWS),
        "marital_status": RNG.choice(["married", "never_married", "widowed"], ROWS),
        "sex": RNG.choice(["f", "m"], ROWS),
        "has_car": RNG.integers(0, 2, ROWS),
        "has_dog": RNG.integers(0, 2, ROWS),
    }
)
WHOLE = ("age", "has_car", "has_dog", "marital_status", "sex")


@pytest.mark.parametrize("dtype", [bool, "uint8", float])
def test_dummies_of_pandas_are_found(dtype):
    assert Schema.infer(pd.get_dummies(PEOPLE, dtype=dtype)).names == WHOLE


def test_dummies_of_polars_are_found():
    found = Schema.infer(pl.from_pandas(PEOPLE).to_dummies(["marital_status", "sex"]))
    assert sorted(found.names) == sorted(WHOLE)


def test_dummies_of_an_encoder_are_found():
    compose = pytest.importorskip("sklearn.compose")
    from sklearn.preprocessing import OneHotEncoder

    one_hot = OneHotEncoder(sparse_output=False)
    made = compose.make_column_transformer(
        (one_hot, ["sex", "marital_status"]), remainder="passthrough"
    ).set_output(transform="pandas")
    names = Schema.infer(made.fit_transform(PEOPLE)).names
    assert names[:2] == ("onehotencoder__sex", "onehotencoder__marital_status")


def test_a_found_block_is_shown():
    assert "sex             one-hot of 2  f, m" in repr(Schema.infer(pd.get_dummies(PEOPLE)))


def test_a_block_can_be_taken_apart():
    dummies = pd.get_dummies(PEOPLE)
    assert "sex_f" in Schema.infer(dummies, {"sex": None}).names
    assert "sex_f" in Schema.infer(dummies, {"sex_m": "categorical"}).names


def test_flags_that_overlap_are_no_block():
    flags = PEOPLE[["has_car", "has_dog"]]
    assert Schema.infer(flags).names == ("has_car", "has_dog")


def test_a_single_row_that_does_not_sum_to_one_speaks_against_it():
    dummies = pd.get_dummies(PEOPLE, dtype=int)
    dummies.loc[7, ["sex_f", "sex_m"]] = 0
    assert "sex_f" in Schema.infer(dummies).names


def test_a_missing_value_speaks_against_it():
    dummies = pd.get_dummies(PEOPLE, dtype=float)
    dummies.loc[7, "sex_f"] = np.nan
    assert "sex_f" in Schema.infer(dummies).names


def test_few_rows_prove_nothing():
    assert "sex_f" in Schema.infer(pd.get_dummies(PEOPLE).head(10)).names


def test_names_without_a_common_start_are_no_block():
    dummies = pd.get_dummies(PEOPLE["sex"], dtype=int)
    assert Schema.infer(dummies.rename(columns={"f": "woman", "m": "man"})).names == (
        "woman",
        "man",
    )


def test_a_column_that_is_always_hot_is_no_choice():
    data = pd.DataFrame({"is_a": np.ones(ROWS, int), "is_b": np.zeros(ROWS, int)})
    assert Schema.infer(data).names == ("is_a", "is_b")
