"""A model at a glance: its numbers are those that scikit-learn gives, from few bounded calls."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import average_precision_score, confusion_matrix, roc_auc_score

from macex.engine import batch
from macex.errors import OptionError
from macex.render.speech import Speech
from macex.server.pages.charts import DOTS, scattered, scored
from macex.server.pages.glance import SAMPLED, SHUFFLED, grouped_by, importance
from macex.server.projects.parts import Parts, positions
from macex.server.projects.project import Project
from server.pages.conftest import DATA
from server.pages.conftest import scored as model

TRUTH = pd.Series(np.where(DATA["hours"] + 40 * (DATA["job"] == "nurse") > 130, "yes", "no"))
CALLS = []


def counted(rows):
    CALLS.append(len(rows))
    return model(rows)


def project_of(score=counted, data=DATA, classes=("no", "yes"), labels=lambda: TRUTH):
    parts = Parts(score, data, data.copy(), classes=classes, labels=labels)
    return Project("glanced", "Glanced", lambda: parts).open()


@pytest.fixture(scope="module")
def project():
    return project_of()


def test_what_a_threshold_does_is_counted(project):
    found = scored(project, "", "0.7")
    scores = model(DATA).to_numpy()
    expected = confusion_matrix(TRUTH == "yes", scores >= 0.7)
    assert found.rates.table == tuple(map(tuple, expected.tolist()))
    assert found.over == int((scores >= 0.7).sum())
    assert (found.of, found.own, found.at) == ("yes", 0.5, 0.7)
    assert sum(sum(layer.counts) for layer in found.histogram.layers) == len(DATA)


def test_the_other_class_is_the_mirror(project):
    yes, no = scored(project, "yes", "0.5"), scored(project, "no", "0.5")
    assert no.of == "no"
    assert no.rates.accuracy == pytest.approx(yes.rates.accuracy)
    with pytest.raises(OptionError, match="knows no class 'maybe'"):
        scored(project, "maybe", "")


def test_areas_are_those_of_scikit_learn(project):
    roc, precision, calibration = scored(project, "", "").curves
    scores = project.table.predictions.scores[:, 1]
    assert f"{roc_auc_score(TRUTH == 'yes', scores):.3f}" in roc.title
    assert f"{average_precision_score(TRUTH == 'yes', scores):.3f}" in precision.title
    assert roc.lines[1].x[0] == roc.lines[1].y[0] == 0
    assert roc.lines[1].x[-1] == roc.lines[1].y[-1] == 1
    last = scores >= 0.9
    assert calibration.lines[1].x[-1] == pytest.approx(scores[last].mean(), abs=1e-6)
    assert calibration.lines[1].y[-1] == pytest.approx((TRUTH[last] == "yes").mean())


def test_a_threshold_that_is_no_number_is_said_and_one_beyond_is_held(project):
    with pytest.raises(OptionError, match="a threshold is a number"):
        scored(project, "", "half")
    assert scored(project, "", "7").at == 1.0
    assert scored(project, "", "nan").at == 0.5


def test_without_labels_nothing_is_said_of_the_truth():
    found = scored(project_of(labels=None), "", "")
    assert (found.rates, found.curves, found.decided) == (None, (), ())
    assert scored(project_of(labels=lambda: None), "", "").rates is None


def test_a_model_that_always_says_yes_is_glanced_at():
    project = project_of(lambda rows: rows["hours"] * 0 + 0.9)
    found = scored(project, "", "")
    assert found.rates.recall == 1.0
    assert found.curves
    one = scored(project_of(labels=lambda: pd.Series(["yes"] * len(DATA))), "", "")
    assert one.curves == ()  # there is nothing to tell apart
    said = importance(project, 20.0, Speech())
    assert said.shuffled == SHUFFLED


def test_several_classes_have_a_table_of_decisions():
    def thirds(rows):
        share = np.clip(rows["hours"].to_numpy() / 220, 0, 1)
        return np.stack([1 - share, share * 0.7, share * 0.3], axis=1)

    truth = pd.Series(np.where(DATA["hours"] > 100, "b", "a"))
    found = scored(project_of(thirds, classes=("a", "b", "c"), labels=lambda: truth), "", "")
    assert [name for name, _ in found.decided] == ["a", "b", "c"]
    assert sum(sum(line) for _, line in found.decided) == len(DATA)
    assert (found.of, found.own) == ("a", None)


def test_a_model_of_scores_has_a_histogram_and_no_threshold_of_its_own():
    found = scored(project_of(lambda rows: rows["hours"] * 1.0, classes=None), "", "")
    assert (found.of, found.own, found.rates) == ("", None, None)
    assert found.low == 20
    assert found.high == 219


def test_importance_is_asked_in_few_bounded_calls(project, monkeypatch):
    monkeypatch.setattr(batch, "BLOCK_S", 1e6)  # blocks are as large on a slow machine
    CALLS.clear()
    found = importance(project, 60.0, Speech())
    assert len(CALLS) <= 30  # whatever the number of rows and columns
    assert sum(CALLS) <= 100_000
    assert SHUFFLED < CALLS[-1] <= SHUFFLED * (1 + len(DATA.columns))  # all columns at once
    named = {bar.name: bar for bar in found.columns.bars}
    assert found.columns.bars[0].name == "hours"
    assert named["hours"].beside > 0.2
    assert named["job"].beside == 0  # the model does not read it
    assert found.explained + found.bordering + found.without == 2 * SAMPLED


def test_groups_are_compared_with_intervals(project):
    found = grouped_by(project, "job", "yes", Speech())
    assert [line[0] for line in found.lines] == ["cook", "nurse"]
    assert all("to" in line[1] for line in found.lines)
    rates = {bar.name: bar for bar in found.chart.bars}
    decided = project.table.predictions.decision
    cooks = (DATA["job"] == "cook").to_numpy()
    low, high = rates["cook"].interval
    assert low <= decided[cooks].mean() <= high


def test_rows_are_dots_that_lead_to_their_pages(project):
    found = scattered(project, ("hours", "job"), "/projects/glanced", Speech())
    assert found.shown == len(DATA) <= DOTS
    assert found.chart.points[3].href == "/projects/glanced/rows/3"
    assert {point.group for point in found.chart.points} == {0, 1}
    plane = scattered(project, ("", ""), "/projects/glanced", Speech())
    assert plane.shown == len(DATA)
    assert np.isfinite([(one.x, one.y) for one in plane.chart.points]).all()


@pytest.mark.parametrize("names", [("hours", "job"), ("", "")])
def test_a_row_and_what_is_told_of_it_lie_where_rows_of_the_table_would(project, names):
    codes = project.explainer().schema.read(DATA).codes
    told = [("row 3", "before", codes[3]), ("answer 1", "after", codes[120])]
    chart = scattered(project, names, "/projects/glanced", Speech(), told).chart
    assert [dot.text for dot in chart.dots] == ["row 3", "answer 1"]
    assert chart.arrows == ((0, 1),)
    for dot, place in zip(chart.dots, (3, 120), strict=True):
        x, y = chart.points[place].x, chart.points[place].y
        assert dot.x == pytest.approx(x)
        assert dot.y == pytest.approx(y, abs=0.31 if names[1] else 1e-9)  # categories are spread


def test_a_point_where_nothing_is_found_is_no_part_of_the_curve_of_precision(project):
    curve = scored(project, "", "").curves[1]
    assert min(curve.lines[0].x) > 0


def test_labels_are_matched_by_what_they_say_or_by_place():
    classes = ("0", "1")
    assert positions(pd.Series([1.0, 0.0, np.nan]), classes).tolist() == [1, 0, -1]
    assert positions(pd.Series(["x", "y"]), ("a", "b")) is None
    assert positions(pd.Series([True, False]), (False, True)).tolist() == [1, 0]
