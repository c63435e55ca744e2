"""The caller's rows: found by name, given back as they were, with only the changes written."""

from __future__ import annotations

from datetime import datetime
from itertools import pairwise, permutations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from macex.errors import SchemaError
from macex.schema import MISSING, UNKNOWN, Schema, cell_keys, row_keys
from schema.every_dtype import identical

TRAIN = pd.DataFrame({"age": [30.5, 41.0], "edu": ["BSc", "PhD"], "pay": [10, 20]})
SCHEMA = Schema.infer(TRAIN)


def test_columns_are_found_by_name_in_any_order_and_library():
    frame = pl.DataFrame({"pay": [7], "edu": ["PhD"], "age": [33.0]})
    assert SCHEMA.read(frame).codes.tolist() == [[33, 1, 7]]
    pandas = pd.DataFrame(frame.to_dict(as_series=False))
    assert SCHEMA.read(pandas).codes.tolist() == [[33, 1, 7]]
    assert SCHEMA.read(np.array([[33.0, "PhD", 7]], dtype=object)).codes.tolist() == [[33, 1, 7]]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (TRAIN.rename(columns={"edu": "educ"}), "no column 'edu'.*did you mean 'educ'"),
        (TRAIN.assign(y=1, z=2), r"not trained on: 'y', 'z'; drop them"),
        (TRAIN[["age", "age", "edu", "pay"]], "two columns 'age'"),
        (np.zeros((2, 4)), "have 4 columns, the training data 3"),
        (np.zeros(3), "1 dimensions"),
        ("rows", "are a str"),
        ({"age": 3.0}, "no column 'edu'"),
        (pd.Series([1, 2], index=["age", "age"]), "twice"),
    ],
)
def test_rows_that_do_not_fit_say_why(rows, words):
    with pytest.raises(SchemaError, match=words):
        SCHEMA.read(rows)


def test_no_rows_are_legal():
    rows = SCHEMA.read(TRAIN.head(0))
    assert rows.codes.shape == (0, 3)
    assert len(SCHEMA.frame(rows.codes, rows)) == 0
    assert SCHEMA.frame(np.empty((0, 3))).dtypes.tolist() == TRAIN.dtypes.tolist()


def test_only_the_changed_cells_are_written():
    frame = TRAIN[["pay", "edu", "age"]].set_axis(["p", "q"])
    rows = SCHEMA.read(frame)
    codes = rows.codes.copy()
    codes[1, 1] = 0.0
    expected = frame.copy()
    expected.loc["q", "edu"] = "BSc"
    assert rows.index == ["p", "q"]
    assert identical(rows.row(1, codes[1]), expected.loc[["q"]])
    assert identical(rows.frame(np.array([1, 1, 0]), codes[[1, 1, 0]]), expected.iloc[[1, 1, 0]])
    assert identical(frame, rows.native)


def test_a_dtype_grows_only_where_a_written_value_does_not_fit():
    rows = SCHEMA.read(pd.DataFrame({"age": [30], "edu": pd.Categorical(["BSc"]), "pay": [7.0]}))
    fitting = rows.row(0, np.array([42.0, 0.0, 9.0]))
    assert fitting.dtypes.astype(str).tolist() == ["int64", "category", "float64"]
    assert fitting.to_numpy().tolist() == [[42, "BSc", 9.0]]
    grown = rows.row(0, np.array([42.5, 1.0, 7.0]))
    assert grown.dtypes.astype(str).tolist() == ["float64", "category", "float64"]
    assert grown.to_numpy().tolist() == [[42.5, "PhD", 7.0]]


@pytest.mark.parametrize("trained", [object, "category", pd.StringDtype("python")])
def test_text_is_written_where_pyarrow_is_not_installed(trained):
    """Pandas then keeps text in an array that looks like one of plain objects."""
    schema = Schema.infer(pd.DataFrame({"home": pd.Series(["own", "rent"] * 9, dtype=trained)}))
    rows = schema.read(pd.DataFrame({"home": pd.Series(["own"], dtype=pd.StringDtype("python"))}))
    written = rows.row(0, schema.read(pd.DataFrame({"home": ["rent"]})).codes[0])
    assert written["home"].tolist() == ["rent"]
    assert written["home"].dtype == pd.StringDtype("python")


def test_a_float_that_the_callers_float32_cannot_hold_takes_the_training_dtype():
    rows = SCHEMA.read(TRAIN.astype({"age": "float32"}))
    assert rows.row(0, np.array([0.1, 0, 10]))["age"].tolist() == [0.1]
    assert rows.row(0, np.array([0.5, 0, 10]))["age"].dtype == "float32"


def test_a_missing_value_can_be_written():
    rows = SCHEMA.read(TRAIN.astype({"age": "int64"}))
    blanked = rows.row(0, np.array([MISSING, MISSING, 10.0]))
    assert blanked["age"].isna().all()
    assert blanked["edu"].isna().all()
    assert blanked.dtypes.astype(str).tolist() == ["float64", str(TRAIN["edu"].dtype), "int64"]


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical, pl.Enum(["BSc"])])
def test_a_polars_caller_gets_polars_back_whatever_the_training_data(dtype):
    frame = pl.DataFrame({"edu": pl.Series(["BSc"], dtype=dtype), "pay": [7], "age": [30]})
    for train in (TRAIN, pl.DataFrame(TRAIN.to_dict("list"))):
        rows = Schema.infer(train).read(frame)
        written = rows.row(0, np.array([42.5, 1.0, 9.0]))
        assert written.rows() == [("PhD", 9, 42.5)]
        assert written.schema["pay"] == pl.Int64
        assert identical(rows.row(0), frame)


def test_an_array_caller_gets_an_array_back():
    schema = Schema.infer(np.array([[1.5, 2.0], [3.0, 4.0]]))
    rows = schema.read(np.array([[1, 2], [3, 4]]))
    assert identical(rows.row(1, np.array([3.0, 9.0])), np.array([[3, 9]]))
    assert identical(rows.row(1, np.array([3.5, 4.0])), np.array([[3.5, 4.0]]))
    objects = SCHEMA.read(np.array([[33.0, "PhD", 7]], dtype=object))
    assert objects.row(0, np.array([33.0, 0.0, 7.0])).tolist() == [[33.0, "BSc", 7]]
    text = Schema.infer(np.array([["a", "longer"], ["b", "c"]]))
    assert text.read(np.array([["a", "c"]])).row(0, np.array([0.0, 1.0])).tolist() == [
        ["a", "longer"]
    ]


def test_unknown_text_of_any_length_reaches_the_model():
    schema = Schema.infer(np.array([["a"], ["b"]]))
    rows = schema.read(np.array([["much longer"]]))
    assert schema.frame(rows.codes, rows).tolist() == [["much longer"]]


def test_an_unknown_category_is_missing_for_the_model_and_kept_for_the_caller():
    schema = Schema.infer(TRAIN.astype({"edu": "category"}))
    rows = schema.read(TRAIN.assign(edu=pd.Categorical(["BSc", "Dr"])))
    assert schema.frame(rows.codes, rows, np.array([0, 1]))["edu"].isna().tolist() == [False, True]
    assert rows.row(1, np.array([9.5, UNKNOWN, 20.0]))["edu"].tolist() == ["Dr"]


def test_a_changed_cell_is_no_longer_odd():
    rows = SCHEMA.read(TRAIN.assign(edu=["Dr", "PhD"]))
    codes = rows.codes[[0, 0]]
    codes[1, 1] = 1.0
    assert SCHEMA.frame(codes, rows, np.array([0, 0]))["edu"].tolist() == ["Dr", "PhD"]


def test_one_mapping_or_series_is_one_row_of_the_training_dtypes():
    for one in ({"pay": 7, "age": 30, "edu": "PhD"}, TRAIN.iloc[1]):
        rows = SCHEMA.read(one)
        assert len(rows) == 1
        assert rows.row(0).dtypes.tolist() == TRAIN.dtypes.tolist()
    assert rows.index == [1]
    assert identical(rows.row(0), TRAIN.iloc[[1]])


@pytest.mark.parametrize("dtype", ["category", object, "str"])
def test_one_mapping_keeps_its_unknown_category(dtype):
    schema = Schema.infer(TRAIN.astype({"edu": dtype}))
    rows = schema.read({"pay": 7, "age": 30, "edu": "Dr"})
    assert rows.cells(0) == {"age": 30.0, "edu": "Dr", "pay": 7}
    assert rows.row(0, np.array([31.0, UNKNOWN, 7.0]))["edu"].tolist() == ["Dr"]


def test_one_mapping_fits_training_data_of_any_library():
    polars = Schema.infer(pl.DataFrame(TRAIN.to_dict("list")))
    assert polars.read({"age": 30, "edu": "Dr", "pay": 7}).row(0).rows() == [(30.0, "Dr", 7)]
    array = Schema.infer(np.array([[1.5, 2.0]]))
    assert array.read({"x0": 1, "x1": 3}).row(0).tolist() == [[1.0, 3.0]]


def test_cells_are_python_values():
    moment = datetime(2024, 1, 1)  # noqa: DTZ001
    frame = pd.DataFrame({"a": np.array([0.1], "float32"), "b": [moment], "c": [np.nan], "d": [3]})
    cells = Schema.infer(frame).read(frame).cells(0)
    assert cells == {"a": 0.1, "b": moment, "c": None, "d": 3}
    assert [type(cell) for cell in cells.values()] == [float, datetime, type(None), int]


class Older(pd.DataFrame):
    """A frame of a pandas that does not lend its arrays."""

    _iter_column_arrays = None


def test_arrays_are_read_the_same_where_pandas_does_not_lend_them():
    frame = pd.DataFrame(
        {
            "float": [1.5, np.nan],
            "text": ["a", None],
            "kind": pd.Categorical(["u", "v"]),
            "when": pd.to_datetime(["2020-01-01", None]),
            "zone": pd.to_datetime(["2020-01-01", None]).tz_localize("Europe/Berlin"),
            "maybe": pd.array([True, None], dtype="boolean"),
            "whole": pd.array([1, None], dtype="Int64"),
            "object": np.array(["x", 3], dtype=object),
        }
    )
    schema = Schema.infer(frame)
    assert schema.to_dict() == Schema.infer(Older(frame)).to_dict()
    assert np.array_equal(schema.read(frame).codes, schema.read(Older(frame)).codes)


def test_reading_leaves_the_caller_s_frame_alone():
    frame = pd.DataFrame({"age": [30.5, np.nan], "edu": ["BSc", "none"], "pay": [10, 30]})
    kept = frame.copy()
    rows = SCHEMA.read(frame)
    rows.codes[:] = 7
    assert identical(frame, kept)


@pytest.mark.parametrize("blank", [np.nan, None, pd.NA], ids=repr)
def test_a_cell_that_is_blanked_holds_the_missing_value_of_training(blank):
    data = pd.DataFrame({"word": pd.Series(["x", "y", blank] * 8, dtype=object), "n": range(24)})
    schema = Schema.infer(data)
    rows = schema.read(data)
    written = rows.row(0, rows.codes[2] * [1, 0]).iloc[0]["word"]
    assert pd.isna(written)
    assert type(written) is type(blank)


@pytest.mark.parametrize("columns", [1, 2, 5, 9])
@pytest.mark.parametrize("step", [1.0, 0.1, 1e6, 2.0**-30])
def test_different_rows_have_different_keys(columns, step):
    rng = np.random.default_rng(columns)
    rows = np.unique(rng.integers(-40, 40, (60_000, columns)) * step, axis=0)
    assert len(np.unique(row_keys(rows))) == len(rows)


def test_rows_that_hold_the_same_values_elsewhere_differ():
    rows = np.array(list(permutations([0.0, 1.0, 2.0, 3.0, MISSING, UNKNOWN])))
    assert len(np.unique(row_keys(rows))) == len(rows)


def test_the_key_of_a_row_is_the_sum_of_its_cells():
    row = np.array([[4.0, 7.5, MISSING]])
    cells = [cell_keys(row[:, at], np.array([at])) for at in range(3)]
    assert row_keys(row) == cells[0] + cells[1] + cells[2]


def test_zero_has_one_key():
    assert all(a == b for a, b in pairwise(row_keys(np.array([[0.0], [-0.0]]))))
