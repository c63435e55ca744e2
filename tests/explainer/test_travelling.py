"""An explainer in another process gives the same answers."""

from __future__ import annotations

import pickle
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import macex as mx

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
    assert explainer._fitted._sides
    assert not sent(explainer)._fitted._sides


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
