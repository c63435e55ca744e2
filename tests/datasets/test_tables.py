""""""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.datasets import NAMES, load
from macex.datasets.sources import Raw
from macex.datasets.tables import TABLES, assemble
from macex.errors import DataError, OptionError


@pytest.mark.parametrize(
    ("name", "shape", "counts"),
    [
        ("adult", (48842, 8), (37155, 11687)),
        ("breast", (683, 9), (444, 239)),
        ("german", (1000, 20), (300, 700)),
    ],
)
def test_embedded_datasets_have_their_known_size(name, shape, counts):
    data = load(name)
    assert data.frame.shape == shape
    assert tuple(np.bincount(data.label)) == counts
    assert not data.frame.isna().any(axis=None)


@pytest.mark.parametrize("name", ["adult", "breast", "german"])
def test_columns_are_either_strings_or_numbers(name):
    data = load(name)
    assert sorted(data.categorical + data.continuous) == sorted(data.frame.columns)
    for column in data.categorical:
        assert all(isinstance(value, str) for value in data.frame[column].unique())
    for column in data.continuous:
        assert pd.api.types.is_numeric_dtype(data.frame[column])


def test_compas_keeps_the_sample_of_the_source_and_groups_rare_races():
    raw = pd.DataFrame(
        {
            "age": [30, 40, 50],
            "c_charge_degree": ["F", "M", "F"],
            "sex": ["Male", "Female", "Male"],
            "race": ["Asian", "Hispanic", "Caucasian"],
            "priors_count": [0, 2, 4],
            "two_year_recid": [1, 0, 1],
            "in_propublica_sample": [1, 1, 0],
            "is_recid": [1, 0, 1],
        }
    )
    data = assemble("compas", TABLES["compas"], Raw(raw, "nobody"))
    assert data.frame["race"].tolist() == ["Other", "Hispanic"]
    assert data.categorical == ("charge_degree", "sex", "race")
    assert data.label.tolist() == [1, 0]


def test_credit_reads_its_codes_as_categories():
    columns = {f"A{number}": [number, number + 1] for number in range(1, 15)}
    raw = Raw(pd.DataFrame({**columns, "class": [0, 1]}), "nobody")
    data = assemble("credit", TABLES["credit"], raw)
    assert data.frame["A1"].tolist() == ["1", "2"]
    assert data.frame["A14"].tolist() == [14, 15]
    assert data.categorical == ("A1", "A4", "A5", "A6", "A8", "A9", "A11", "A12")


PASSENGERS = pd.DataFrame(
    {
        "passenger_id": [1, 2, 3],
        "survived": [0, 1, 1],
        "pclass": [3, 1, 2],
        "sex": ["male", "female", "female"],
        "age": [20.0, np.nan, 40.0],
        "sibsp": [1, 0, 0],
        "parch": [0, 0, 2],
        "fare": [0.0, 53.1, 26.0],
        "embarked": ["S", np.nan, "C"],
    }
)


def test_titanic_fills_its_gaps_and_takes_the_logarithm_of_the_fare():
    data = assemble("titanic", TABLES["titanic"], Raw(PASSENGERS, "nobody"))
    assert data.frame["age"].tolist() == [20.0, 30.0, 40.0]
    assert data.frame["fare"].tolist() == [0.0, 3.9722, 3.2581]
    assert data.frame["embarked"].tolist() == ["S", "S", "C"]
    assert data.frame["ticket_class"].tolist() == ["3", "1", "2"]
    assert PASSENGERS["age"].isna().sum() == 1


def test_the_variant_of_the_paper_has_the_fares_it_prints():
    raw = PASSENGERS.assign(fare=[53.1, 26.0, 27.0])
    data = assemble("titanic", TABLES["titanic"], Raw(raw, "nobody"), "paper")
    assert data.frame["fare"].tolist() == [3.9722, 3.2581, 3.2959]
    free = assemble("titanic", TABLES["titanic"], Raw(PASSENGERS, "nobody"), "paper")
    assert free.frame["fare"].tolist()[0] == -6.9078


def test_where_the_paper_prints_the_same_its_variant_is_the_same():
    assert load("breast", variant="paper").frame.equals(load("breast").frame)


def test_a_variant_that_does_not_exist_is_an_error():
    with pytest.raises(DataError, match="no variant 'raw'"):
        load("adult", variant="raw")


def test_every_name_has_a_table():
    assert set(NAMES) == set(TABLES)


BREAST = load("breast")
TEST_ROWS = 137


@given(seed=st.integers(0, 2**32 - 1))
def test_a_split_divides_the_rows_four_to_one(seed):
    train, test = BREAST.split(seed)
    assert len(test) == TEST_ROWS
    assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(BREAST.frame)))


@given(seed=st.integers(0, 2**32 - 1), count=st.integers(0, TEST_ROWS))
def test_rows_are_distinct_test_rows_and_a_longer_draw_repeats_a_shorter_one(seed, count):
    rows = BREAST.rows(count, seed)
    assert len(set(rows)) == count
    assert set(rows) <= set(BREAST.split(seed)[1])
    assert np.array_equal(rows, BREAST.rows(TEST_ROWS, seed)[:count])


def test_the_benchmark_rows_never_move():
    assert load("adult").rows(3).tolist() == [27014, 30428, 26206]
    assert BREAST.rows(3).tolist() == [110, 42, 388]


@pytest.mark.parametrize("count", [-1, TEST_ROWS + 1])
def test_a_count_without_enough_rows_is_an_error(count):
    with pytest.raises(OptionError, match="137 test rows"):
        BREAST.rows(count)
