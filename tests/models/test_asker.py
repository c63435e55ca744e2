"""Few, large calls: each row once, bounded chunks, and the right queries blamed for a failure."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from macex.errors import ModelError
from macex.models import asker as asking
from models.worlds import DATA, SCHEMA, Recorder, asker_of, variants


@given(picks=st.lists(st.integers(0, 6), max_size=30))
def test_equal_rows_are_asked_once_and_all_answered(picks):
    model = Recorder()
    at = np.array(picks, dtype=np.intp)
    codes = SCHEMA.read(DATA).codes[at]
    answers, done = asker_of(model)(codes, at)
    assert sum(model.sizes) == len(set(picks))
    assert done.all()
    assert np.allclose(answers.scores[:, 1], at / 100)
    assert not any(frame.duplicated().any() for frame in model.frames)


def test_distinct_rows_are_asked_in_the_order_they_came():
    model = Recorder()
    at = np.array([5, 3, 5, 9, 3])
    asker_of(model)(SCHEMA.read(DATA).codes[at], at)
    assert model.frames[0]["x"].tolist() == [5, 3, 9]


def test_unknown_categories_of_different_rows_are_different_rows():
    rows = SCHEMA.read(pd.DataFrame({"x": [1, 1, 1], "y": [1, 1, 1], "z": ["new", "odd", "a"]}))
    model = Recorder()
    asker_of(model, rows)(rows.codes, np.arange(3))
    assert model.frames[0]["z"].tolist() == ["new", "odd", "a"]


def test_no_rows_no_call():
    model = Recorder()
    answers, done = asker_of(model)(np.zeros((0, 3)), np.zeros(0, np.intp))
    assert model.sizes == []
    assert len(answers.scores) == len(done) == 0


@pytest.mark.parametrize(("rows", "cells", "expected"), [(40, 999, 40), (999, 90, 30)])
def test_calls_are_bounded_in_rows_and_in_cells(monkeypatch, rows, cells, expected):
    monkeypatch.setattr(asking, "CHUNK_ROWS", rows)
    monkeypatch.setattr(asking, "CHUNK_CELLS", cells)
    model = Recorder()
    asker = asker_of(model)
    codes, at = variants(100)
    answers, _ = asker(codes, at)
    assert max(model.sizes) == expected
    assert sum(model.sizes) == asker.cost.rows == 100
    assert asker.cost.calls == len(model.sizes) == -(-100 // expected)
    assert np.allclose(answers.scores[:, 1], at / 100)


@pytest.mark.parametrize(("width", "expected"), [(5, 100_000), (50, 10_000), (1000, 2_000)])
def test_a_prepared_matrix_is_asked_about_in_pieces_but_not_in_crumbs(width, expected):
    asker = asker_of(Recorder())
    asker.oracle = replace(asker.oracle, prepared=SimpleNamespace(width=width))
    assert asker.chunk(3) == expected


def raising(*bad: int):
    def trouble(frame: pd.DataFrame, _) -> None:
        if frame["x"].isin(bad).any():
            raise KeyError("no such x")

    return trouble


def blanking(*bad: int):
    def trouble(frame: pd.DataFrame, scores: np.ndarray) -> None:
        scores[frame["x"].isin(bad).to_numpy()] = np.nan

    return trouble


@pytest.mark.parametrize("trouble", [raising, blanking])
@pytest.mark.parametrize("bad", [0, 41, 99])
def test_one_failing_row_is_found_in_few_calls_and_blamed_alone(trouble, bad):
    model = Recorder(trouble(bad))
    asker = asker_of(model, keep=True)
    codes, at = variants(100)
    answers, done = asker(codes, at)
    assert list(asker.failed) == [bad]
    assert np.flatnonzero(~done).tolist() == [bad]
    assert np.allclose(answers.scores[done, 1], at[done] / 100)
    assert len(model.sizes) <= 2 * np.log2(100) + 2


@pytest.mark.parametrize("trouble", [raising, blanking])
def test_a_query_that_fails_is_not_asked_about_again(trouble):
    model = Recorder(trouble(3))
    asker = asker_of(model, keep=True)
    codes, at = variants(8, each=16)  # all sixteen rows of query 3 fail
    _, done = asker(codes, at)
    assert list(asker.failed) == [3]
    assert (done == (at != 3)).all()
    assert len(model.sizes) <= 2 * np.log2(128) + 2


def test_many_rows_without_a_score_take_few_calls():
    """The answer itself says which rows are at fault: there is nothing to search for."""
    model = Recorder(blanking(*range(0, 100, 2)))
    asker = asker_of(model, keep=True)
    _, done = asker(*variants(100))
    assert sorted(asker.failed) == list(range(0, 100, 2))
    assert done.sum() == 50
    assert len(model.sizes) <= 4


@pytest.mark.parametrize("trouble", [raising, blanking])
def test_all_queries_that_share_a_failing_row_are_blamed(trouble):
    model = Recorder(trouble(50))
    asker = asker_of(model, keep=True)
    at = np.array([1, 2, 2, 7])
    codes = SCHEMA.read(DATA).codes[at]
    codes[[0, 3]] = SCHEMA.read(DATA).codes[50]
    _, done = asker(codes, at)
    assert sorted(asker.failed) == [1, 7]
    assert done.tolist() == [False, True, True, False]


@pytest.mark.parametrize("trouble", [raising, blanking])
def test_a_lone_query_that_fails_is_given_up_and_its_call_not_repeated(trouble):
    rows = SCHEMA.read(DATA.iloc[[7]])
    model = Recorder(trouble(50))
    asker = asker_of(model, rows, keep=True)
    codes = SCHEMA.read(DATA).codes[40:56]
    _, done = asker(codes, np.zeros(16, np.intp))
    assert list(asker.failed) == [0]
    assert not done.any()
    assert model.sizes.count(16) == 1
    assert asker.cost.rows == sum(model.sizes)
    with pytest.raises(ModelError, match="made from row 0"):
        asker_of(model, rows)(codes, np.zeros(16, np.intp))


def test_a_lone_query_is_asked_in_one_call_as_far_as_one_may_go(monkeypatch):
    rows, model = SCHEMA.read(DATA.iloc[[7]]), Recorder()
    codes, at = SCHEMA.read(DATA).codes[:30], np.zeros(30, np.intp)
    answers, done = asker_of(model, rows)(codes, at)
    assert model.sizes == [30]
    monkeypatch.setattr(asking, "CHUNK_ROWS", 12)
    again, _ = asker_of(model, rows)(codes, at)
    assert model.sizes == [30, 12, 12, 6]
    assert done.all()
    assert again.scores.tolist() == answers.scores.tolist()


def test_the_first_reason_of_a_query_stays():
    model = Recorder(raising(50))
    asker = asker_of(model, keep=True)
    codes, at = SCHEMA.read(DATA).codes[[50]], np.array([50])
    asker(codes, at)
    model.trouble = blanking(50)
    asker(codes, at)
    assert "no such x" in asker.failed[50]


def test_an_answer_of_the_wrong_form_fails_for_all():
    model = Recorder()
    asker = asker_of(lambda frame: model(frame)[:-1], keep=True)
    _, done = asker(*variants(5))
    assert sorted(asker.failed) == [0, 1, 2, 3, 4]
    assert not done.any()


@pytest.mark.parametrize("trouble", [raising, blanking])
def test_without_keep_the_first_failing_row_is_shown(trouble):
    model = Recorder(trouble(41, 77))
    asker = asker_of(model, places=np.arange(100) + 1000)
    with pytest.raises(ModelError, match="row 1041 of the call") as error:
        asker(*variants(100))
    assert error.value.row["x"].tolist() == [41]
    assert "'x': 41" in str(error.value)
    assert len(model.sizes) <= 2 * np.log2(100) + 2


class Clock:
    """Time that passes only when the model is asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, per_row: float) -> None:
        self.now = 0.0
        self.per_row = per_row
        for name in ("monotonic", "perf_counter"):
            monkeypatch.setattr(time, name, lambda: self.now)

    def __call__(self, frame: pd.DataFrame, _) -> None:
        self.now += self.per_row * len(frame)


def test_after_the_deadline_nothing_is_asked_unless_it_must(monkeypatch):
    clock = Clock(monkeypatch, 1.0)
    model = Recorder(clock)
    asker = asker_of(model, deadline=10.0)
    clock.now = 11.0
    _, done = asker(*variants(5))
    assert model.sizes == []
    assert not done.any()
    assert asker.late
    _, done = asker(*variants(5), always=True)
    assert done.all()


def test_chunks_last_half_a_second_once_the_speed_is_known(monkeypatch):
    clock = Clock(monkeypatch, 0.1)
    model = Recorder(clock)
    asker = asker_of(model, deadline=100.0)
    asker(*variants(2))
    model.frames.clear()
    asker(*variants(50))
    assert max(model.sizes) <= 5
    assert sum(model.sizes) == 50


def test_the_deadline_stops_between_chunks(monkeypatch):
    clock = Clock(monkeypatch, 0.1)
    model = Recorder(clock)
    asker = asker_of(model, deadline=2.0)
    asker(*variants(2))
    answers, done = asker(*variants(100))
    assert 10 <= done.sum() <= 25
    assert done[: done.sum()].all()
    assert clock.now <= 2.6
    assert len(answers.scores) == 100
