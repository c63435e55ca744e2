"""The judge measures what a method gives by itself, whatever the method says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from macex.bench.judge import Referee


@pytest.fixture(scope="module")
def cell(cells):
    return cells.get("loans", "MLP")


@pytest.fixture(scope="module")
def judge(cell):
    return Referee(cell)


@pytest.fixture(scope="module")
def poor(cell):
    """A row that is refused: little income, rent."""
    rows = cell.queries(100)
    return rows[cell.model.predict(rows) == 0].head(1)


def changed(row, **values):
    return row.assign(**values)


def test_validity_is_asked_of_the_model(judge, poor):
    record = judge(poor, [changed(poor, income=89)])[0]
    assert (record["returned"], record["found"]) == (1, 1)
    record = judge(poor, [changed(poor, job="c" if poor["job"].iloc[0] != "c" else "a")])[0]
    assert (record["returned"], record["found"]) == (1, 0)


def test_changes_and_proximity_are_counted_from_the_cells(judge, poor, cell):
    other = "own" if poor["home"].iloc[0] == "rent" else "rent"
    record = judge(poor, [changed(poor, income=89, home=other)])[0]
    one = record["counterfactuals"][0]
    assert one["columns"] == ["home", "income"]
    assert one["sparsity"] == 2
    step = (89 - poor["income"].iloc[0]) / np.median(cell.train["income"])
    assert one["proximity"] == pytest.approx(-1 - step)


def test_a_change_that_can_be_taken_back_is_idle(judge, poor):
    other = "own" if poor["home"].iloc[0] == "rent" else "rent"
    answers = pd.concat([changed(poor, income=89), changed(poor, income=89, home=other)])
    assert [one["idle"] for one in judge(poor, [answers])[0]["counterfactuals"]] == [0, 1]


def test_a_row_without_answers_is_a_record_without_them(judge, poor):
    record = judge(poor, [poor.head(0)])[0]
    assert record["found"] == 0
    assert record["counterfactuals"] == []


def test_a_copy_of_the_query_is_no_answer(judge, poor):
    assert judge(poor, [poor])[0]["found"] == 0


def test_what_is_far_out_is_implausible(judge, poor, cell):
    usual = cell.train[cell.model.predict(cell.train) == 1].head(1)
    far = changed(poor, income=10_000)
    shares = [judge(poor, [one])[0]["counterfactuals"][0]["plausibility"] for one in (usual, far)]
    assert shares[0] > 0.05
    assert shares[1] == 0


def test_diversity_counts_missing_answers_as_nothing(judge, poor):
    pair = pd.concat([changed(poor, income=89), changed(poor, debt=1.0)])
    whole = judge(poor, [pair], wanted=2)[0]["diversity"]
    short = judge(poor, [pair], wanted=3)[0]["diversity"]
    assert whole[1:] == [1.0, 1.0]
    assert short[1:] == pytest.approx([1 / 3, 1 / 3])


def test_answers_stay_with_their_queries(judge, cell):
    rows = cell.queries(3)
    answers = [rows.iloc[[0]].head(0), changed(rows.iloc[[1]], job="z"), rows.iloc[[2]].head(0)]
    assert [record["returned"] for record in judge(rows, answers)] == [0, 1, 0]


def test_outliers_are_told_by_measures_that_macex_does_not_rank_by(judge, poor, cell):
    usual = cell.train[cell.model.predict(cell.train) == 1].head(1)
    far = changed(poor, income=10_000, debt=500.0)
    near, out = (judge(poor, [one], outliers=True)[0]["counterfactuals"][0] for one in (usual, far))
    assert (out["lof"], out["isolation"]) == (1.0, 1.0)
    assert near["lof"] == 0.0
    assert near["real"] == 0.0  # it is a training row
    assert out["real"] > 50
    assert "lof" not in judge(poor, [usual])[0]["counterfactuals"][0]


def test_about_a_twentieth_of_real_rows_are_outliers(cell):
    """Both measures are cut where 5 % of the rows they were fitted on lie outside."""
    judge = Referee(cell)
    wanted = cell.train[cell.model.predict(cell.train) == 1]
    found = judge._outliers(np.zeros(len(wanted), int), wanted, judge.schema.read(wanted).codes)
    assert 0.0 < found["isolation"].mean() <= 0.1
    assert found["lof"].mean() <= 0.1
    assert (found["real"] == 0).all()
