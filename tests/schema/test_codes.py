"""What a caller's column means to a column of the training data, or why it means nothing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from macex.errors import SchemaError
from macex.schema import MISSING, UNKNOWN, Schema

TRAIN = pd.DataFrame(
    {
        "age": [30, 41],
        "rate": np.array([0.5, 0.7], dtype="float32"),
        "edu": ["BSc", "PhD"],
        "member": [True, False],
        "since": pd.to_datetime(["2024-01-01", "2024-02-01"]),
        "class": pd.Categorical(["x", "y"]),
    }
)
SCHEMA = Schema.infer(TRAIN, {"class": "categorical"})


def read(**cells):
    frame = TRAIN.astype(object)
    for name, column in cells.items():
        frame[name] = pd.Series(column)
    rows = SCHEMA.read(frame)
    at = [SCHEMA.position(name) for name in cells]
    return rows.codes[:, at].T.tolist(), rows.odd[:, at].T.tolist()


@pytest.mark.parametrize(
    ("cells", "codes"),
    [
        ({"age": [40.0, 41.0]}, [40, 41]),
        ({"age": pd.array([40, 41], dtype="Int8")}, [40, 41]),
        ({"age": [True, False]}, [1, 0]),
        ({"rate": [1, 2]}, [1, 2]),
        ({"rate": [0.1, None]}, [float(np.float32(0.1)), MISSING]),
        ({"edu": pd.Categorical(["PhD", "BSc"])}, [1, 0]),
        ({"member": [1, 0]}, [1, 0]),
        ({"since": ["2024-01-02", None]}, [86_400, MISSING]),
        ({"since": pd.to_datetime(["2024-01-02", None])}, [86_400, MISSING]),
    ],
)
def test_what_can_be_cast_without_loss_is_read(cells, codes):
    assert read(**cells) == ([codes], [[False, False]])


def test_missing_text_is_read():
    assert read(edu=["PhD", None])[0] == [[1, MISSING]]


def test_an_unknown_category_is_legal_and_odd():
    for name in ("edu", "class"):
        codes, odd = read(**{name: ["Dr", None]})
        assert codes == [[UNKNOWN, MISSING]]
        assert odd == [[True, TRAIN[name].dtype == object]]  # objects have more than one blank


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ({"age": [40, 40.5]}, "'age' holds 40.5 in row 1, but was trained on integers"),
        ({"age": [40, None]}, "'age' is missing in row 1, but was trained as int64"),
        ({"age": [40, "old"]}, "'age' holds 'old' in row 1, which is not a number"),
        ({"age": [40, "41"]}, "'age' holds '41' in row 1, which is not a number"),
        ({"age": [40, 1e30]}, "does not fit int64"),
        ({"age": pd.to_datetime(["2024", "2025"])}, "'age' holds datetime64.*numbers are needed"),
        ({"rate": [0.5, -np.inf]}, "'rate' holds -inf in row 1; replace"),
        ({"rate": [0.5, 1e50]}, r"'rate' holds 1e\+50 in row 1, which does not fit float32"),
        ({"edu": ["PhD", 3]}, "'edu' holds 3 in row 1, of type int, but was trained on str"),
        ({"member": [True, "yes"]}, "'member' holds 'yes' in row 1, of type str"),
        ({"member": [True, 2]}, "'member' holds 2 in row 1"),
        ({"edu": ["PhD", np.inf]}, "'edu' holds inf in row 1"),
        ({"since": [1, 2]}, "'since' needs a date or time"),
        ({"since": pd.to_datetime(["2024", "2025"]).tz_localize("UTC")}, "'since' has dtype"),
    ],
)
def test_what_cannot_be_cast_without_loss_names_column_value_and_row(cells, words):
    with pytest.raises(SchemaError, match=words):
        read(**cells)


def test_a_category_of_integers_takes_integers_only():
    schema = Schema.infer(pd.DataFrame({"c": np.array([1, 3], dtype="int8")}), {"c": "categorical"})
    rows = schema.read(pd.DataFrame({"c": [3.0, 9.0]}))
    assert rows.codes.ravel().tolist() == [1, UNKNOWN]
    assert schema.frame(rows.codes, rows)["c"].tolist() == [3, 9]
    for value, words in ((2.5, "is not whole"), (900, "does not fit int8")):
        with pytest.raises(SchemaError, match=words):
            schema.read(pd.DataFrame({"c": [value]}))


def test_a_column_that_was_always_missing_takes_anything_its_dtype_holds():
    schema = Schema.infer(pd.DataFrame({"c": [np.nan, np.nan]}))
    rows = schema.read(pd.DataFrame({"c": [2.5, np.nan]}))
    assert rows.codes.ravel().tolist() == [UNKNOWN, MISSING]
    assert schema.frame(rows.codes, rows)["c"].tolist()[0] == 2.5
    with pytest.raises(SchemaError, match="'c' holds 'x' in row 0, which is not a number"):
        schema.read(pd.DataFrame({"c": ["x"]}))


def test_a_number_just_past_the_end_of_an_integer_dtype_is_an_error():
    schema = Schema.infer(pd.DataFrame({"c": [1, 2**63 - 1]}))
    with pytest.raises(SchemaError, match=r"'c' holds .* does not fit int64"):
        schema.read(pd.DataFrame({"c": [2.0**63]}))


def test_ten_thousand_unknown_categories_are_read_at_once():
    words = [f"w{at}" for at in range(10_000)]
    rows = Schema.infer(pd.DataFrame({"c": words})).read(pd.DataFrame({"c": words + words[::-1]}))
    assert rows.codes[:10_000].tolist() == rows.codes[:9_999:-1].tolist()
    others = Schema.infer(pd.DataFrame({"c": words})).read(
        pd.DataFrame({"c": [word.upper() for word in words]})
    )
    assert (others.codes == UNKNOWN).all()


def test_integers_past_two_to_the_53_are_odd():
    big = 2**53 + 1
    schema = Schema.infer(pd.DataFrame({"c": [1, big]}))
    rows = schema.read(pd.DataFrame({"c": [big, 7]}))
    assert rows.odd.ravel().tolist() == [True, False]
    assert schema.frame(rows.codes, rows)["c"].tolist() == [big, 7]


def test_polars_null_and_nan_are_both_missing():
    schema = Schema.infer(pl.DataFrame({"c": [1.5, None, 2.5]}))
    rows = schema.read(pl.DataFrame({"c": [None, float("nan")]}))
    assert rows.codes.ravel().tolist() == [MISSING, MISSING]
    assert rows.odd.ravel().tolist() == [False, True]


DATA = pd.DataFrame(
    {
        "town": ["Bonn", "Kiel", None, "Ulm"],
        "age": [30, 41, 52, 63],
        "job": ["nurse", "cook", "cook", "nurse"],
        "kind": pd.array(["a", None, "b", "c"], dtype="string"),
        "pet": ["cat", "dog", "eel", None],
    }
)


def test_several_columns_of_text_come_back_as_they_were() -> None:
    schema = Schema.infer(DATA)
    pd.testing.assert_frame_equal(schema.frame(schema.read(DATA).codes), DATA)


@pytest.mark.parametrize("rows", [[0], [2, 1], []])
def test_any_rows_of_them_come_back(rows: list[int]) -> None:
    schema = Schema.infer(DATA)
    part = DATA.iloc[rows].reset_index(drop=True)
    pd.testing.assert_frame_equal(schema.frame(schema.read(DATA).codes[rows]), part)


def test_a_text_never_seen_stays_the_callers_own_beside_the_others() -> None:
    schema = Schema.infer(DATA)
    query = DATA.assign(town=["Rom", "Kiel", None, "Ulm"])
    rows = schema.read(query)
    pd.testing.assert_frame_equal(schema.frame(rows.codes, own=rows), query)


def test_nanoseconds_of_a_zoned_datetime_stay_the_callers_own() -> None:
    days = pd.date_range("2024-01-01 00:00:00.000000123", periods=4, tz="UTC", unit="ns")
    data = DATA.assign(since=days)
    schema = Schema.infer(data)
    rows = schema.read(data)
    pd.testing.assert_frame_equal(schema.frame(rows.codes, own=rows), data)


@pytest.mark.parametrize("library", ["pandas", "numpy"])
def test_an_odd_cell_leaves_numbers_of_one_dtype_in_one_piece(library):
    numbers = np.arange(60.0).reshape(20, 3) / 8
    odd = numbers.copy()
    odd[4, 1] = -0.0
    made = (lambda array: array) if library == "numpy" else pd.DataFrame
    schema = Schema.infer(made(numbers))
    rows = schema.read(made(odd))
    assert rows.originals
    frame = schema.frame(rows.codes, rows)
    array = frame if library == "numpy" else frame.to_numpy()
    assert np.array_equal(np.signbit(array), np.signbit(odd))
    assert np.array_equal(array, odd)
    assert library == "numpy" or np.shares_memory(array, frame.to_numpy())


def test_columns_of_all_dtypes_lie_as_pandas_lays_them():
    data = DATA.assign(
        half=[0.5, np.nan, 1.5, 2.0],
        pay=pd.array([1, None, 3, 4], dtype="Int64"),
        since=pd.to_datetime(["2020-01-01", None, "2021-01-01", "2022-01-01"]),
        grade=pd.Categorical(["x", "y", "x", None]),
        any=np.array(["x", 3, None, "y"], dtype=object),
        tall=[True, False, True, True],
        more=[1.25, 2.5, np.nan, 4.5],
    )
    schema = Schema.infer(data)
    rows = schema.read(data.assign(more=[1.25, 2.5, -0.0, 4.5], pet=["cat", "ape", "eel", None]))
    made = schema.frame(rows.codes, own=rows)
    pd.testing.assert_frame_equal(made, rows.native)
    arrays = {
        str(block.dtype): block.values for block in made._mgr.blocks if block.values.ndim == 2
    }
    assert arrays["float64"].shape == (2, 4)
    assert arrays["float64"].flags.c_contiguous


def test_older_pandas_builds_the_same_frames(monkeypatch):
    data = DATA.assign(half=[0.5, np.nan, 1.5, 2.0], any=np.array(["x", 3, None, "y"], object))
    schema = Schema.infer(data)
    codes = schema.read(data).codes
    monkeypatch.delattr(pd.api, "internals", raising=False)
    pd.testing.assert_frame_equal(schema.frame(codes), data)
