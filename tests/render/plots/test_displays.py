"""Displays: what they compute is what the model says, and they can be drawn anywhere."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx

COLUMNS = {
    "hours": np.arange(20, 60),
    "debt": np.linspace(0, 2, 40).round(2),
    "city": ["Oslo", "Rome", "Bonn", "Oslo"] * 10,
    "since": pd.date_range("2020-01-01", periods=40),
}
DATA = pd.DataFrame(COLUMNS)
QUERY = {"hours": 40, "debt": 1.5, "city": "Oslo", "since": pd.Timestamp("2020-01-03")}


def model(rows):
    days = (rows["since"] - pd.Timestamp("2020-01-01")).dt.days
    lead = rows["hours"] - 46 - 4 * rows["debt"] + 3 * (rows["city"] == "Rome") + days / 20
    return 1 / (1 + np.exp(-lead / 3))


@pytest.fixture(scope="module")
def explainer():
    return mx.Explainer(model, DATA, classes=("no", "yes"), names={"hours": "hours a week"})


@pytest.fixture(scope="module")
def explanation(explainer):
    return explainer.explain(QUERY, n=3, constraints=mx.Constraints(ranges={"hours": (20, 46)}))[0]


def drawn(display):
    assert "<svg" in display.svg()
    return display


def test_a_path_begins_at_the_query_ends_at_the_counterfactual_and_tells_every_step(
    explainer, explanation
):
    found = explanation.counterfactuals[0]
    assert len(found.changes) >= 2
    display = drawn(mx.PathDisplay.from_explanation(explainer, explanation))
    assert len(display.steps) == len(display.scores) == len(found.changes) + 1
    assert display.scores[0] == pytest.approx(explanation.score)
    assert display.scores[-1] == pytest.approx(found.score, abs=1e-6)
    gains = np.diff(display.scores)
    assert gains[0] > 0
    assert display.steps[0] == "now"


def test_a_line_of_decisions_is_what_the_model_says(explainer, explanation):
    display = drawn(mx.DecisionDisplay.from_explanation(explainer, explanation, "hours"))
    (axis,) = display.along
    rows = pd.DataFrame([QUERY] * len(axis.codes)).assign(hours=axis.codes.astype(int))
    assert display.scores == pytest.approx(model(rows).to_numpy(), abs=1e-6)
    assert axis.query == [40]
    assert display.chart.x.name == "hours a week"
    assert display.chart.y.name == "score for yes"


@pytest.mark.parametrize(
    "columns", [("hours", "debt"), ("hours", "city"), ("city", "hours"), ("since", "debt"), "since"]
)
def test_a_map_covers_all_combinations(explainer, explanation, columns):
    display = drawn(mx.DecisionDisplay.from_explanation(explainer, explanation, columns, points=9))
    assert display.scores.shape == tuple(len(axis.codes) for axis in display.along)
    assert ((display.scores >= 0) & (display.scores <= 1)).all()


def test_a_row_without_an_answer_can_still_be_looked_at(explainer):
    none = explainer.explain(QUERY, constraints=mx.Constraints(only=["city"]))[0]
    assert not none.counterfactuals
    display = drawn(mx.DecisionDisplay.from_explanation(explainer, none, "city"))
    assert display.found_score is None
    with pytest.raises(mx.OptionError, match="has none"):
        mx.PathDisplay.from_explanation(explainer, none)
    with pytest.raises(mx.OptionError, match="nothing to compare"):
        mx.DiversityDisplay.from_explanation(none)


@pytest.mark.parametrize("columns", [[], ["hours", "hours"], ["hours", "debt", "city"]])
def test_a_decision_is_drawn_along_one_column_or_two(explainer, explanation, columns):
    with pytest.raises(mx.OptionError, match="one column or two"):
        mx.DecisionDisplay.from_explanation(explainer, explanation, columns)


def test_an_unknown_column_or_rank_is_named(explainer, explanation):
    with pytest.raises(mx.SchemaError, match="did you mean 'hours'"):
        mx.DecisionDisplay.from_explanation(explainer, explanation, "hour")
    with pytest.raises(mx.OptionError, match="rank=9"):
        mx.DecisionDisplay.from_explanation(explainer, explanation, "hours", rank=9)


def test_an_explanation_of_other_columns_is_refused(explanation):
    data = DATA[["hours"]]
    other = mx.Explainer(lambda rows: rows["hours"] / 60, data, classes=("no", "yes"))
    with pytest.raises(mx.OptionError, match="other columns"):
        mx.PathDisplay.from_explanation(other, explanation)


def test_a_map_of_diversity_has_a_line_for_each_answer(explanation):
    display = drawn(mx.DiversityDisplay.from_explanation(explanation))
    assert len(display.values) == len(explanation.counterfactuals)
    assert 0 <= display.overlap <= 1
    for values, found in zip(display.values, explanation.counterfactuals, strict=True):
        assert len(values) == len(found.changes)


def test_changes_beside_shap_are_both_shares(explainer):
    found = explainer.explain(DATA.head(8))
    display = drawn(mx.ChangesDisplay.from_explanations(found, shap={"debt": 3.0, "hours": 1.0}))
    widths = [width for bar in display.chart.bars for width in (bar.value, bar.beside)]
    assert sum(widths) == pytest.approx(2.0)
    assert "hours a week" in display.names


def test_the_goal_is_shaded_where_it_is_reached(explainer, explanation):
    chart = mx.DecisionDisplay.from_explanation(explainer, explanation, "hours").chart
    assert chart.bounds == (0.5,)
    assert (chart.goal.low, chart.goal.high) == (0.5, 1.0)
    two = mx.DecisionDisplay.from_explanation(explainer, explanation, ["hours", "debt"], points=9)
    reached = sum(score > 0.5 for line in two.chart.scores for score in line)
    assert two.svg().count("mx-heat-yes") == reached + 1  # and one in the legend


def test_an_explanation_draws_itself(explanation):
    assert explanation.plot().ways
    assert explanation.plot("front").best
    assert explanation.plot("diversity").values
    with pytest.raises(mx.OptionError, match="kind='changes' is none of"):
        explanation.plot("changes")


def test_a_goal_on_a_score_is_drawn_too():
    data = DATA[["hours", "debt"]]
    explainer = mx.Explainer(lambda rows: rows["hours"] - 10.0 * rows["debt"], data)
    found = explainer.explain(data.head(1), want=mx.at_least(35.0))[0]
    path = drawn(mx.PathDisplay.from_explanation(explainer, found))
    assert path.scores[0] == pytest.approx(found.score)
    assert path.scores[-1] >= 35
    line = drawn(mx.DecisionDisplay.from_explanation(explainer, found, "hours"))
    assert line.scores[0] == pytest.approx(float(line.along[0].codes[0]), abs=1e-4)


def test_the_front_marks_the_answers_that_no_other_beats(explanation):
    display = mx.FrontDisplay.from_explanation(explanation)
    best = [one in explanation.front for one in explanation.counterfactuals]
    assert list(display.best) == best
    assert list(display.score) == [one.score for one in explanation.counterfactuals]
    assert len(display.chart.dots) == len(best)


def test_every_plot_has_a_title_that_its_file_shows(explainer, explanation, tmp_path):
    found = explainer.explain(DATA.head(8))
    plan = explainer.plan(DATA.head(8))
    charts = [
        *(explanation.plot(kind) for kind in ("context", "front", "diversity")),
        *(found.plot(kind) for kind in ("changes", "scores")),
        *(plan.plot(kind) for kind in ("actions", "coverage")),
        mx.PathDisplay.from_explanation(explainer, explanation),
        mx.DecisionDisplay.from_explanation(explainer, explanation, "hours"),
    ]
    for chart in charts:
        assert chart.title
        assert chart.title in chart.to_svg(tmp_path / "plot.svg").read_text("utf-8")


def test_the_axis_of_scores_names_their_class(explainer):
    assert explainer.explain(DATA.head(8), want="yes").plot("scores").x.name == "score for yes"
    mixed = explainer.explain(DATA.iloc[[0, 39]])
    assert len({one.label for one in mixed}) == 2
    assert mixed.plot("scores").x.name == "score toward the goal of each row"
