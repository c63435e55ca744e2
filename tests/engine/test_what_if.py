"""What if: the model's own words on a row with other values."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import macex as mx

DATA = pd.DataFrame(
    {"hours a week": range(20, 60), "debt": [1.0, 2.0] * 20, "job": ["a", "b"] * 20}
)


def model(rows):
    return 1 / (1 + np.exp(44.5 - rows["hours a week"] + rows["debt"]))


@pytest.fixture(scope="module")
def explainer():
    return mx.Explainer(model, DATA, classes=("no", "yes"))


def test_scores_are_those_of_the_model(explainer):
    row = DATA.iloc[[20]]
    found = explainer.what_if(row, {"hours a week": 50}, debt=1.0)
    changed = row.assign(**{"hours a week": 50, "debt": 1.0})
    (no, yes) = found.scores
    assert yes[0] == "yes"
    assert yes[1:] == (
        pytest.approx(model(row).item(), abs=1e-6),
        pytest.approx(model(changed).item(), abs=1e-6),
    )
    assert no[1] == pytest.approx(1 - yes[1], abs=2e-6)
    assert (found.before, found.after, found.flips) == ("no", "yes", True)
    assert [change[:3] for change in found.changes] == [("hours a week", 40, 50)]


def test_nothing_changed_changes_nothing(explainer):
    found = explainer.what_if(DATA.iloc[[20]])
    assert not found.flips
    assert found.changes == ()
    assert found.sheet().title == "The model would still decide no"


def test_text_is_read_as_typed_and_a_mapping_is_a_row(explainer):
    row = {"hours a week": 40, "debt": 1.0, "job": "a"}
    assert explainer.what_if(row, {"hours a week": "50"}).after == "yes"


def test_it_shows_itself_everywhere(explainer):
    found = explainer.what_if(DATA.iloc[[20]], {"hours a week": 50})
    assert "instead of no" in repr(found)
    assert "<table" in found._repr_html_()
    assert json.loads(found.to_json())["format"] == "macex.whatif/1"
    assert list(found.to_frame().columns) == ["class", "before", "after"]


def test_a_bare_score_has_no_decision():
    explainer = mx.Explainer(lambda rows: rows["debt"] * 10.0, DATA)
    found = explainer.what_if(DATA.iloc[[0]], debt=2.0)
    assert found.sheet().title == "The score would be 20.00 instead of 10.00"


def test_wrong_calls_are_named(explainer):
    with pytest.raises(mx.SchemaError, match="did you mean 'debt'"):
        explainer.what_if(DATA.iloc[[0]], dept=1.0)
    with pytest.raises(mx.SchemaError, match="job"):
        explainer.what_if(DATA.iloc[[0]], job="c")
    with pytest.raises(mx.OptionError, match="one row, not 3"):
        explainer.what_if(DATA.head(3), debt=1.0)
    with pytest.raises(mx.OptionError, match="not 0"):
        explainer.what_if(DATA.head(0), debt=1.0)


@pytest.mark.parametrize("column", ["hours a week", "retired", "town"])
@pytest.mark.parametrize("blank", [None, float("nan"), pd.NA])
def test_a_column_whose_dtype_cannot_be_missing_is_never_said_to_be(column, blank):
    towns = pd.get_dummies(pd.Series(["north", "south"] * 20), dtype=int).add_prefix("town_")
    rows = DATA.assign(retired=[True, False] * 20).join(towns)
    block = {"town": mx.OneHot(list(towns))}
    one = mx.Explainer(model, rows, classes=("no", "yes"), schema=block)
    with pytest.raises(mx.SchemaError, match=f"'{column}' cannot be missing"):
        one.what_if(rows.iloc[[20]], {column: blank})


@pytest.mark.parametrize(
    ("dtype", "value"), [("int8", 300), ("uint8", -1), ("uint8", "256"), ("float16", 1e6)]
)
def test_a_number_that_the_dtype_cannot_hold_is_refused(dtype, value):
    rows = DATA.astype({"debt": dtype})
    one = mx.Explainer(model, rows, classes=("no", "yes"))
    with pytest.raises(mx.SchemaError, match=f"'debt' cannot hold .*trained as {dtype}"):
        one.what_if(rows.iloc[[20]], debt=value)
    assert one.what_if(rows.iloc[[20]], debt=100).changes[0].after == 100


def test_what_has_causes_follows_and_is_told_apart():
    rows = DATA.assign(pay=10 * DATA["hours a week"] + DATA["debt"])
    causes = mx.Causes({"pay": ["hours a week"]}, {"pay": "10 * `hours a week` + u"})

    def paid(frame):
        return 1 / (1 + np.exp((445 - frame["pay"]) / 10))

    told = mx.Explainer(paid, rows, classes=("no", "yes"), causes=causes)
    found = told.what_if(rows.iloc[[20]], {"hours a week": 50})
    assert [change[:3] for change in found.changes] == [("hours a week", 40, 50)]
    assert [change[:3] for change in found.consequences] == [("pay", 401.0, 501.0)]
    assert found.flips
    assert "pay (follows)" in repr(found)
    alone = told.what_if(rows.iloc[[20]], {"hours a week": 50, "pay": 402.0})
    assert not alone.flips
    assert alone.consequences == ()
    bare = mx.Explainer(paid, rows, classes=("no", "yes"))
    assert not bare.what_if(rows.iloc[[20]], {"hours a week": 50}).flips
