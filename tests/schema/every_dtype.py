"""Hypothesis strategies for columns of every dtype, and what 'bit for bit' means."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from hypothesis import strategies as st

from macex.schema.cells import blank_name

WORDS = st.text("abcé ", max_size=3)
SMALL = st.integers(-128, 127)
LARGE = st.integers(-(2**63), 2**63 - 1)
FLOATS = st.floats(-1e100, 1e100)
FLOATS32 = st.floats(width=32, allow_infinity=False, allow_nan=False)
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2040, 1, 1))  # noqa: DTZ001
SECONDS = MOMENTS.map(lambda moment: moment.replace(microsecond=0))
NONE, NAN = st.none(), st.just(float("nan"))
ANY_BLANK = st.sampled_from([None, float("nan"), pd.NA, pd.NaT])

PANDAS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "object text": (object, WORDS | ANY_BLANK),
    "object mixed": (object, WORDS | SMALL | st.booleans() | st.sampled_from([1.0, True, 1])),
    "object numbers": (object, LARGE | FLOATS | ANY_BLANK),
    "object whole": (object, st.integers(-(2**70), 2**70)),
    "str": ("str", WORDS | NONE),
    "str without pyarrow": (pd.StringDtype("python", na_value=float("nan")), WORDS | NONE),
    "string": ("string", WORDS | NONE),
    "string without pyarrow": (pd.StringDtype("python"), WORDS | NONE),
    "category": (pd.CategoricalDtype(["b", "a", "c"]), st.sampled_from("abc") | NONE),
    "category of numbers": (pd.CategoricalDtype([3, 1, 2]), st.sampled_from([1, 2, 3]) | NONE),
    "ordered": (
        pd.CategoricalDtype(["lo", "mid", "hi"], ordered=True),
        st.sampled_from(["lo", "hi"]),
    ),
    "bool": (bool, st.booleans()),
    "boolean": ("boolean", st.booleans() | NONE),
    "int8": ("int8", SMALL),
    "uint64": ("uint64", st.integers(0, 2**64 - 1)),
    "int64": ("int64", LARGE),
    "Int64": ("Int64", LARGE | NONE),
    "float32": ("float32", FLOATS32 | NAN),
    "float64": ("float64", FLOATS | NAN),
    "Float64": ("Float64", FLOATS | NONE),
    "datetime64[s]": ("datetime64[s]", SECONDS | NONE),
    "datetime64[us]": ("datetime64[us]", MOMENTS | NONE),
    "datetime64[ns]": (
        "datetime64[ns]",
        MOMENTS.map(lambda m: pd.Timestamp(m).as_unit("ns") + pd.Timedelta(1, "ns")),
    ),
    "datetime with zone": (
        "datetime64[us, Europe/Paris]",
        MOMENTS.map(lambda m: m.replace(tzinfo=UTC)) | NONE,
    ),
    "timedelta64[ns]": ("timedelta64[ns]", st.timedeltas(timedelta(0), timedelta(9)) | NONE),
}
POLARS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "String": (pl.String(), WORDS | NONE),
    "Categorical": (pl.Categorical(), st.sampled_from("abc") | NONE),
    "Enum": (pl.Enum(["b", "a", "c"]), st.sampled_from("abc") | NONE),
    "Boolean": (pl.Boolean(), st.booleans() | NONE),
    "Int8": (pl.Int8(), SMALL | NONE),
    "UInt64": (pl.UInt64(), st.integers(0, 2**64 - 1) | NONE),
    "Int64": (pl.Int64(), LARGE | NONE),
    "Float32": (pl.Float32(), FLOATS32 | NAN | NONE),
    "Float64": (pl.Float64(), FLOATS | NAN | NONE),
    "Date": (pl.Date(), st.dates(date(1900, 1, 1), date(2100, 1, 1)) | NONE),
    "Datetime": (pl.Datetime("us"), MOMENTS | NONE),
    "Datetime[ms]": (pl.Datetime("ms"), SECONDS | NONE),
    "Datetime with zone": (
        pl.Datetime("us", "Europe/Paris"),
        MOMENTS.map(lambda m: m.replace(tzinfo=UTC)) | NONE,
    ),
    "Duration": (pl.Duration("us"), st.timedeltas(timedelta(0), timedelta(9)) | NONE),
    "Null": (pl.Null(), NONE),
}
ARRAYS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "float64": (np.float64, FLOATS | NAN),
    "float32": (np.float32, FLOATS32 | NAN),
    "int64": (np.int64, LARGE),
    "bool": (np.bool_, st.booleans()),
    "text": (np.str_, WORDS.map(lambda word: word + "!")),
    "object": (object, WORDS | SMALL | ANY_BLANK),
    "datetime": ("M8[us]", MOMENTS),
}


def pandas_column(values: list[object], dtype: Any) -> pd.Series:
    """A series of these very objects."""
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return pd.Series(held, dtype=object).astype(dtype)


def bits(cell: Any) -> tuple[str, str]:
    """A cell by type and by bits; every NaN is the same."""
    if cell is None or cell is pd.NA or cell is pd.NaT or cell != cell:  # noqa: PLR0124
        return ("missing", blank_name(cell))
    return (type(cell).__name__, repr(cell))


def identical(left: Any, right: Any) -> bool:
    """Whether two frames agree in labels, dtypes and every bit."""
    if isinstance(left, np.ndarray):
        return left.dtype.kind == right.dtype.kind and _same_cells(left.ravel(), right.ravel())
    if isinstance(left, pd.DataFrame):
        if not left.index.equals(right.index) or not left.columns.equals(right.columns):
            return False
        pairs = zip(left.items(), right.items(), strict=True)
        return all(a.dtype == b.dtype and _same_cells(a, b) for (_, a), (_, b) in pairs)
    if left.schema != right.schema:
        return False
    return all(
        _same_cells(a, b) for a, b in zip(left.iter_columns(), right.iter_columns(), strict=True)
    )


def _same_cells(left: Any, right: Any) -> bool:
    return list(map(bits, left)) == list(map(bits, right))
