"""Frames as they come are explained as if they were one."""

from __future__ import annotations

import os
from pathlib import Path
from time import sleep

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import macex as mx
from lending import loans
from macex.ask.question import Question
from macex.scale.chunks import ChunkExplainer
from macex.scale.workers import cores, job_count, threads_pay, watched_lock, worked
from scale.town import bank, grants


def cut(rows: pd.DataFrame, size: int):
    return (rows.iloc[at : at + size] for at in range(0, len(rows), size))


@pytest.mark.parametrize("size", [7, 100])
@pytest.mark.parametrize("jobs", [1, 2])
def test_neither_the_cut_nor_the_workers_change_an_answer(size, jobs):
    rows, explainer = loans(100, seed=3), bank()
    made = pd.concat(mx.explain_frames(explainer, cut(rows, size), n=2, jobs=jobs))
    pd.testing.assert_frame_equal(made, explainer.explain(rows, n=2).to_frame())


def test_frames_are_read_only_as_they_are_needed():
    read = []

    def frames():
        for at in range(5):
            read.append(at)
            yield loans(3, seed=at)

    made = mx.explain_frames(bank(), frames())
    next(made)
    assert read == [0]


def test_polars_frames_stay_polars():
    polars = pytest.importorskip("polars")
    rows, explainer = loans(20, seed=3), bank()
    made = list(mx.explain_frames(explainer, map(polars.from_pandas, cut(rows, 10))))
    joined = polars.concat(made)
    assert joined["cf.row"].to_list() == list(range(20))
    assert joined["income"].to_list() == explainer.explain(rows).to_frame()["income"].to_list()


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_cell_that_cannot_be_read_gives_its_row_a_reason(jobs):
    rows = loans(30, seed=3).astype({"income": object})
    rows.loc[17, "income"] = "much"
    made = pd.concat(mx.explain_frames(bank(), cut(rows, 10), jobs=jobs))
    bad = made[made["cf.row"] == 17]
    assert bad[["income", "cf.rank", "cf.status"]].values.tolist() == [["much", 0, "not_found"]]
    assert made["cf.row"].nunique() == 30
    assert (made["cf.status"] == "found").sum() == 29


def test_on_error_raise_stops_at_the_cell():
    rows = loans(30, seed=3).astype({"income": object})
    rows.loc[17, "income"] = "much"
    with pytest.raises(mx.SchemaError, match="'much'"):
        list(mx.explain_frames(bank(), cut(rows, 10), on_error="raise"))


def test_a_model_that_dies_ends_in_an_error_not_in_silence(monkeypatch):
    monkeypatch.setattr("macex.scale.workers.threads_pay", lambda _free, _jobs: False)
    granted, here = grants(), os.getpid()

    def deadly(rows):
        if os.getpid() != here:
            os._exit(1)
        return granted(rows)

    with pytest.raises(mx.RunError, match="worker process died"):
        list(mx.explain_frames(bank(deadly), cut(loans(40, seed=3), 10), jobs=2))


def test_a_model_that_cannot_travel_is_asked_by_threads(tmp_path):
    granted = grants()
    with Path(tmp_path / "open").open("w") as file:

        def stuck(rows):
            file.write("asked\n")
            return granted(rows)

        rows = loans(40, seed=3)
        made = pd.concat(mx.explain_frames(bank(stuck), cut(rows, 10), jobs=2))
    pd.testing.assert_frame_equal(made, bank().explain(rows).to_frame())


def test_results_come_in_the_order_of_the_chunks():
    def slow_first(_, number):
        sleep(0.05 if number % 3 == 0 else 0)
        return number

    made = worked(slow_first, ChunkExplainer(bank(), Question()), range(12), 2)
    assert list(made) == list(range(12))


def explained_with(wait) -> float:
    """The share of the time for which the lock was free, with a model that spends it so."""
    granted = grants()

    def slow(rows):
        wait()
        return granted(rows)

    explainer = bank(slow)
    with watched_lock() as lock:
        explainer.explain(loans(5, seed=3))
    return lock.free


def test_a_model_that_waits_leaves_the_lock_free_and_one_that_loops_holds_it():
    waiting = explained_with(lambda: sleep(0.2))
    looping = explained_with(lambda: sum(number * number for number in range(1_000_000)))
    assert waiting > looping
    assert looping < 0.5
    assert threads_pay(1.0, 8)
    assert not threads_pay(0.5, 2)


class Sleeper(LogisticRegression):
    """A classifier that lets go of the lock."""

    def predict_proba(self, rows):
        sleep(0.05)
        return super().predict_proba(rows)


def test_a_pipeline_that_is_asked_by_code_is_seen_to_leave_the_lock_free():
    rows = pd.DataFrame({"job": ["a", "b", "c", "d"] * 10, "age": range(40)})
    first = make_column_transformer((OneHotEncoder(), ["job"]), ("passthrough", ["age"]))
    model = make_pipeline(first, Sleeper()).fit(rows, rows["age"] > 20)
    explainer = mx.Explainer(model, rows)
    assert explainer.engine.fitted.oracle.takes_codes
    with watched_lock() as lock:
        explainer.explain(rows.head(3))
    assert lock.free > 0.3


@pytest.mark.parametrize("jobs", [0, -2, 1.5, True, "two"])
def test_wrong_jobs_are_refused_at_once(jobs):
    with pytest.raises(mx.OptionError, match="jobs"):
        mx.explain_frames(bank(), [], jobs=jobs)


def test_all_cores_are_one_at_least():
    assert job_count(-1) == cores() >= 1


def test_a_row_alone_counts_as_one():
    rows = loans(3, seed=1)
    given = [rows.iloc[0], rows.iloc[1].to_dict(), rows.iloc[2:]]
    made = pd.concat(mx.explain_frames(bank(), given))
    assert made["cf.row"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    "frames", [3, "rows.csv", loans(2, seed=1), loans(2, seed=1).to_numpy(), {"income": [3]}]
)
def test_what_is_no_row_of_frames_is_refused_at_once(frames):
    with pytest.raises(mx.OptionError, match="iterable of frames"):
        mx.explain_frames(bank(), frames)


@pytest.mark.parametrize("names", [["self", "other"], [0, 1]])
def test_a_cell_that_cannot_be_read_costs_its_row_whatever_columns_are_called(names):
    data = pd.DataFrame(np.random.default_rng(0).integers(0, 9, (50, 2)), columns=names)
    explainer = mx.Explainer(lambda rows: rows.iloc[:, 0] / 9, data, classes=("no", "yes"))
    rows = data.head(4).astype(object)
    rows.iloc[2, 0] = "many"
    (made,) = mx.explain_frames(explainer, [rows], on_error="keep")
    assert made["cf.status"].tolist() == ["found", "found", "not_found", "found"]
