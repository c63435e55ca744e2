"""An explainer in another process gives the same answers."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import joblib
import numpy as np
import numpy._core._multiarray_umath as processor
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import macex as mx
from macex.engine.fitted import REMEMBERING

DATA = pd.DataFrame({"hours": np.arange(20, 60), "debt": [1.5, 2.5] * 20})
LABEL = (DATA["hours"] > 44).to_numpy()


def sent(explainer: mx.Explainer) -> mx.Explainer:
    return pickle.loads(pickle.dumps(explainer))  # noqa: S301 - our own


def answers(explainer: mx.Explainer) -> str:
    return explainer.explain(DATA.head(10), n=2).to_json(canonical=True)


def test_a_live_model_travels_with_its_explainer():
    explainer = mx.Explainer(LogisticRegression().fit(DATA, LABEL), DATA)
    explainer.explain(DATA.head(2))
    assert answers(sent(explainer)) == answers(explainer)


def test_what_is_only_remembered_stays_at_home():
    explainer = mx.Explainer(LogisticRegression().fit(DATA, LABEL), DATA)
    explainer.explain(DATA)
    assert explainer.engine.fitted._sides
    assert not sent(explainer).engine.fitted._sides


@pytest.mark.parametrize("form", ["ubj", "joblib"])
def test_a_model_from_a_file_needs_no_file_where_it_arrives(tmp_path, form):
    path = tmp_path / f"model.{form}"
    write(path)
    explainer = mx.Explainer(mx.load_model(path, allow_pickle=True), DATA)
    note, told = pickle.dumps(explainer), answers(explainer)
    path.unlink()
    assert answers(pickle.loads(note)) == told  # noqa: S301 - our own


def write(path: Path) -> None:
    if path.suffix == ".joblib":
        joblib.dump(LogisticRegression().fit(DATA, LABEL), path)
    else:
        xgboost = pytest.importorskip("xgboost")
        xgboost.XGBClassifier(n_estimators=5).fit(DATA, LABEL).save_model(path)


def test_one_sent_by_an_older_version_remembers_nothing():
    explainer = mx.Explainer(LogisticRegression().fit(DATA, LABEL), DATA)
    state = explainer.engine.fitted.__getstate__()
    del state["_counts"]
    fitted = object.__new__(type(explainer.engine.fitted))
    fitted.__setstate__(state)
    assert not fitted._counts


def test_what_another_thread_pushed_out_is_made_again():
    """Nothing is read from what is remembered a second time."""

    class Forgetful(OrderedDict):
        def __setitem__(self, key, value):
            pass

    explainer = mx.Explainer(LogisticRegression().fit(DATA, LABEL), DATA)
    kept = explainer.explain(DATA.head(3), n=2).to_json(canonical=True)
    for name in REMEMBERING:
        setattr(explainer.engine.fitted, name, Forgetful())
    assert explainer.explain(DATA.head(3), n=2).to_json(canonical=True) == kept


ELSEWHERE = """
import macex as mx
from macex import datasets

def model(frame):
    points = frame["hours_per_week"] / 20 + frame["education"].isin(["Bachelors", "Masters"])
    return 1 / (1 + 2.0 ** (3.3 - points - (frame["age"] > 40) / 2))

frame = datasets.load("adult").frame.head(4000)
explainer = mx.Explainer(model, frame, classes=["no", "yes"], candidates="neighbors")
print(explainer.explain(frame.tail(60)).to_json(canonical=True))
"""


@pytest.mark.parametrize("lacking", [processor.__cpu_dispatch__[-2:], processor.__cpu_dispatch__])
def test_another_processor_gives_the_same_answers(lacking):
    """NumPy has other code for other processors; which of equal numbers is first may differ."""
    told = []
    for without in ("", " ".join(lacking)):
        done = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", ELSEWHERE],
            env={**os.environ, "NPY_DISABLE_CPU_FEATURES": without},
            capture_output=True,
            text=True,
            check=True,
        )
        told.append(done.stdout)
    assert '"counterfactuals"' in told[0]
    assert told[0] == told[1]
