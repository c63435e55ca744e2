"""Rows that ask the same are answered once, each under its own name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.engine.pipeline import answer
from macex.schema import Rows

DATA = pd.DataFrame({"hours": np.arange(20, 60), "debt": [1.5, 2.5] * 20, "job": ["a", "b"] * 20})


def model(rows):
    return 1 / (1 + np.exp(44.5 - rows["hours"] + rows["debt"]))


def numbers(rows):
    hours, debt = (np.asarray(rows)[:, place].astype(float) for place in (0, 1))
    return 1 / (1 + np.exp(44.5 - hours + debt))


def bank() -> mx.Explainer:
    return mx.Explainer(model, DATA, classes=("no", "yes"))


def test_equal_rows_are_one_query():
    asked = []
    counting = bank()
    counting.engine = replace(
        counting.engine, answer=lambda f, batch: asked.append(len(batch)) or answer(f, batch)
    )
    rows = pd.concat([DATA.head(6)] * 50, ignore_index=True)
    found = counting.explain(rows, on_error="keep")
    assert asked == [6]
    assert len(found) == 300
    assert sum(item.cost.rows for item in found[6:]) == 0


def test_a_repeated_answer_is_that_of_the_row_alone():
    rows = pd.concat([DATA.iloc[[3, 8, 3, 3, 8, 30]]]).set_axis(list("abcdef"))
    explainer = bank()
    many = explainer.explain(rows, n=2, on_error="keep")
    for place in range(len(rows)):
        alone = explainer.explain(rows.iloc[[place]], n=2, on_error="keep")[0]
        assert many[place].to_json(canonical=True) == alone.to_json(canonical=True)
        assert many[place].needed == alone.needed
        pd.testing.assert_frame_equal(many[place].query, alone.query)
    frame = many.to_frame()
    assert frame.index.tolist() == [list("abcdef")[row] for row in frame["cf.row"]]


@pytest.mark.parametrize("library", ["pandas", "polars", "numpy"])
def test_a_table_of_repeated_rows_is_written_in_few_pieces(monkeypatch, library):
    """However repeated and other rows alternate, and each line is that of its row alone."""
    data, rows = DATA.assign(job=DATA["job"].map({"a": 0, "b": 1})), DATA.iloc[[3, 8, 3, 30, 8, 3]]
    rows = rows.assign(job=1).reset_index(drop=True)
    if library != "pandas":
        pl = pytest.importorskip("polars")
        turned = pl.from_pandas if library == "polars" else pd.DataFrame.to_numpy
        data, rows = turned(data), turned(rows)
    explainer = mx.Explainer(numbers, data, classes=("no", "yes"))
    found = explainer.explain(rows, n=2, on_error="keep")
    written, frame = [], Rows.frame
    monkeypatch.setattr(Rows, "frame", lambda *asked: written.append(1) or frame(*asked))
    table = found.to_frame()
    assert len(written) == 2
    for place in range(6):
        alone = explainer.explain(rows[place : place + 1], n=2).to_frame()
        mine = table.filter(pl.col("cf.row") == place) if library == "polars" else table
        if library != "polars":
            mine = table[table["cf.row"] == place]
            assert mine.index.tolist() == alone.index.tolist() or library == "numpy"
        for name in mine.columns:
            if name != "cf.row":
                assert list(mine[name]) == list(alone[name])


def test_rows_that_look_alike_but_are_not_are_told_apart():
    """Unknown categories share a code, and still are each their own."""
    rows = DATA.iloc[[3, 3, 3]].assign(job=["new", "newer", "new"]).reset_index(drop=True)
    found = bank().explain(rows, on_error="keep")
    assert [item.query["job"].iloc[0] for item in found] == ["new", "newer", "new"]


def test_no_row_is_scored_twice_in_a_batch():
    """But for the final check, which asks the model again on purpose."""
    asked = []

    def watched(rows):
        asked.append(pd.util.hash_pandas_object(rows, index=False).to_numpy())
        return model(rows)

    explainer = mx.Explainer(watched, DATA, classes=("no", "yes"))
    asked.clear()
    explainer.explain(DATA)
    searched = np.concatenate(asked[:-1])
    again = len(searched) - len(np.unique(searched))
    assert again <= 0.02 * len(searched)


@pytest.mark.parametrize("keep", ["raise", "keep"])
def test_the_caller_s_index_is_kept_however_a_call_is_cut(monkeypatch, keep):
    monkeypatch.setattr("macex.engine.batch.MOST_QUERIES", 4)
    rows = DATA.iloc[[*range(5, 16), 7, 5]]
    table = bank().explain(rows, on_error=keep).to_frame()
    assert table.index.tolist() == rows.index[table["cf.row"]].tolist()
    assert bank().explain(DATA.iloc[5:16]).to_frame().index.tolist() == list(range(5, 16))
