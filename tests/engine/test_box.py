"""The box: every combination of the ranges reaches the goal."""

from __future__ import annotations

import json
import pickle
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier

import macex as mx

DRAW = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "hours": DRAW.integers(10, 70, 400),
        "age": DRAW.integers(18, 80, 400),
        "job": DRAW.choice(["none", "clerk", "chief"], 400),
    }
)


def grant(rows: pd.DataFrame) -> np.ndarray:
    points = 0.1 * rows["hours"] + 0.05 * rows["age"] + 0.8 * (rows["job"] == "chief") - 8
    return (1 / (1 + np.exp(-points))).to_numpy()


def combinations(box: mx.explanation.box.Box, query: pd.DataFrame, steps: dict[str, list]):
    row = query.assign(**dict(box.settings))
    grids = [steps[one.column] for one in box.ranges]
    made = [row.assign(**dict(zip(steps, values, strict=True))) for values in product(*grids)]
    return pd.concat(made).astype(query.dtypes)


def test_every_combination_of_whole_numbers_reaches_the_goal():
    explainer = mx.Explainer(grant, ROWS, classes=("no", "yes"))
    wish = {"fixed": ["job"], "ranges": {"hours": (None, 55)}}
    pairs = 0
    for one in explainer.explain(ROWS[grant(ROWS) < 0.05].head(12), constraints=wish):
        box = one.counterfactuals[0].box
        assert box.exact
        assert box.failing_at_most == 0
        values = {r.column: list(range(r.low, r.high + 1)) for r in box.ranges}
        assert (grant(combinations(box, one.query, values)) > 0.5).all()
        assert max(values.get("hours", [0])) <= 55
        for change in one.counterfactuals[0].changes:
            assert change.after in values[change.column]
        pairs += len(box.ranges) > 1
    assert pairs > 2


def test_no_side_of_an_exact_box_can_be_moved_out():
    explainer = mx.Explainer(grant, ROWS, classes=("no", "yes"))
    (one,) = explainer.explain(ROWS[grant(ROWS) < 0.1].head(1), constraints={"fixed": ["job"]})
    box = one.counterfactuals[0].box
    values = {r.column: list(range(r.low, r.high + 1)) for r in box.ranges}
    for grown in box.ranges:
        if not grown.open_low:
            wider = values | {grown.column: [grown.low - 1]}
            assert (grant(combinations(box, one.query, wider)) <= 0.5).any()


def test_the_cells_of_trees_are_exact():
    rows = ROWS[["hours", "age"]] + DRAW.random((400, 2))
    model = RandomForestClassifier(5, max_depth=3, random_state=0)
    model.fit(rows, rows["hours"] + rows["age"] > 90)
    explainer = mx.Explainer(model, rows, candidates="thresholds")
    found = explainer.explain(rows[~model.predict(rows)].head(8), want=True)
    for one in found:
        box = one.counterfactuals[0].box
        assert box.exact
        values = {r.column: list(np.linspace(r.low, r.high, 40)) for r in box.ranges}
        assert model.predict(combinations(box, one.query, values)).all()


def test_a_box_holds_no_value_that_is_not_allowed():
    rows = ROWS[["hours", "age"]]
    model = RandomForestClassifier(5, max_depth=3, random_state=0)
    model.fit(rows, rows["hours"] + rows["age"] > 90)
    explainer = mx.Explainer(model, rows, candidates="thresholds")
    wish = mx.Constraints(allowed={"hours": [20, 60, 65, 66]})
    found = explainer.explain(rows[~model.predict(rows)].head(12), want=True, constraints=wish)
    ranges = [r for one in found for a in one.counterfactuals for r in a.box.ranges]
    hours = [set(range(r.low, r.high + 1)) for r in ranges if r.column == "hours"]
    assert hours
    assert all(one <= {20, 60, 65, 66} for one in hours)


def test_what_cannot_be_tested_whole_is_sampled_and_says_so():
    rows = pd.DataFrame(DRAW.normal(size=(500, 2)), columns=["x", "y"])

    def inside(rows: pd.DataFrame) -> np.ndarray:
        return ((rows["x"] ** 2 + rows["y"] ** 2) < 0.5).astype(float).to_numpy()

    explainer = mx.Explainer(inside, rows, classes=("out", "in"))
    (one,) = explainer.explain(pd.DataFrame({"x": [1.5], "y": [1.5]}))
    box = one.counterfactuals[0].box
    assert not box.exact
    assert box.sampled == 510
    assert box.failing_at_most == pytest.approx(0.01, rel=0.01)
    values = {r.column: list(np.linspace(r.low, r.high, 40)) for r in box.ranges}
    assert inside(combinations(box, one.query, values)).mean() > 0.95
    assert "with 95 % confidence at most 1 % do not" in repr(box)
    assert repr(box) == repr(one.counterfactuals[0].box)


def test_a_box_is_told_in_words_and_in_json():
    explainer = mx.Explainer(grant, ROWS, classes=("no", "yes"), names={"hours": "weekly hours"})
    query = pd.DataFrame({"hours": [30], "age": [50], "job": ["clerk"]})
    (one,) = explainer.explain(query, constraints={"only": ["hours"]})
    box = one.counterfactuals[0].box
    assert box.text == "weekly hours at least 56"
    document = json.loads(json.dumps(box.to_dict()))
    assert document["ranges"][0]["low"] == 56
    assert "<p>weekly hours at least 56" in box._repr_html_()


def copied(found: mx.explanation.Counterfactual) -> mx.Counterfactual:
    """As another process gets it."""
    return pickle.loads(pickle.dumps(found))  # noqa: S301


def test_what_travelled_has_no_box_and_says_why():
    explainer = mx.Explainer(grant, ROWS, classes=("no", "yes"))
    (one,) = explainer.explain(ROWS[grant(ROWS) < 0.1].head(1))
    sent = copied(one.counterfactuals[0])
    assert sent == one.counterfactuals[0]
    with pytest.raises(mx.MacexError, match="explain the row again where the model is"):
        _ = sent.box
    made = one.counterfactuals[0].box
    assert copied(one.counterfactuals[0]).box == made


def test_a_box_keeps_the_structure_of_training():
    rows = ROWS.assign(free=lambda rows: 168 - rows["hours"])
    explainer = mx.Explainer(grant, rows, classes=("no", "yes"))
    assert len(explainer.structure) == 1
    for one in explainer.explain(rows[grant(rows) < 0.05].head(8)):
        found = one.counterfactuals[0]
        named = {part.column for part in found.box.ranges}
        assert named
        assert not {"hours", "free"} <= named  # one follows the other
