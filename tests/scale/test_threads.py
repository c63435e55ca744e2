"""Limits of threads hold for the calls that ask for them, and nothing longer."""

from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import macex as mx
from lending import loans
from macex.scale.workers import limited_threads
from scale.town import grants


def limits() -> list[int]:
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


@pytest.fixture
def two():
    """A process whose libraries may use two threads."""
    np.ones((2, 2)) @ np.ones((2, 2))
    with threadpool_limits(2):
        assert set(limits()) == {2}
        yield


def test_calls_that_overlap_leave_what_was_before(two):
    inside, leave = threading.Event(), threading.Event()

    def other():
        with limited_threads(1):
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    with limited_threads(1):
        thread.start()
        inside.wait(10)
        assert set(limits()) == {1}
    leave.set()
    thread.join()
    assert set(limits()) == {2}


def test_a_call_that_fails_leaves_what_was_before(two):
    with pytest.raises(ZeroDivisionError), limited_threads(1):
        1 / 0  # noqa: B018 - it raises
    assert set(limits()) == {2}


def test_a_caller_has_its_threads_between_frames(two, monkeypatch):
    monkeypatch.setattr("macex.scale.workers.threads_pay", lambda free, jobs: True)
    monkeypatch.setattr("macex.scale.workers.cores", lambda: 2)
    rows = loans(40, seed=2)
    chooser = mx.Explainer(grants(), loans(300, seed=1), classes=("refused", "granted"))
    parts = (rows.iloc[at : at + 10] for at in range(0, 40, 10))
    made = mx.explain_frames(chooser, parts, jobs=2)
    first = [next(made) for _ in range(4)]  # all are done, and the generator is still open
    assert len(pd.concat(first)) == 40
    assert set(limits()) == {2}
    made.close()
