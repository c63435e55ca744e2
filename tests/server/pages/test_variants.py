"""What if: what is typed into cells is judged by the model, or said to be wrong."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from macex import Explainer, any_of, at_least
from macex.ask.goals import Band
from macex.explainer.variants import judged, variant
from macex.render.speech import Speech
from macex.schema import Schema
from macex.schema.text import text_of
from server.pages.conftest import DATA


@pytest.fixture
def row(explainer):
    return explainer.schema.read(DATA.iloc[[40]])


def said_of(explainer, row, texts, want=None):
    one = variant(row, "a", texts)
    return one, judged(explainer, row, [one], want, Speech())


def test_the_models_own_decision_is_shown(explainer, row):
    one, (own, changed) = said_of(explainer, row, {"hours": "150"})
    assert (own.label, changed.label) == ("no", "yes")
    assert (own.reached, changed.reached) == (False, True)
    assert one.changed == 1


def test_what_the_dtype_cannot_hold_is_a_fault_and_nothing_is_asked_of_it():
    row = Schema.infer(pd.DataFrame({"debt": [1, 2, 3]}, dtype="uint8")).read({"debt": 2})
    one = variant(row, "a", {"debt": "-1"})
    assert "cannot hold '-1'" in one.faults["debt"]
    assert (one.codes == row.codes[0]).all()


def test_what_is_typed_as_it_is_changes_nothing(explainer, row):
    own = {name: text_of(value) for name, value in row.cells(0).items()}
    one, (before, after) = said_of(explainer, row, own)
    assert one.changed == 0
    assert before.score == after.score
    assert (one.codes == row.codes[0]).all()


def test_every_cell_that_cannot_be_read_is_named(explainer, row):
    one, _ = said_of(explainer, row, {"hours": "x", "job": "pilot", "no": "1", "since": "soon"})
    assert set(one.faults) == {"hours", "job", "no", "since"}
    assert "known are 'cook', 'nurse'" in one.faults["job"]


def test_a_missing_value_may_be_set_where_training_knows_it(explainer, row):
    one, _ = said_of(explainer, row, {"since": ""})
    assert one.faults == {}
    assert one.changed == 1


def test_a_value_that_is_never_missing_stays(explainer, row):
    one, _ = said_of(explainer, row, {"hours": "", "job": ""})
    assert set(one.faults) == {"hours", "job"}


def test_the_score_is_read_toward_the_goal(explainer, row):
    _, (own, changed) = said_of(explainer, row, {"hours": "102"}, at_least(0.9, label="yes"))
    assert changed.label == "yes"
    assert not changed.reached
    assert own.bar.goal == pytest.approx((90, 100))


def test_a_model_of_scores_has_no_decision():
    explainer = Explainer(lambda rows: rows["hours"] / 10, DATA)
    row = explainer.schema.read(DATA.iloc[[40]])
    _, (own, changed) = said_of(explainer, row, {"hours": "100"}, Band())
    assert own.label == ""
    assert (own.score, changed.score) == ("6.00", "10.00")


def test_all_classes_of_many_are_shown_the_decided_one_first():
    def thirds(rows):
        share = np.clip(rows["hours"].to_numpy() / 220, 0, 1)
        return np.stack([1 - share, share * 0.7, share * 0.3], axis=1)

    explainer = Explainer(thirds, DATA, classes=("a", "b", "c"))
    row = explainer.schema.read(DATA.iloc[[180]])
    _, (own, _) = said_of(explainer, row, {})
    assert [share.label for share in own.shares] == ["b", "c", "a"]
    assert [share.decided for share in own.shares] == [True, False, False]


@settings(max_examples=40, deadline=None)
@given(texts=st.dictionaries(st.sampled_from(list(DATA.columns)), st.text(max_size=6)))
def test_whatever_is_typed_is_judged_or_named(explainer, texts):
    row = explainer.schema.read(DATA.iloc[[3]])
    one, said = said_of(explainer, row, texts)
    assert len(said) == 2
    assert set(one.faults) <= set(texts)


@pytest.fixture
def three():
    """A model of three classes that is sure of the first."""
    shares = np.array([0.91, 0.06, 0.03])
    return Explainer(
        lambda rows: np.tile(shares, (len(rows), 1)), DATA, classes=("priority", "usual", "none")
    )


@pytest.mark.parametrize(
    ("want", "of", "score"),
    [
        (None, "any other decision", "0.09"),
        ("priority", "priority", "0.91"),
        ("usual", "usual", "0.06"),
        (any_of("usual", "none"), "usual or none", "0.09"),
        (at_least(0.5, label="none"), "none", "0.03"),
    ],
)
def test_a_score_says_whose_it_is(three, want, of, score):
    row = three.schema.read(DATA.iloc[[40]])
    _, (own, _) = said_of(three, row, {}, want)
    assert (own.label, own.of, own.score) == ("priority", of, score)
