"""Figures of a batch, and the cost of a query alone as the model itself counts it."""

from __future__ import annotations

from statistics import mean, median

import numpy as np
import pytest

from macex.bench.figures import alone, figures
from macex.bench.metered import Metered
from macex.explainer import Explainer


@pytest.fixture(scope="module")
def found(breast):
    cell = breast.get("breast", "linear")
    return Explainer(cell.model, cell.train).explain(cell.queries(6))


def test_figures_are_the_means_of_the_batch(found):
    reached, means = figures(found, "breast"), found.metrics()
    for name in ("validity", "sparsity", "proximity", "implausible", "rows", "calls"):
        assert getattr(reached, name) == pytest.approx(means[name])


def test_credit_takes_the_median_of_proximities(found):
    distances = [item.counterfactuals[0].proximity for item in found]
    assert figures(found, "credit").proximity == median(distances)
    assert figures(found, "breast").proximity == pytest.approx(mean(distances))


def test_nothing_has_no_figures():
    assert np.isnan(figures([], "breast")).all()


def test_a_query_alone_costs_no_more_than_its_explanation_says(breast):
    cell = breast.get("breast", "linear")
    rows = cell.queries(3)
    explainer = Explainer(cell.model, cell.train)
    said = [explainer.explain(rows.iloc[[place]])[0].cost for place in range(3)]
    cost = alone(cell.model, cell.train, rows)
    assert cost.calls == pytest.approx(mean(one.calls for one in said))
    assert 1 < cost.rows <= mean(one.rows for one in said)


def test_a_metered_model_answers_like_the_model(breast):
    cell = breast.get("breast", "linear")
    rows = cell.queries(4)
    metered = Metered(cell.model)
    assert (metered.predict_proba(rows) == cell.model.predict_proba(rows)).all()
    assert (metered.predict(rows) == cell.model.predict(rows)).all()
    assert (metered.calls, metered.rows) == (2, 8)
    assert metered.cpu > 0
