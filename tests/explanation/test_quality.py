"""The figures of a batch."""

from __future__ import annotations

from dataclasses import replace
from math import isnan

import pytest

from explanation.made import batch, counterfactual, explanation
from macex.explanation import Explanations


def test_figures_are_means_over_rows_and_counterfactuals():
    figures = batch().metrics()
    assert all(isinstance(figure, float) for figure in figures.values())
    assert figures["validity"] == pytest.approx(2 / 3)
    assert figures["sparsity"] == pytest.approx((1 + 2 + 0) / 3)
    assert figures["proximity"] == pytest.approx(0.25)
    assert figures["distance"] == pytest.approx(0.5)
    assert figures["plausibility"] == pytest.approx(0.62)
    assert figures["minimal"] == 1.0
    assert figures["returned"] == 1.0
    assert (figures["rows"], figures["calls"], figures["seconds"]) == (120, 3, 0.01)


def test_answers_of_a_search_that_stepped_in_are_not_the_methods_own():
    items = [
        explanation(counterfactual(age=38)),
        explanation(counterfactual(age=38), method="nearest row"),
        explanation(),
    ]
    figures = Explanations(items, meta={"method": "exhaustive"}).metrics()
    assert figures["validity"] == pytest.approx(2 / 3)
    assert figures["validity_own"] == pytest.approx(1 / 3)
    assert Explanations(items).metrics()["validity_own"] == figures["validity"]


def test_diversity_counts_missing_answers_as_nothing():
    figures = batch().metrics()
    assert figures["diversity_all_columns"] == pytest.approx(3 / 5 / 3)
    assert figures["diversity_changed_columns"] == pytest.approx(1 / 3)
    assert figures["diversity_column_sets"] == pytest.approx(1 / 3)


def test_the_implausible_are_those_under_a_twentieth_and_unknown_ones_do_not_count():
    found = [
        replace(counterfactual(age=38), plausibility=share) for share in (0.04, 0.05, 0.9, None)
    ]
    figures = Explanations([explanation(*found)]).metrics()
    assert figures["implausible"] == pytest.approx(1 / 3)
    assert figures["plausibility"] == pytest.approx(0.33)


def test_nothing_found_has_no_mean():
    figures = Explanations([explanation()]).metrics()
    assert figures["validity"] == 0
    assert isnan(figures["sparsity"])
    assert isnan(Explanations([]).metrics()["validity"])
