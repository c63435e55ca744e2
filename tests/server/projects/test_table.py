"""The table sorts, filters, searches and pages as pandas would."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.server.projects.table import ScoredTable, View


@pytest.fixture(scope="module")
def rows():
    draw = np.random.default_rng(5)
    return pd.DataFrame(
        {
            "hours": draw.integers(20, 60, 500).astype(float),
            "city": draw.choice(["Oslo", "Bonn", "Wien", None], 500),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(draw.integers(0, 99, 500), "D"),
            "mixed": pd.Series(draw.choice(np.array([1, "a", None], dtype=object), 500)),
        }
    ).assign(hours=lambda frame: frame["hours"].where(frame.index % 7 > 0))


@pytest.fixture(scope="module")
def table(rows):
    def score(frame):
        return frame["hours"].fillna(40).to_numpy() / 100

    return ScoredTable(rows, mx.Explainer(score, rows, classes=("no", "yes")))


@pytest.mark.parametrize("column", ["hours", "city", "when"])
@pytest.mark.parametrize("descending", [False, True])
def test_sorting_is_that_of_pandas_with_missing_ones_last(table, rows, column, descending):
    ours = table.places(View(sort=column, descending=descending))
    theirs = (
        rows[column].sort_values(ascending=not descending, kind="stable", na_position="last").index
    )
    kept = rows[column].notna()[theirs].to_numpy()
    assert rows[column].iloc[ours].tolist()[: kept.sum()] == rows[column][theirs][kept].tolist()
    assert rows[column].iloc[ours[kept.sum() :]].isna().all()


def test_equal_values_keep_their_order_either_way(table, rows):
    for descending in (False, True):
        places = table.places(View(sort="city", descending=descending))
        for _, group in rows["city"].iloc[places].groupby(rows["city"].iloc[places], sort=False):
            assert group.index.is_monotonic_increasing


def test_values_of_no_one_kind_can_be_sorted(table):
    assert sorted(table.places(View(sort="mixed")).tolist()) == list(range(500))


def test_a_search_finds_every_row_with_the_text_and_no_other(table, rows):
    found = table.places(View(search="osl"))
    assert found.tolist() == rows.index[rows["city"] == "Oslo"].tolist()


def test_a_condition_holds_only_where_it_is_known_to_hold(table, rows):
    found = table.places(View(where="hours >= 40"))
    assert found.tolist() == rows.index[rows["hours"] >= 40].tolist()


def test_a_condition_has_some_length(table):
    with pytest.raises(mx.OptionError, match="at most 2,000 characters"):
        table.places(View(where="hours > 1 or " * 200 + "hours > 2"))


def test_scores_and_decisions_belong_together(table):
    page = table.page(View(sort="cf.score", descending=True), 0, 500)
    scores = [line.score for line in page.lines]
    assert scores == sorted(scores, reverse=True)
    assert all((line.label == "yes") == (line.score > 0.5) for line in page.lines)
    assert table.counts() == {
        label: table.page(View(decision=label)).matching for label in ("no", "yes")
    }


@pytest.mark.parametrize("width", [2, 50])
def test_a_model_of_many_classes_is_asked_about_fewer_rows_at_a_time(rows, monkeypatch, width):
    monkeypatch.setattr("macex.server.projects.table.SCORES_AT_ONCE", 1000)
    asked = []

    def score(frame):
        asked.append(len(frame))
        return np.full((len(frame), width), 1 / width)

    explainer = mx.Explainer(score, rows, classes=tuple(range(width)))
    asked.clear()
    assert len(ScoredTable(rows, explainer).predictions) == len(rows)
    assert len(asked) == -(-len(rows) // (1000 // width))
    assert max(asked) <= 1000 // width  # equal rows are asked about once


def test_more_scores_than_memory_holds_are_refused_before_the_model_is_asked(rows, monkeypatch):
    monkeypatch.setattr("macex.server.projects.table.SCORES", 900)
    calls = []

    def score(frame):
        calls.append(len(frame))
        return frame["hours"].fillna(40).to_numpy() / 100

    explainer = mx.Explainer(score, rows, classes=("no", "yes"))
    calls.clear()
    with pytest.raises(mx.MacexError, match="show at most 450 rows of this model"):
        ScoredTable(rows, explainer).page(View())
    assert not calls


def test_cells_are_plain_values_and_missing_ones_are_none(table, rows):
    line = table.line(0)
    assert line.cells["hours"] is None
    assert line.cells["when"] == rows["when"].iloc[0].isoformat()


def test_a_row_that_is_not_there_is_an_error(table):
    with pytest.raises(mx.SchemaError, match="from 0 to 499"):
        table.line(500)


@pytest.mark.slow
def test_a_million_rows_are_scored_sorted_and_searched():
    draw = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"x": draw.normal(size=1_000_000), "c": draw.choice(list("abcdef"), 1_000_000)}
    )
    explainer = mx.Explainer(
        lambda frame: 1 / (1 + np.exp(-frame["x"])), rows.head(2000), classes=("no", "yes")
    )
    table = ScoredTable(rows, explainer)
    page = table.page(View(sort="x", decision="yes", search="f"), 1000, 50)
    own = rows[(rows["x"] > 0) & (rows["c"] == "f")].sort_values("x")
    assert [line.row for line in page.lines] == own.index[1000:1050].tolist()
    assert page.matching == len(own)
