"""What a batch has in common."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from math import isnan

import numpy as np
import pytest

from explanation.made import batch, counterfactual, explanation
from macex.errors import OptionError
from macex.explanation import Change, Cost, Explanations, Interval
from macex.explanation.summary import TypicalStep, typical


def test_answers_reasons_and_changes_are_counted():
    summary = batch().summary()
    assert (summary.rows, summary.found) == (3, 2)
    assert summary.without == (("no single change reaches the goal", 1),)
    assert dict(summary.columns) == {"hours_per_week": 1, "edu": 1, "age": 1}
    assert (Change("edu", "BSc", "PhD"), 1) in summary.changes


def test_equal_changes_count_together_whatever_their_interval():
    wide = Interval(30, 60, 5, exact=False)
    found = [counterfactual(age=38), counterfactual(age=38, interval=wide), counterfactual(age=52)]
    summary = Explanations([explanation(*found)]).summary()
    assert summary.changes == ((Change("age", 25, 38), 2), (Change("age", 25, 52), 1))
    assert summary.columns == (("age", 3),)


def test_only_the_ten_most_frequent_changes_are_kept():
    found = [counterfactual(age=age) for age in range(26, 50)]
    assert len(Explanations([explanation(*found)]).summary().changes) == 10


def test_a_summary_reads_as_text_and_shows_as_html():
    summary = batch().summary()
    assert repr(summary).splitlines() == [
        "2 of 3 rows have an answer",
        "  3 counterfactuals; 120 rows scored and 3 model calls a query",
        "  1 without: no single change reaches the goal",
        "  column          changes  typical change",
        "  hours_per_week  1        up 5 (1×)",
        "  education       1        BSc → PhD (1×)",
        "  age             1        up 1 (1×)",
    ]
    html = summary._repr_html_()
    assert "education" in html
    assert "BSc → PhD (1×)" in html
    assert "An explanation scored 120 rows in 3 model calls" in html


def test_what_was_not_counted_is_not_said_to_cost_nothing():
    summary = replace(batch().summary(), cost=Cost(0, 0, 0.0))
    assert repr(summary).splitlines()[1] == "  3 counterfactuals"
    assert "An explanation scored" not in summary._repr_html_()


def test_mean_shap_stands_beside_the_counts_and_brings_columns_that_never_change():
    summary = batch().summary(shap={"rate": -0.5, "age": 2})
    assert summary.shap == {"rate": 0.5, "age": 2.0}
    html = summary._repr_html_()
    assert "mean |SHAP|" in html
    assert "never changes" in html
    values = np.array([[1.0, -2.0, 0, 0, 0], [3.0, 0.0, 0, 0, 0]])
    assert batch().summary(values).shap["age"] == 2.0
    assert batch().summary(values).shap["hours_per_week"] == 1.0


@pytest.mark.parametrize("shap", [{"agee": 1.0}, np.zeros((3, 2))])
def test_shap_of_other_columns_is_refused(shap):
    with pytest.raises(OptionError, match=r"'age'|\(rows, 5\)"):
        batch().summary(shap)


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


def changes(*pairs):
    return [Change("x", before, after) for before, after in pairs]


def test_numbers_have_a_median_step_each_way():
    found = typical("x", changes((1, 3), (1, 9), (1, 2), (5, 1)), numbers=True)
    assert (found.up, found.down, found.pairs) == (TypicalStep(3, 2), TypicalStep(1, 4), ())
    assert found.times == 4


def test_dates_move_by_time():
    day = datetime(2024, 1, 1)  # noqa: DTZ001
    found = typical("x", changes((day, day + timedelta(days=3))), numbers=True)
    assert found.up == TypicalStep(1, timedelta(days=3))


def test_a_missing_number_is_a_pair():
    found = typical("x", changes((None, 3), (None, 3), (1, 2)), numbers=True)
    assert found.up == TypicalStep(1, 1)
    assert found.pairs == ((Change("x", None, 3), 2),)


def test_categories_are_pairs_most_frequent_first_even_where_they_are_numbers():
    found = typical("x", changes((1, 2), (3, 4), (3, 4), (5, 6), (7, 8)), numbers=False)
    assert found.up is found.down is None
    assert found.pairs[0] == (Change("x", 3, 4), 2)
    assert len(found.pairs) == 3


def test_numbers_that_cannot_be_subtracted_are_pairs():
    found = typical("x", changes(("a", 1)), numbers=True)
    assert found.pairs == ((Change("x", "a", 1), 1),)
