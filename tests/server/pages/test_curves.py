"""Curves, maps and comparisons are what the model says, asked in few calls."""

from __future__ import annotations

import numpy as np
import pytest

from macex import Explainer
from macex.errors import SchemaError
from macex.explainer.curves import POINTS, SIDE, curves, score_map
from macex.explainer.variants import Aim, all_said, variant
from macex.render.speech import Speech
from macex.server.pages.address import Address
from macex.server.pages.panes import comparison, curve_pane, map_pane, nearest_real
from macex.server.projects.parts import Parts
from macex.server.projects.project import Project
from server.pages.conftest import DATA, scored


@pytest.fixture
def calls():
    return []


@pytest.fixture
def project(calls):
    def counted(rows):
        calls.append(len(rows))
        return scored(rows)

    parts = Parts(counted, DATA, DATA, classes=("no", "yes"))
    return Project("hours", "Hours", lambda: parts).open()


def aimed(project, texts, place=40, want=None):
    explainer = project.explainer()
    rows = explainer.schema.read(DATA.iloc[[place]])
    variants = [variant(rows, letter, cells) for letter, cells in texts.items()]
    said = all_said(explainer, rows, variants, want)
    return Aim(project.remembered.get, explainer, rows, said, Speech()), variants


def test_a_curve_is_what_the_model_says_with_all_else_as_it_is(project):
    aim, (a,) = aimed(project, {"a": {}})
    found = curves(aim, "hours", [a.codes])
    hours = found.grid.codes
    assert (hours[0], hours[-1], len(hours)) == (20, 219, POINTS)
    expected = 1 / (1 + np.exp((100.5 - hours) / 10))
    assert found.lines[0] == pytest.approx(expected, abs=1e-6)
    assert found.average == pytest.approx(expected, abs=1e-6)  # no other column counts
    assert found.enough.low == 0.5


def test_while_its_own_column_moves_a_curve_asks_for_the_score_alone(project, calls):
    aim, (a,) = aimed(project, {"a": {}})
    curves(aim, "hours", [a.codes])
    calls.clear()
    for hours in (60, 70, 80):
        aim, (a,) = aimed(project, {"a": {"hours": str(hours)}})
        found = curves(aim, "hours", [a.codes])
        assert found.places == (hours,)
    assert calls == [2, 2, 2]  # the row and the variant, each time


def test_another_column_that_moves_gives_another_curve_by_one_call(project, calls):
    aim, (a,) = aimed(project, {"a": {}})
    curves(aim, "hours", [a.codes])
    aim, (a,) = aimed(project, {"a": {"job": "nurse"}})
    calls.clear()
    curves(aim, "hours", [a.codes])
    assert calls == [POINTS]


def test_categories_have_a_curve_too(project):
    aim, (a,) = aimed(project, {"a": {}})
    found = curves(aim, "job", [a.codes])
    assert found.grid.axis.texts == ("cook", "nurse")
    assert found.lines[0][0] == found.lines[0][1]


def test_a_column_that_is_not_there_is_said(project):
    aim, variants = aimed(project, {"a": {}})
    pane = curve_pane(aim, Address([("curve", "hour")]), variants)
    assert "no column 'hour'" in pane.fault
    assert curve_pane(aim, Address(), variants) is None


def test_a_map_is_one_call_and_holds_every_pair(project, calls):
    aim, (a,) = aimed(project, {"a": {}})
    calls.clear()
    found = score_map(aim, ("hours", "rate"), a.codes, [("this row", "row", a.codes)])
    assert calls == [SIDE * SIDE]
    assert found.scores.shape == (SIDE, SIDE)
    expected = 1 / (1 + np.exp((100.5 - found.x.codes) / 10))
    assert found.scores[3] == pytest.approx(expected, abs=1e-6)
    assert found.points[0].x == DATA["hours"][40]
    assert len(found.rows) == 200
    score_map(aim, ("hours", "rate"), a.codes, [])
    assert calls == [SIDE * SIDE]


def test_a_map_needs_two_columns(project):
    aim, (a,) = aimed(project, {"a": {}})
    same = map_pane(aim, Address([("mapx", "hours"), ("mapy", "hours")]), a.codes, [])
    assert "two different columns" in same.fault
    assert map_pane(aim, Address([("mapx", "hours")]), a.codes, []) is None


def test_the_nearest_real_row_reaches_the_goal_and_none_that_does_is_nearer(project):
    aim, _ = aimed(project, {"a": {}})
    nearest = nearest_real(aim)
    fitted = project.explainer().engine.fitted
    reached = fitted.ground.codes[fitted.answers.decision == 1]
    far = fitted.scales.total(np.repeat(aim.rows.codes, len(reached), axis=0), reached)
    mine = fitted.scales.total(aim.rows.codes, nearest[None])
    assert (reached == nearest).all(axis=1).any()
    assert mine[0] == far.min()


def test_a_comparison_has_the_row_its_answers_and_real_rows(project):
    aim, (a,) = aimed(project, {"a": {"hours": "101"}})
    found = comparison(aim, [("answer 1", a.codes)], "this row")
    assert found.headings == ("this row", "answer 1", "nearest real row", "average")
    lines = dict(found.lines)
    assert [cell.text for cell in lines["hours"]] == ["60", "101", "102", "160"]
    assert [cell.differs for cell in lines["hours"]] == [False, True, True, True]
    assert found.scores[1] == "0.51"
    assert found.reached == 119


def test_nobody_reaches_what_nobody_reached():
    parts = Parts(lambda rows: rows["hours"] * 0.0, DATA, DATA, classes=("no", "yes"))
    project = Project("never", "Never", lambda: parts).open()
    aim, _ = aimed(project, {"a": {}})
    assert nearest_real(aim) is None
    assert comparison(aim, [], "this row").headings == ("this row",)


def test_a_column_of_one_value_has_no_curve():
    data = DATA.assign(same=1)
    parts = Parts(scored, data, data, classes=("no", "yes"))
    project = Project("same", "Same", lambda: parts).open()
    explainer = project.explainer()
    rows = explainer.schema.read(data.iloc[[3]])
    one = variant(rows, "a", {})
    aim = Aim(
        project.remembered.get, explainer, rows, all_said(explainer, rows, [one], None), Speech()
    )
    with pytest.raises(SchemaError, match="one value only"):
        curves(aim, "same", [one.codes])
    assert isinstance(explainer, Explainer)
