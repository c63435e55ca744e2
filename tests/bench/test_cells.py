"""The cells: the same rows and models as the figures on record, and nothing lost by a gap."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from macex.bench.cells import MODELS, Cells, mlp, xgboost
from macex.datasets import load


def unfit(dataset):
    raise ImportError("such is not installed")


def test_a_missing_dataset_is_reported_and_the_rest_goes_on(tmp_path, breast):
    cells = Cells(folder=tmp_path, names=("titanic", "breast"), models=breast.models)
    assert [cell.name for cell in cells] == ["breast / linear"]
    assert "titanic.csv" in cells.skipped["titanic"]


def test_a_missing_library_is_reported_and_the_rest_goes_on(breast):
    cells = Cells(names=("breast",), models={"gone": unfit, **breast.models})
    assert [cell.name for cell in cells] == ["breast / linear"]
    assert cells.skipped == {"gone": "such is not installed"}


def test_without_xgboost_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(ImportError, match=r"macex\[bench\]"):
        xgboost(load("breast"))


def test_a_cell_is_fitted_once(breast):
    assert breast.get("breast", "linear") is breast.get("breast", "linear")


def test_an_unknown_cell_is_none(breast):
    assert breast.get("breast", "XGBoost") is None
    assert breast.get("adult", "linear") is None


def test_queries_are_test_rows_and_never_more_than_there_are(breast):
    cell = breast.get("breast", "linear")
    assert len(cell.queries(10_000)) == len(cell.dataset.frame) - len(cell.train)
    assert not set(cell.queries(50).index) & set(cell.train.index)


def test_the_models_are_those_of_the_record():
    dataset = load("breast")
    assert tuple(MODELS) == ("XGBoost", "MLP")
    network = mlp(dataset)[-1]
    assert (network.hidden_layer_sizes, network.alpha, network.max_iter) == ((50, 50), 1e-3, 300)
    pytest.importorskip("xgboost")
    trees = xgboost(dataset)[-1]
    assert (trees.n_estimators, trees.max_depth, trees.random_state) == (100, 6, 0)


def test_a_fitted_cell_answers_on_the_raw_frame(adult):
    cell = adult.get("adult", "linear")
    proba = cell.model.predict_proba(cell.queries(5))
    assert np.allclose(proba.sum(axis=1), 1)
