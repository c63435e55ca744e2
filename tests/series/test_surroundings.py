"""Drawings of an answer: an axis of time, what is usual, and where the change comes from."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from series.machines import NAMES, Machine, explainer, made_cases

QUERIES = made_cases(3, seed=1)
TIMES = np.arange(40) / 4


@pytest.fixture(scope="module")
def found():
    names = {NAMES[2]: mx.Name("pressure", unit="bar")}
    return explainer(names=names, times=TIMES, time_unit="s").explain(QUERIES[:1], want="bump")


def test_a_channel_is_drawn_beside_its_donor_and_the_cases_that_are_as_wanted(found):
    answer = found[0].counterfactuals[0]
    assert list(answer.beside) == [NAMES[2]]
    beside, change, train = answer.beside[NAMES[2]], answer.changes[0], made_cases()
    assert np.array_equal(beside.donor, train[change.case, 2].astype(float))
    bumps = train[Machine().predict(train) == "bump", 2]
    assert np.allclose(beside.low, np.quantile(bumps, 0.1, axis=0), atol=1e-6)
    assert np.allclose(beside.high, np.quantile(bumps, 0.9, axis=0), atol=1e-6)


def test_a_page_shows_times_and_units_and_says_the_changed_points(found):
    page, change = found.to_html(), found[0].counterfactuals[0].changes[0]
    assert page.count('class="mx-band"') == page.count('class="mx-donor"') == 1
    assert page.count('class="mx-point"') == change.stop - change.start
    assert f"<title>{TIMES[change.start]:g} s: " in page
    for text in (
        "<span>0 s</span>",
        "<span>9.75 s</span>",
        " bar</span>",
        "Case 0",
        "<b>pressure</b>",
    ):
        assert text in page


def test_the_case_of_an_action_has_no_unit(found):
    action = found[0].actions[0]
    assert f"case {action.case}\n" in found.to_html().replace("</span>", "\n")
    assert f"case {action.case} bar" not in found.to_html()


def test_a_plot_has_the_labels_of_its_times(found, tmp_path):
    drawn = found[0].plot().to_svg(tmp_path / "plot.svg").read_text()
    assert ">9.75<" in drawn
    assert "time, s" in drawn
    assert "pressure, bar" in drawn


def test_few_cases_make_no_band():
    train = made_cases(60)
    few = np.concatenate([train[0::3], train[1::3][:4], train[2::3]])
    asked = mx.SeriesExplainer(Machine(), few, channels=NAMES)
    page = asked.explain(QUERIES[:1], want="bump").to_html()
    assert 'class="mx-band"' not in page
    assert 'class="mx-donor"' in page


def test_gaps_and_unequal_lengths_are_drawn():
    train = [
        np.where(case > 3.2, np.nan, case)[:, : 40 - at % 3] for at, case in enumerate(made_cases())
    ]
    model = Machine()

    def scores(cases):
        return np.concatenate([model.predict_proba(case[None]) for case in cases])

    asked = mx.SeriesExplainer(scores, train, channels=NAMES, classes=list(model.classes_))
    page = asked.explain(train[:1], want="raised").to_html()
    assert "nan" not in page
    assert 'class="mx-band"' in page
