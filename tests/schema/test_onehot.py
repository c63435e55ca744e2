"""One-hot blocks: many columns of the frame, one column of the schema."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from macex.errors import SchemaError
from macex.schema import Continuous, OneHot, Schema
from macex.schema.schema import frame_names, kinds_stated, stated
from schema.every_dtype import identical

EDU = ["BSc", "MSc", "PhD", "MSc", "BSc"]
EDUCATION = OneHot(["edu_BSc", "edu_MSc", "edu_PhD"])


def frame(dtype=bool):
    dummies = pd.get_dummies(pd.DataFrame({"edu": EDU}), dtype=dtype)
    dummies.insert(1, "age", [20, 30, 40, 50, 60])
    return dummies


def schema(data=None, block=EDUCATION):
    return Schema.infer(frame() if data is None else data, {"edu": block})


def test_a_block_is_one_column_that_stands_where_its_first_member_stood():
    assert schema().names == ("edu", "age")
    assert schema().columns[0].table == ("BSc", "MSc", "PhD")
    assert schema().columns[0].counts.tolist() == [2, 2, 1]


@pytest.mark.parametrize("dtype", [bool, "int8", "uint8", "int64", "float32", "float64", "boolean"])
def test_the_model_gets_its_dummies_back_in_their_dtype(dtype):
    data = frame(dtype)
    made = schema(data)
    assert made.read(data).codes[:, 0].tolist() == [0, 1, 2, 1, 0]
    assert identical(made.frame(made.read(data).codes), data)


@pytest.mark.parametrize("dtype", [pl.Boolean, pl.Int8, pl.Float64])
def test_polars_dummies_come_back_too(dtype):
    data = pl.from_pandas(frame()).with_columns(pl.col("^edu_.*$").cast(dtype))
    made = schema(data)
    assert made.frame(made.read(data).codes).equals(data)


def test_a_changed_row_has_exactly_one_member_hot_and_keeps_the_callers_dtypes():
    data = frame("int8")
    rows = schema(frame(bool)).read(data)
    codes = rows.codes[[0]].copy()
    codes[0, 0] = 2
    changed = rows.row(0, codes[0])
    assert changed.iloc[0].tolist() == [0, 20, 0, 1]
    assert changed.dtypes.tolist() == data.dtypes.tolist()


def test_a_dummy_never_hot_in_training_is_a_category_that_was_not_seen():
    data = frame().assign(edu_DSc=False)
    made = schema(data, OneHot([*EDUCATION.columns, "edu_DSc"]))
    assert made.columns[0].seen.tolist() == [0, 1, 2]
    rows = made.read(data.assign(edu_BSc=False, edu_MSc=False, edu_PhD=False, edu_DSc=True))
    assert rows.cell(0, 0) == "DSc"


def test_a_dropped_first_category_is_the_row_without_a_member():
    data = frame().drop(columns="edu_BSc")
    named = schema(data, OneHot(["edu_MSc", "edu_PhD"], none="BSc"))
    assert [named.read(data).cell(row, named.position("edu")) for row in range(5)] == EDU
    assert identical(named.frame(named.read(data).codes), data)
    unnamed = schema(data, OneHot(["edu_MSc", "edu_PhD"]))
    assert unnamed.columns[unnamed.position("edu")].table == ("MSc", "PhD", "none of these")


def test_categories_are_called_by_what_follows_the_common_start_or_as_told():
    short = Schema.infer(frame(), {"education": EDUCATION})
    assert short.columns[0].table == ("BSc", "MSc", "PhD")
    titles = {"edu_BSc": "Bachelor", "edu_MSc": "Master", "edu_PhD": "Doctor"}
    assert schema(block=OneHot(titles)).columns[0].table == ("Bachelor", "Master", "Doctor")


def test_arrays_are_declared_by_position():
    data = frame(float).to_numpy(dtype=float)
    made = Schema.infer(data, {"edu": OneHot({"x0": "BSc", "x2": "MSc", "x3": "PhD"})})
    assert made.names == ("edu", "x1")
    assert np.array_equal(made.frame(made.read(data).codes), data)


def test_one_row_may_name_the_block_or_its_members():
    by_block = schema().read({"age": 33, "edu": "PhD"})
    by_member = schema().read({"age": 33, "edu_BSc": False, "edu_MSc": False, "edu_PhD": True})
    assert identical(by_block.native, by_member.native)
    assert by_block.cells(0) == {"edu": "PhD", "age": 33}


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"edu_BSc": True}, "'edu' exactly one column must be 1, but in row 1 2 are: edu_BSc"),
        ({"edu_MSc": False}, "'edu' exactly one column must be 1, but in row 1 none is"),
        ({"edu_BSc": 0.5}, "'edu_BSc'"),
        ({"edu_BSc": None}, "'edu_BSc'"),
    ],
)
def test_a_row_that_is_no_choice_is_refused_by_block_and_row(wrong, says):
    with pytest.raises(SchemaError, match=says):
        schema().read(frame().assign(**wrong))


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"edu": OneHot(["edu_BSc", "edu_Msc"])}, "no column 'edu_Msc'; did you mean 'edu_MSc'"),
        ({"age": EDUCATION}, "'age' is called like a column"),
        ({"edu": EDUCATION, "e": OneHot(["edu_BSc", "edu_MSc"])}, "'edu_BSc' is in two one-hot"),
        ({"edu": EDUCATION, "edu_BSc": "categorical"}, "'edu_BSc' is in the one-hot block 'edu'"),
        ({"edu": OneHot(["edu_BSc", "age"])}, "'age' of the one-hot block 'edu' is neither"),
        ({"ede": None}, "no column 'ede'"),
    ],
)
def test_a_block_that_cannot_be_is_refused(given, says):
    with pytest.raises(SchemaError, match=says):
        Schema.infer(frame(), given)


def test_text_is_no_dummy():
    data = frame().astype({"edu_BSc": str})
    with pytest.raises(SchemaError, match="convert it to booleans or to the numbers 0 and 1"):
        schema(data)


@pytest.mark.parametrize("columns", ["edu_BSc", ["edu_BSc"], ["edu_BSc", "edu_BSc"], 7])
def test_what_is_no_choice_cannot_be_declared(columns):
    with pytest.raises(SchemaError, match="OneHot"):
        OneHot(columns)


def test_a_member_is_no_column_and_the_error_names_its_block():
    with pytest.raises(SchemaError, match="'edu_BSc': it is in the one-hot block 'edu'"):
        schema().position("edu_BSc")


def test_a_stored_block_is_read_again():
    data = frame().drop(columns="edu_BSc")
    made = schema(data, OneHot(["edu_MSc", "edu_PhD"], none="BSc"))
    again = Schema.from_dict(json.loads(json.dumps(made.to_dict())))
    assert repr(again) == repr(made)
    assert identical(again.frame(made.read(data).codes), data)


def test_other_columns_are_as_they_were():
    made = Schema.infer(frame(), {"edu": EDUCATION, "age": Continuous(step=5)})
    assert made.columns[1].step == 5


@pytest.mark.parametrize("none", [None, "BSc"])
def test_what_is_stated_of_a_block_makes_it_again(none):
    data = frame() if none is None else frame().drop(columns="edu_BSc")
    members = [name for name in data.columns if name != "age"]
    made = schema(data, OneHot(members, none=none))
    document = json.loads(json.dumps(stated(made)))
    assert sorted(frame_names(document)) == sorted(data.columns)
    assert repr(Schema.infer(data, kinds_stated(document))) == repr(made)
