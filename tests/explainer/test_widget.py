"""The widget answers what is filled in, locked and applied, as its traits change."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from macex import Explainer, ModelError
from macex.errors import OptionError

pytest.importorskip("anywidget")

DATA = pd.DataFrame(
    {
        "hours": range(20, 70),
        "debt": [1.5, 2.5] * 25,
        "city": [f"city {at:02d}" for at in range(50)],
        "owner": [0, 1] * 25,
    }
)


def scored(rows):
    return 1 / (1 + np.exp(44.5 - rows["hours"] + rows["debt"]))


@pytest.fixture
def explainer():
    return Explainer(scored, DATA, classes=("no", "yes"), constraints={"fixed": ["city"]})


@pytest.fixture
def widget(explainer):
    return explainer.widget(DATA.iloc[[10]], n=2)


def test_what_is_typed_is_judged_and_the_question_acknowledged(widget):
    assert "does not reach the goal" in widget.verdicts
    widget.set_state({"typed": {"hours": "60"}, "asked": 1})
    assert "✓ reaches the goal" in widget.verdicts
    assert widget.told == 1
    assert widget.row["hours"].tolist() == [60]
    assert widget.row.index.tolist() == [10]


def test_values_of_python_are_taken_too_and_own_ones_left_out(widget):
    widget.typed = {"hours": 60, "debt": 1.5}
    assert widget.typed == {"hours": "60"}


def test_what_cannot_be_read_is_named_and_is_no_row(widget):
    widget.typed = {"hours": "many", "rent": "1"}
    assert "takes whole numbers, not" in widget.verdicts
    assert "there is no column" in widget.verdicts
    with pytest.raises(OptionError, match="whole numbers"):
        _ = widget.row


def test_a_lock_is_a_constraint_of_the_answers(widget, explainer):
    free = widget.found[0]
    assert {change.column for change in free.counterfactuals[0].changes} == {"hours"}
    widget.locked = ["hours"]
    alone = explainer.explain(DATA.iloc[[10]], n=2, constraints={"fixed": ["hours"]})[0]
    assert widget.found[0].status == alone.status == "none"
    assert "No answer" in widget.answers or alone.reason in widget.answers
    widget.locked = []
    assert widget.found[0].to_json(canonical=True) == free.to_json(canonical=True)


def test_answers_can_be_applied_and_reach_the_goal(widget):
    assert len(widget.applied) == len(widget.found[0].counterfactuals) > 0
    widget.typed = widget.applied[0]
    assert "✓ reaches the goal" in widget.verdicts


def test_the_lock_of_a_column_that_the_explainer_keeps_is_closed(widget):
    assert widget.form.count("The explainer keeps it as it is") == 1


def test_a_lock_on_nothing_is_said_to_be_wrong(widget):
    widget.locked = ["rent"]
    assert "This question is not valid" in widget.answers
    assert "rent" in widget.answers


def test_a_curve_goes_with_what_is_typed(widget):
    widget.curve = "hours"
    before = widget.drawn["html"]
    assert before.startswith("<svg")
    widget.typed = {"debt": "2.5"}
    assert widget.drawn["html"] != before
    widget.curve = "nothing"
    assert "nothing" in widget.drawn["html"]
    widget.curve = ""
    assert widget.drawn == {"column": "", "html": ""}


def test_categories_are_found_as_they_are_typed(widget):
    widget.sought = {"column": "city", "text": "CITY 4"}
    assert widget.offered == {"column": "city", "texts": [f"city {at}" for at in range(40, 50)]}
    widget.sought = {"column": "hours", "text": "4"}  # no list
    widget.sought = {"column": "rent", "text": "4"}  # no column
    assert widget.offered["column"] == "city"


def test_while_a_slider_moves_the_model_is_asked_once_a_step():
    calls = []

    def counted(rows):
        calls.append(len(rows))
        return scored(rows)

    widget = Explainer(counted, DATA, classes=("no", "yes")).widget(DATA.iloc[[10]])
    calls.clear()
    for turn, hours in enumerate(range(31, 41), 1):
        widget.set_state({"typed": {"hours": str(hours)}, "asked": turn})
    assert calls == [2] * 10
    widget.curve = "hours"
    calls.clear()
    widget.typed = {"hours": "44"}
    assert calls == [2]  # the curve over its own column is known


def test_a_model_that_fails_says_so_in_the_widget():
    failing = []

    def model(rows):
        if failing:
            raise RuntimeError("the database is gone")
        return scored(rows)

    widget = Explainer(model, DATA, classes=("no", "yes")).widget(DATA.iloc[[10]])
    failing.append(True)
    widget.set_state({"typed": {"hours": "60"}, "asked": 1})
    assert "the database is gone" in widget.verdicts
    widget.set_state({"locked": ["debt"], "asked": 2})
    assert "the database is gone" in widget.answers
    assert widget.told == 2
    with pytest.raises(ModelError):
        Explainer(model, DATA, classes=("no", "yes"))


def test_a_model_of_scores_has_a_widget_for_a_score():
    explainer = Explainer(lambda rows: rows["hours"] * 2.0, DATA)
    with pytest.raises(ValueError, match="want"):
        explainer.widget(DATA.iloc[[10]])


def test_beside_the_widget_the_cards_are_kept(widget):
    made = widget._repr_mimebundle_()
    bundle = made[0] if isinstance(made, tuple) else made
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert "mx-card" in bundle["text/html"]


def test_text_of_the_data_is_escaped():
    data = DATA.assign(city=["<img src=x onerror=alert(1)>", "b"] * 25)
    widget = Explainer(scored, data, classes=("<b>", "yes")).widget(data.iloc[[10]])
    assert "<img" not in widget.form
    assert "<b></b>" not in widget.verdicts
    assert "&lt;b&gt;" in widget.verdicts


def test_one_row_is_wanted(explainer):
    with pytest.raises(OptionError, match="one row, not 2"):
        explainer.widget(DATA.head(2))


def test_without_anywidget_it_is_named(explainer, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "macex.explainer.widget", raising=False)
    with pytest.raises(ImportError, match=r"macex\[widget\]"):
        explainer.widget(DATA.iloc[[10]])
