"""The order of changes: soonest toward the goal, by the rules, or through what looks usual."""

from __future__ import annotations

import pickle
from functools import partial
from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from causes.worlds import LINEAR

DRAW = np.random.default_rng(0)
ROWS = pd.DataFrame(
    {
        "school": DRAW.integers(8, 20, 400),
        "job": DRAW.choice(["clerk", "cook", "lawyer"], 400),
        "saved": DRAW.integers(0, 50, 400),
    }
)
PRIOR = "if job == 'lawyer' and old(job) != 'lawyer' then school >= 16"


def model(rows):
    points = 0.1 * rows["school"] + 3 * (rows["job"] == "lawyer") + 0.05 * rows["saved"]
    return 1 / (1 + np.exp(6 - points))


def answer(rules=(), **options):
    explainer = mx.Explainer(
        model, ROWS, classes=("no", "yes"), plausibility="distance", structure="ignore", **options
    )
    row = pd.DataFrame({"school": [9], "job": ["cook"], "saved": [3]})
    wish = mx.Constraints(rules=rules, ranges={"saved": (0, 30)})
    found = explainer.explain(row, want="yes", constraints=wish)[0].counterfactuals[0]
    return found, partial(explainer.steps, found)


def columns(steps) -> list[list[str]]:
    return [[move.column for move in step.moves] for step in steps.steps]


def test_steps_lead_from_the_row_to_its_counterfactual():
    found, stepped = answer()
    steps = stepped()
    assert len(steps.steps) == len(found.changes) > 1
    assert steps.score == pytest.approx(
        model(pd.DataFrame({"school": [9], "job": "cook", "saved": 3})).item(), abs=1e-6
    )
    assert (steps.steps[-1].score, steps.steps[-1].label) == (found.score, "yes")
    moved = {move.column: move.after for step in steps.steps for move in step.moves}
    assert moved == {change.column: change.after for change in found.changes}


def test_the_order_comes_near_the_goal_as_soon_as_any():
    found, stepped = answer()
    own = {"school": 9, "job": "cook", "saved": 3}
    after = {change.column: change.after for change in found.changes}

    def scores(order):
        row, told = dict(own), []
        for column in order:
            row[column] = after[column]
            told.append(round(model(pd.DataFrame([row])).item(), 6))
        return told

    best = max(sum(scores(order)) for order in permutations(after))
    assert sum(step.score for step in stepped().steps) == pytest.approx(best, abs=1e-5)


def test_one_change_is_the_condition_of_another():
    (_, free), (_, bound) = answer(), answer([PRIOR])
    assert columns(free())[0] == ["job"]
    order = columns(bound())
    assert order.index(["school"]) < order.index(["job"])


def test_what_only_goes_together_is_done_at_once():
    pair = [
        "if job != old(job) then school >= 16",
        "if school != old(school) then job == 'lawyer'",
    ]
    steps = columns(answer(pair)[1]())
    assert ["job", "school"] in [sorted(step) for step in steps]


def test_costs_are_added_up_by_unit():
    def dear(before, after):
        return f"{after - before} years"

    found, stepped = answer([PRIOR])
    years = next(c.after - c.before for c in found.changes if c.column == "school")
    steps = stepped({"school": dear, "job": "1 year", "saved": 500})
    assert steps.takes["years"] == years + 1
    assert steps.takes.get("", 0) == (500 if "saved" in {c.column for c in found.changes} else 0)
    assert "years" in repr(steps)
    assert list(steps.to_frame()["step"].unique()) == list(range(1, len(steps.steps) + 1))
    assert '"macex.steps/1"' in steps.to_json()


def test_consequences_follow_at_the_step_that_causes_them():
    train, _ = LINEAR.draw(500)
    rows, noise = LINEAR.draw(200, seed=1)
    refused = np.flatnonzero((LINEAR.model(rows) < 0.3) & (np.abs(rows) < 1.5).all(axis=1))[:15]
    explainer = mx.Explainer(
        LINEAR.model,
        train,
        classes=("no", "yes"),
        causes=mx.Causes(LINEAR.edges, LINEAR.mechanisms),
        plausibility="distance",
    )
    limits = {"ranges": dict.fromkeys(train, (-0.8, 0.8))}
    found = explainer.explain(rows.iloc[refused], want="yes", constraints=limits)
    several = 0
    for place, explanation in zip(refused, found, strict=True):
        for one in explanation.counterfactuals:
            several += len(one.changes) > 1
            done: dict[str, np.ndarray] = {}
            for step in explainer.steps(one).steps:
                done |= {move.column: np.array([move.after]) for move in step.moves}
                acted = LINEAR.acted(noise.iloc[[place]], done)
                assert step.score == pytest.approx(LINEAR.model(acted).item(), abs=1e-5)
                for move in step.follows:
                    assert move.after == pytest.approx(acted[move.column].iloc[0], abs=1e-8)
    assert several


def test_a_dense_way_leads_through_what_looks_usual():
    draw = np.random.default_rng(3)
    turn = draw.uniform(0, np.pi / 2, 600)
    ring = pd.DataFrame(
        {
            "x": 10 * (1 - np.cos(turn)) + draw.normal(0, 0.2, 600),
            "y": 10 * np.sin(turn) + draw.normal(0, 0.2, 600),
        }
    )
    explainer = mx.Explainer(
        lambda r: 1 / (1 + np.exp(17 - r["x"] - 1.0 * r["y"])),
        ring,
        classes=("no", "yes"),
        plausibility="distance",
    )
    row = pd.DataFrame({"x": [0.05], "y": [0.3]})
    found = explainer.explain(row, want="yes")[0].counterfactuals[0]
    assert len(found.changes) == 2
    dense, short = explainer.steps(found, dense=True), explainer.steps(found)
    assert len(dense.steps) > len(short.steps) == 2
    first = dense.steps[0].moves[0]
    assert first.column == "y"  # the ring goes up before it goes across
    assert dense.steps[-1].score == found.score


@pytest.mark.parametrize(
    ("costs", "said"),
    [
        ({"scool": 1}, "did you mean 'school'"),
        ({"school": "two years"}, "is no cost"),
        ({"school": -1}, "is no cost"),
        ({"school": True}, "is no cost"),
        ([("school", 1)], "costs takes a mapping"),
        ({"school": lambda before, after: 1 / 0}, r"function for 'school' failed for .*: division"),
    ],
)
def test_costs_that_cannot_be_are_errors(costs, said):
    with pytest.raises(mx.OptionError, match=said):
        answer()[1](costs)


def test_without_a_change_there_is_nothing_to_do():
    explainer = mx.Explainer(model, ROWS, classes=("no", "yes"), plausibility="distance")
    there = ROWS[model(ROWS) > 0.6].head(1)
    steps = explainer.steps(explainer.explain(there, want="yes")[0].counterfactuals[0])
    assert steps.steps == ()
    assert "Nothing to do" in repr(steps)


def test_an_answer_from_elsewhere_knows_no_steps():
    found, stepped = answer()
    with pytest.raises(mx.OptionError, match="explain the row again"):
        stepped.func(pickle.loads(pickle.dumps(found)))  # noqa: S301 - made here
