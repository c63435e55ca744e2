"""Cells: data and models, made when first asked for."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from macex.bench.cells import MODELS, BenchCells, mlp, xgboost
from macex.datasets import load
from macex.errors import DataError, OptionError


def test_without_xgboost_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "xgboost", None)
    with pytest.raises(ImportError, match=r"macex\[bench\]"):
        xgboost(load("breast"))


def test_a_cell_is_fitted_once(cells):
    assert cells.get("loans", "MLP") is cells.get("loans", "MLP")
    assert cells.get("loans", "MLP") is not cells.get("loans", "MLP", seed=1)


def test_a_seed_draws_another_split(cells):
    first, second = cells.get("loans", "MLP"), cells.get("loans", "MLP", seed=1)
    assert set(first.train.index) != set(second.train.index)


def test_an_unknown_model_or_dataset_is_an_error(cells):
    with pytest.raises(OptionError, match="XGBoost"):
        cells.get("loans", "XGBoots")
    with pytest.raises(DataError, match="lones"):
        cells.get("lones", "MLP")


def test_a_file_that_is_not_the_dataset_is_an_error(tmp_path):
    (tmp_path / "titanic.csv").write_text("nothing of the kind")
    with pytest.raises(DataError, match=r"titanic\.csv"):
        BenchCells(tmp_path).dataset("titanic")


def test_queries_are_test_rows_in_an_order_that_longer_runs_keep(cells):
    cell = cells.get("loans", "MLP")
    every = cell.queries(10_000)
    assert len(every) == len(cell.dataset.frame) - len(cell.train)
    assert not set(every.index) & set(cell.train.index)
    assert list(cell.queries(20, 5).index) == list(every.index[5:20])


def test_the_models_are_the_papers():
    dataset = load("breast")
    assert tuple(MODELS) == ("XGBoost", "MLP")
    network = mlp(dataset)[-1]
    assert (network.hidden_layer_sizes, network.alpha, network.max_iter) == ((50, 50), 1e-3, 300)
    pytest.importorskip("xgboost")
    trees = xgboost(dataset)[-1]
    assert (trees.n_estimators, trees.max_depth, trees.random_state) == (100, 6, 0)


def test_the_meter_counts_what_the_model_is_asked(cells):
    cell = cells.get("loans", "MLP")
    rows = cell.queries(5)
    cell.meter.reset()
    proba = cell.model.predict_proba(rows)
    cell.model.predict(rows)
    assert np.allclose(proba.sum(axis=1), 1)
    assert (cell.meter.calls, cell.meter.rows) == (2, 10)
    assert cell.meter.seconds > 0
