"""Frames become matrices by name, whatever library they come from."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from macex.errors import ModelError
from macex.models.kinds.matrix import Matrix

FRAME = pd.DataFrame(
    {"age": [30, 41, 52], "job": ["cook", None, "clerk"], "owns": [True, False, True]}
)
KNOWN = {"job": ("clerk", "cook")}
WANTED = [[30, 1, 1], [41, np.nan, 0], [52, 0, 1]]
MATRIX = Matrix(("age", "job", "owns"), KNOWN)


def polars_frame():
    return pytest.importorskip("polars").from_pandas(FRAME)


@pytest.mark.parametrize(
    "frame",
    [
        lambda: FRAME,
        lambda: FRAME[["owns", "job", "age"]],
        lambda: FRAME.astype({"job": "category"}),
        lambda: FRAME.assign(job=pd.Categorical(FRAME["job"], ["none", "cook", "clerk"])),
        lambda: FRAME.convert_dtypes(dtype_backend="numpy_nullable"),
        lambda: FRAME.astype({"job": object}),
        polars_frame,
    ],
    ids=["plain", "turned", "category", "other categories", "nullable", "object", "polars"],
)
def test_columns_are_found_by_name_and_categories_by_value(frame):
    assert np.array_equal(MATRIX(frame()), WANTED, equal_nan=True)


def test_a_category_unknown_to_the_model_is_missing_or_an_error():
    strange = FRAME.assign(job=["cook", "judge", "clerk"])
    assert np.isnan(MATRIX(strange)[1, 1])
    with pytest.raises(ValueError, match="'job' holds 'judge'"):
        Matrix(MATRIX.names, KNOWN, strict=True)(strange)


def test_a_category_that_no_row_holds_is_no_error():
    frame = FRAME.assign(job=pd.Categorical(["cook"] * 3, ["cook", "judge"]))
    assert Matrix(MATRIX.names, KNOWN, strict=True)(frame)[:, 1].tolist() == [1, 1, 1]


def test_no_rows_are_no_rows():
    assert MATRIX(FRAME.iloc[:0]).shape == (0, 3)


def test_text_without_categories_is_named():
    with pytest.raises(ModelError, match="column 'job' holds"):
        Matrix()(FRAME)


def test_arrays_are_taken_by_position():
    assert Matrix(width=2)(np.array([[1, 2]])).tolist() == [[1.0, 2.0]]
    with pytest.raises(ModelError, match="3 columns, data has 2"):
        MATRIX(np.array([[1, 2]]))
    with pytest.raises(ModelError, match="takes numbers"):
        Matrix()(np.array([["a"]], dtype=object))


def test_ten_thousand_categories_are_looked_up_once_each():
    known = [f"c{place}" for place in range(10_000)]
    frame = pd.DataFrame({"job": pd.Categorical(known[::-1], known)})
    assert Matrix(("job",), {"job": known})(frame)[:, 0].tolist() == list(range(10_000))[::-1]


def test_categories_are_looked_up_once_for_all_frames_of_a_type():
    kind = pd.CategoricalDtype(["cook", "judge", "clerk"])
    frame = FRAME.assign(job=FRAME["job"].astype(kind))
    matrix = Matrix(MATRIX.names, KNOWN, strict=True)
    assert np.array_equal(matrix(frame), WANTED, equal_nan=True)
    looked_up = matrix.coded["job"][1]
    assert matrix(frame.iloc[:1]).tolist() == [[30, 1, 1]]
    assert matrix.coded["job"][1] is looked_up
    with pytest.raises(ValueError, match="'job' holds 'judge'"):
        matrix(frame.assign(job=pd.Categorical(["cook", "judge", "clerk"], dtype=kind)))
    turned = frame.assign(job=pd.Categorical(["cook", None, "clerk"], ["clerk", "cook"]))
    assert np.array_equal(matrix(turned), WANTED, equal_nan=True)
