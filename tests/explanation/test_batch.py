"""A batch of explanations is a sequence of values that shows itself."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from explanation.made import batch, counterfactual, explanation
from macex.explanation import Explanation, Explanations


def test_a_batch_is_a_sequence_and_a_slice_of_it_is_a_batch():
    found = batch()
    assert len(found) == 3
    assert isinstance(found[np.int64(1)], Explanation)
    assert list(found[1:]) == [found[1], found[2]]
    assert isinstance(found[1:], Explanations)
    assert (found[1:].names, found[1:].meta) == (found.names, found.meta)
    with pytest.raises(IndexError):
        found[3]
    with pytest.raises(TypeError):
        found[0] = found[1]


def test_a_batch_does_not_change_with_the_list_it_was_made_from():
    items = [explanation()]
    found = Explanations(items)
    items.clear()
    assert len(found) == 1


def test_text_shows_the_first_few_of_thousands():
    text = repr(Explanations([explanation(counterfactual(hours_per_week=45))] * 5000))
    assert text.startswith("5000 explanations: 5000 found\n0: <=50K; score")
    assert "\n… and 4995 more\nusual: the share of training rows" in text
    assert len(text.splitlines()) < 20


def test_a_notebook_shows_the_first_twenty():
    html = Explanations([explanation(counterfactual(hours_per_week=45))] * 23)._repr_html_()
    assert html.count('<section class="mx-card">') == 20
    assert html.count("<details open>") == 3
    assert "… and 3 more" in html


def test_a_batch_of_nothing_can_be_shown_and_tabled():
    nothing = Explanations([])
    assert "no rows" in repr(nothing)
    assert nothing._repr_html_()
    assert len(nothing.to_frame()) == len(nothing.to_changes()) == 0
    assert "cf.rank" in nothing.to_frame().columns
    assert nothing.summary().rows == 0
    assert nothing.to_html().startswith("<!DOCTYPE html>")


def test_a_report_is_written_whole_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    assert batch().to_html(path, title="Loans") == path
    page = path.read_text(encoding="utf-8")
    assert page.rstrip().endswith("</html>")
    assert "Made on</dt><dd>20" in page
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(FileNotFoundError):
        batch().to_html(tmp_path / "nowhere" / "report.html")


def test_a_report_shows_as_many_as_told_and_counts_all():
    found = Explanations([explanation(counterfactual(hours_per_week=45))] * 9)
    page = found.to_html(most=4)
    assert page.count("<h2>Row ") == 4
    assert "5 more rows are counted in the summary but not shown." in page
    assert "9 of 9 rows have an answer" in page


def test_a_plot_has_a_bar_for_each_column_that_changes():
    chart = batch().plot().chart
    assert [bar.name for bar in chart.bars] == ["hours per week", "education", "age"]
    assert [bar.value for bar in chart.bars] == [1, 1, 1]


def test_a_plot_of_scores_counts_rows_and_best_answers():
    found = batch()
    now, best = found.plot("scores").layers
    assert sum(now.counts) == len(found)
    assert sum(best.counts) == sum(bool(one.counterfactuals) for one in found)
    with pytest.raises(mx.OptionError, match="kind='bars' is none of"):
        found.plot("bars")
