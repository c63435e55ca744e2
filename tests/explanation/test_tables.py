"""Tables of answers: the caller's own library, dtypes and labels, with the changes written."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from explanation.made import ROWS, SCHEMA, TRAIN, batch, counterfactual, explanation, source
from macex.explanation import Explanations, Interval
from macex.schema import Schema

REMARKS = ["row", "rank", "status", "label", "score", "sparsity", "proximity", "plausibility"]
COLUMNS = [f"cf.{name}" for name in [*REMARKS, "minimal"]]


def test_a_line_per_counterfactual_and_one_for_a_row_without():
    table = batch().to_frame()
    assert table.columns.tolist() == [*TRAIN.columns, *COLUMNS]
    assert table.index.tolist() == ["x", "x", "w", "z"]
    assert table["cf.row"].tolist() == [0, 0, 1, 2]
    assert table["cf.rank"].tolist() == [1, 2, 0, 1]
    assert table["cf.status"].tolist() == ["found", "found", "none", "found"]
    assert table["hours_per_week"].tolist() == [45, 40, 20, 60]
    assert table["edu"].tolist() == ["BSc", "PhD", "HS", "PhD"]
    assert table["cf.sparsity"].tolist() == [1, 2, pd.NA, 0]
    assert table["cf.label"].tolist() == [">50K", ">50K", "<=50K", ">50K"]
    assert table["cf.score"].tolist() == [0.531, 0.531, 0.46, 0.531]


def test_the_callers_dtypes_are_kept():
    table = batch().to_frame()
    assert table[TRAIN.columns].dtypes.tolist() == TRAIN.dtypes.tolist()
    assert np.isnan(table.loc[["w"], "cf.plausibility"]).all()


@pytest.mark.parametrize("given", ["pandas", "polars", "numpy"])
def test_blocks_of_rows_make_the_same_table_as_the_rows_at_once(given):
    frame = TRAIN.drop(columns="since")
    data = {"pandas": frame, "polars": _polars(frame), "numpy": frame.to_numpy()}[given]
    schema = Schema.infer(data)
    names = dict(zip(frame.columns, schema.names, strict=True))
    whole = _answered(schema.read(data), names, range(4))
    parts = [_answered(schema.read(data[at : at + 2]), names, range(2)) for at in (0, 2)]
    joined = Explanations([item for part in parts for item in part])
    if given == "polars":
        assert joined.to_frame().equals(whole.to_frame(), null_equal=True)
    else:
        pd.testing.assert_frame_equal(joined.to_frame(), whole.to_frame())


def _answered(rows, names, queries):
    values = {names["age"]: 52, names["edu"]: "PhD"}
    return Explanations(
        [explanation(counterfactual(q, rows, **values), query=q, rows=rows) for q in queries]
    )


def _polars(frame):
    columns = {name: frame[name].astype(object).where(frame[name].notna(), None) for name in frame}
    return pl.DataFrame({name: column.tolist() for name, column in columns.items()})


def test_a_polars_caller_gets_polars():
    rows = Schema.infer(TRAIN).read(_polars(TRAIN))
    found = batch(rows)
    table, changes = found.to_frame(), found.to_changes()
    assert isinstance(table, pl.DataFrame)
    assert table["hours_per_week"].to_list() == [45, 40, 20, 60]
    assert table["cf.sparsity"].to_list() == [1, 2, None, 0]
    assert isinstance(changes, pl.DataFrame)
    assert changes["after"].to_list() == [45, "PhD", 39]


def test_an_array_caller_gets_pandas_with_the_names_of_the_schema():
    schema = Schema.infer(np.array([[1.5, 2.0], [3.0, 4.0]]))
    rows = schema.read(np.array([[1.5, 2.0]]))
    found = counterfactual(0, rows, **{schema.names[0]: 3.0})
    table = Explanations([explanation(found, rows=rows)]).to_frame()
    assert table[list(schema.names)].to_numpy().tolist() == [[3.0, 2.0]]


def test_categories_stay_categories_when_one_block_knows_more_of_them():
    first = SCHEMA.read(TRAIN[:1].assign(edu=pd.Categorical(["HS"])))
    second = SCHEMA.read(TRAIN[1:2].assign(edu=pd.Categorical(["BSc"])))
    items = [explanation(counterfactual(0, rows, age=30), rows=rows) for rows in (first, second)]
    edu = Explanations(items).to_frame()["edu"]
    assert edu.dtype == pd.CategoricalDtype(["HS", "BSc"])
    assert edu.tolist() == ["HS", "BSc"]


@pytest.mark.parametrize("dtype", [pl.Enum(["HS", "BSc"]), pl.Categorical, pl.String])
def test_polars_categories_keep_their_dtype_when_one_block_knows_more_of_them(dtype):
    frame = _polars(TRAIN[:2]).with_columns(pl.col("edu").cast(dtype))
    first, second = SCHEMA.read(frame[:1]), SCHEMA.read(frame[1:])
    grown = explanation(counterfactual(0, first, edu="PhD"), rows=first)
    edu = Explanations([grown, explanation(rows=second)]).to_frame()["edu"]
    assert edu.dtype.base_type() == pl.DataFrame(schema={"edu": dtype})["edu"].dtype.base_type()
    assert edu.cast(pl.String).to_list() == ["PhD", "BSc"]


def test_a_line_per_change_with_its_interval():
    changes = batch().to_changes()
    assert changes.columns.tolist() == [
        "cf.row", "cf.rank", "column", "before", "after", "low", "high", "exact", "follows",
    ]  # fmt: skip
    assert changes.astype(object).where(changes.notna(), None).to_numpy().tolist() == [
        [0, 1, "hours_per_week", 40, 45, 44, 60, True, False],
        [0, 2, "edu", "BSc", "PhD", None, None, None, False],
        [0, 2, "age", 38, 39, None, None, None, False],
    ]


@pytest.mark.parametrize("exact", [True, False])
def test_a_line_says_whether_its_interval_is_exact(exact, tmp_path):
    span = Interval(44, 60, 17, exact)
    items = [explanation(counterfactual(hours_per_week=45, interval=span)), batch()[0]]
    found = Explanations([*items, batch()[1]])
    assert found.to_changes()["exact"].tolist() == [exact, True, pd.NA, pd.NA]
    found.to_csv(tmp_path / "changes.csv", changes=True)
    assert pd.read_csv(tmp_path / "changes.csv")["exact"].tolist()[0] == exact
    found.to_parquet(tmp_path / "changes.parquet", changes=True)
    assert pd.read_parquet(tmp_path / "changes.parquet")["exact"].iloc[0] is exact
    document = json.loads(found.to_json())["explanations"][0]
    assert document["counterfactuals"][0]["changes"][0]["interval"]["exact"] is exact


def test_the_cells_of_a_source_are_the_callers_own_where_nothing_was_written():
    cells = source(2, hours_per_week=60).cells()
    assert cells == {**ROWS.cells(2), "hours_per_week": 60}
    assert cells["rate"] is None
