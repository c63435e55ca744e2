"""Small calls of a model have one OpenMP thread; larger ones have those they had."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble  # noqa: F401 - brings OpenMP along
from threadpoolctl import threadpool_info, threadpool_limits

from macex import Explainer
from macex.models.asker import SMALL


def threads() -> set[int]:
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "openmp"}


@pytest.fixture
def three_threads():
    with threadpool_limits(3):
        yield


def test_a_small_call_has_one_thread_and_a_large_one_all(three_threads):
    seen: dict[bool, set[int]] = {True: set(), False: set()}

    def model(rows):
        seen[len(rows) <= SMALL].update(threads())
        return rows["hours"] / 100

    data = pd.DataFrame({"hours": np.linspace(20, 60, SMALL + 1)})
    explainer = Explainer(model, data, classes=("no", "yes"))
    seen[True].clear()
    seen[False].clear()
    explainer.explain(data.head(1))
    explainer.explain(data)
    assert seen == {True: {1}, False: {3}}
    assert threads() == {3}


def test_the_threads_are_given_back_when_the_model_fails(three_threads):
    broken = False

    def model(rows):
        if broken:
            raise ValueError("no")
        return rows["hours"] / 100

    explainer = Explainer(model, pd.DataFrame({"hours": range(20, 60)}), classes=("no", "yes"))
    broken = True
    assert explainer.explain({"hours": 30}, on_error="keep")[0].status != "found"
    assert threads() == {3}
