"""The schema as a whole: frames for the model, names, looks, and a life outside the process."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest

from macex.errors import SavedError, SchemaError
from macex.schema import Schema
from schema.every_dtype import identical

TRAIN = pd.DataFrame(
    {
        "age": [30, 41, 52],
        "edu": pd.Categorical(["BSc", "PhD", None], ["PhD", "MSc", "BSc"], ordered=True),
        "<b>": ["x", "y", None],
        "note": pd.Series(["p", None, "q"], dtype=object),
        "since": pd.to_datetime(["2024-01-01", "2024-01-02", None]).tz_localize("Europe/Paris"),
    }
)


def test_the_model_gets_columns_order_and_dtypes_of_training():
    schema = Schema.infer(TRAIN)
    rows = schema.read(TRAIN[TRAIN.columns[::-1]].set_axis(["a", "b", "c"]))
    assert identical(schema.frame(rows.codes, rows, np.arange(3)), TRAIN)


def test_a_frame_of_numbers_keeps_its_dtype_and_missing_values():
    frame = pd.DataFrame(np.array([[1.5, np.nan], [2.0, 3.0]], dtype="float32"), columns=[3, "a"])
    schema = Schema.infer(frame)
    assert identical(schema.frame(schema.read(frame).codes), frame)


def test_the_frame_given_to_the_model_is_its_own():
    codes = np.array([[1.0, 2.0]])
    schema = Schema.infer(pd.DataFrame({"a": [1.0, 5.0], "b": [1.0, 5.0]}))
    frame = schema.frame(codes)
    frame.iloc[0, 0] = 99
    assert codes.tolist() == [[1, 2]]


def test_an_unknown_name_is_an_error_that_knows_the_right_one():
    with pytest.raises(SchemaError, match="no column 'agee'; did you mean 'age'"):
        Schema.infer(TRAIN).position("agee")


@pytest.mark.parametrize("train", [TRAIN, pl.DataFrame({"a": ["x"], "b": [1]}), np.eye(2)])
def test_what_is_stored_is_what_was(train):
    schema = Schema.infer(train)
    stored = json.loads(json.dumps(schema.to_dict()))
    again = Schema.from_dict(stored)
    assert again.to_dict() == schema.to_dict()
    rows = again.read(train)
    assert identical(again.frame(rows.codes, rows, np.arange(len(rows))), train)
    assert [a.dtype for a in again.columns] == [b.dtype for b in schema.columns]


def test_a_later_form_of_storage_is_refused():
    with pytest.raises(SavedError, match="version 99"):
        Schema.from_dict({"version": 99})


def test_a_schema_travels_to_another_process():
    schema = Schema.infer(TRAIN)
    rows = schema.read(TRAIN)
    again = pickle.loads(pickle.dumps(rows))  # noqa: S301
    assert identical(again.row(0), rows.row(0))


def test_a_schema_can_be_read_by_people():
    text, page = repr(Schema.infer(TRAIN)), Schema.infer(TRAIN)._repr_html_()
    assert "age    continuous   30 to 52" in text
    assert "&lt;b&gt;" in page
    assert "<b>" not in page


def test_reading_pandas_does_not_import_polars():
    code = "import sys, macex.schema; sys.exit('polars' in sys.modules)"
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=path, check=False).returncode == 0
