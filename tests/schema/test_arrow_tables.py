"""A table that speaks Arrow is read as a frame with the same cells."""

from __future__ import annotations

from decimal import Decimal

import pandas as pd
import polars as pl
import pytest

import macex as mx
from lending import loans
from macex.schema.arrow_tables import frame_of
from scale.town import bank, grants

pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")
ROWS = loans(12, seed=5)


def tables(rows: pd.DataFrame) -> dict[str, object]:
    """The rows in every form."""
    table = pa.Table.from_pandas(rows)
    return {
        "table": table,
        "batch": table.to_batches()[0],
        "stream": table.to_reader(),
        "relation": duckdb.from_arrow(table),
    }


@pytest.mark.parametrize("form", ["table", "batch", "stream", "relation"])
def test_rows_of_any_form_are_answered_alike(form):
    wanted = bank().explain(ROWS, n=2).to_json(canonical=True)
    assert bank().explain(tables(ROWS)[form], n=2).to_json(canonical=True) == wanted


@pytest.mark.parametrize("form", ["table", "stream", "relation"])
def test_training_rows_may_be_of_any_form(form):
    learnt = tables(loans(500, seed=1))[form]
    made = mx.Explainer(grants(), learnt, classes=("refused", "granted"))
    wanted = bank().explain(ROWS).to_json(canonical=True)
    assert made.explain(ROWS).to_json(canonical=True) == wanted


def test_frames_may_be_record_batches():
    relation = duckdb.from_arrow(pa.Table.from_pandas(ROWS))
    made = pd.concat(mx.explain_frames(bank(), relation.to_arrow_reader(5)))
    pd.testing.assert_frame_equal(made.reset_index(drop=True), bank().explain(ROWS).to_frame())


def test_a_row_of_a_batch_that_cannot_be_read_gets_a_reason():
    rows = pa.Table.from_pandas(ROWS).set_column(0, "income", pa.array(["much", *["50"] * 11]))
    (made,) = mx.explain_frames(bank(), [rows])
    assert (made["cf.status"] == "not_found").any()


def test_populations_take_them():
    table = pa.Table.from_pandas(loans(40, seed=5))
    assert str(bank().plan(table)) == str(bank().plan(loans(40, seed=5)))


def test_whole_numbers_beside_missing_ones_and_decimals():
    table = pa.table(
        {
            "exact": pa.array([2**60 + 1, None]),
            "money": pa.array([Decimal("2.50"), None], pa.decimal128(6, 2)),
            "word": pa.array(["a", None]).dictionary_encode(),
        }
    )
    frame = frame_of(table)
    assert frame["exact"].tolist() == [2**60 + 1, pd.NA]
    assert frame["money"].dtype == "float64"
    assert frame["word"].isna().tolist() == [False, True]


def test_what_is_read_as_it_is_stays_itself():
    frame, series, polars = ROWS, ROWS.iloc[0], pl.from_pandas(ROWS)
    assert frame_of(frame) is frame
    assert frame_of(series) is series
    assert frame_of(polars) is polars


def test_what_speaks_arrow_and_is_no_table_is_refused():
    with pytest.raises(mx.SchemaError, match="Int64Array, but no table"):
        bank().explain(pa.array([1, 2]))


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["a", None], pa.string()),
        (["a", "b"], pa.large_string()),
        ([True, None], pa.bool_()),
        ([pd.Timestamp("2020-01-02"), None], pa.timestamp("us")),
        ([pd.Timestamp("2020-01-02", tz="UTC"), None], pa.timestamp("ns", tz="UTC")),
        ([pd.Timestamp("2020-01-02"), None], pa.date32()),
    ],
    ids=str,
)
def test_the_conversion_that_a_refused_dtype_names_is_one_that_works(values, dtype):
    data = pd.DataFrame({"c": pd.Series(values, dtype=pd.ArrowDtype(dtype))})
    with pytest.raises(mx.SchemaError, match=r"convert it: data\['c'\].astype\('.+'\)") as error:
        mx.Schema.infer(data)
    named = str(error.value).partition("astype('")[2].removesuffix("')")
    known = mx.Schema.infer(data.assign(c=data["c"].astype(named)))
    assert known.columns[0].missing == (None in values)
    assert data["c"].astype(named).isna().tolist() == [value is None for value in values]
