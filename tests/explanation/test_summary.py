"""What a batch has in common."""

from __future__ import annotations

from explanation.made import batch, counterfactual, explanation
from macex.explanation import Change, Explanations, Interval


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
    assert "2 of 3 rows have an answer" in repr(summary)
    assert "1 without: no single change reaches the goal" in repr(summary)
    assert "age 38 → 39" in repr(summary)
    assert "age 38 → 39" in summary._repr_html_()
