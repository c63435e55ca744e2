"""What a batch has in common."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from explanation.made import batch, counterfactual, explanation
from macex.errors import OptionError
from macex.explanation import Change, Cost, Explanations, Interval


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
