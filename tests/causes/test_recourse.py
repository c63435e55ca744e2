"""Answers are interventions: what they say comes true in the world that made the rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from causes.beside import beside
from causes.worlds import WORLDS, World, actions_of, random_world

EVERY = {**WORLDS, **{f"random {seed}": random_world(seed) for seed in range(2)}}
FIXED = {"loan": ["gender", "age"]}
world = pytest.mark.parametrize("name", EVERY)


def asked(name: str, causes: object, rows: int = 15, **options: object):
    """An explainer in a world, some refused rows and the noise that made them."""
    made: World = EVERY[name]
    train, _ = made.draw(1200)
    rows_, noise = made.draw(300, seed=1)
    refused = np.flatnonzero(made.model(rows_) < 0.5)[:rows]
    constraints = mx.Constraints(fixed=FIXED.get(name, []))
    explainer = mx.Explainer(
        made.model,
        train,
        classes=("no", "yes"),
        causes=causes,
        constraints=constraints,
        plausibility="distance",
        **options,
    )
    return explainer, rows_.iloc[refused], noise.iloc[refused]


def came_true(name: str, found, noise: pd.DataFrame) -> np.ndarray:
    made: World = EVERY[name]
    return made.model(made.acted(noise, actions_of(found, len(noise)))) >= 0.5


@world
def test_stated_consequences_are_those_of_the_world(name):
    made = EVERY[name]
    explainer, rows, noise = asked(name, mx.Causes(made.edges, made.mechanisms))
    found = explainer.explain(rows, want="yes")
    acted = made.acted(noise, actions_of(found, len(rows)))
    told = pd.concat([e.counterfactuals[0].row for e in found])
    np.testing.assert_allclose(told.to_numpy(), acted.to_numpy(), atol=1e-8)
    assert came_true(name, found, noise).all()


@world
def test_what_is_said_to_follow_is_what_differs_and_was_not_set(name):
    made = EVERY[name]
    explainer, rows, _ = asked(name, mx.Causes(made.edges))
    for explanation, own in zip(explainer.explain(rows, want="yes"), rows.iloc, strict=True):
        answer = explanation.counterfactuals[0]
        set_ = {change.column for change in answer.changes}
        follows = {change.column for change in answer.consequences}
        differs = {c for c in rows if answer.row[c].iloc[0] != own[c]}
        assert set_ | follows == differs
        assert not set_ & follows
        assert answer.sparsity == len(set_)
        assert set(answer.estimated) == follows
        reached = set().union(*(explainer.causes.effects_of(column) for column in set_))
        assert follows <= reached


def _cheapest(name: str, explainer: mx.Explainer, own: pd.Series, noise: pd.DataFrame) -> float:
    """The least cost of one intervention that reaches the goal, by trying a fine grid of values."""
    made: World = EVERY[name]
    columns, best = explainer.engine.schema.columns, np.inf
    scales = dict(zip(explainer.columns, explainer.engine.fitted.scales.scale, strict=True))
    for column in columns:
        if column.name in FIXED.get(name, []):
            continue
        values = np.linspace(column.low, column.high, 4000)
        many = noise.iloc[np.zeros(len(values), int)]
        reached = made.model(made.acted(many, {column.name: values})) >= 0.5
        cost = np.abs(values - own[column.name]) / scales[column.name]
        best = min(best, np.min(cost[reached], initial=np.inf))
    return float(best)


@pytest.mark.parametrize("name", ["linear", "curved", "loan"])
def test_interventions_cost_hardly_more_than_the_cheapest(name):
    made = EVERY[name]
    explainer, rows, noise = asked(
        name, mx.Causes(made.edges, made.mechanisms), prefer="nearest", rows=20
    )
    found = explainer.explain(rows, want="yes", constraints={"max_changes": 1})
    compared = 0
    for place, explanation in enumerate(found):
        best = _cheapest(name, explainer, rows.iloc[place], noise.iloc[[place]])
        assert (explanation.status == "found") == np.isfinite(best)
        if explanation.counterfactuals:
            compared += 1
            assert explanation.counterfactuals[0].distance <= 1.02 * best + 1e-3
    assert compared >= 15


@pytest.mark.parametrize("name", ["loan", "random 1"])
def test_causes_cost_one_more_call_and_at_most_twice_the_rows(name):
    made = EVERY[name]
    without, rows, _ = asked(name, None)
    before = without.explain(rows, want="yes")
    most = max(e.cost.calls for e in before)
    for causes in (mx.Causes(made.edges), mx.Causes(made.edges, made.mechanisms)):
        explainer = asked(name, causes)[0]
        plain, sure = (explainer.explain(rows, want="yes", reach=reach) for reach in (None, 0.9))
        assert max(e.cost.calls for e in plain) <= most + 1
        for found in (plain, sure):
            assert sum(e.cost.rows for e in found) <= 2 * sum(e.cost.rows for e in before)


@pytest.mark.parametrize("reach", [None, 0.9])
def test_a_thousand_queries_take_few_calls(reach):
    made = EVERY["loan"]
    train, _ = made.draw(800)
    rows, _ = made.draw(1000, seed=2)
    calls = []

    def counted(frame):
        calls.append(len(frame))
        return made.model(frame)

    explainer = mx.Explainer(
        counted, train, classes=("no", "yes"), causes=made.edges, plausibility="distance"
    )
    calls.clear()
    explainer.explain(rows, reach=reach)
    assert len(calls) <= 80


@pytest.mark.parametrize("effects", ["individual", "average"])
def test_a_row_is_answered_alike_alone_and_among_others(effects):
    made = EVERY["curved"]
    explainer, rows, _ = asked("curved", mx.Causes(made.edges, effects=effects))
    together = explainer.explain(rows, n=2)
    alone = [explainer.explain(rows.iloc[[at]], n=2)[0] for at in range(0, len(rows), 5)]
    assert [e.to_json(canonical=True) for e in alone] == [
        e.to_json(canonical=True) for e in together[::5]
    ]


@pytest.mark.parametrize("method", ["exhaustive", "reinforce", "gradientless"])
def test_every_search_follows_causes(method):
    made = EVERY["linear"]
    explainer, rows, noise = asked(
        "linear", mx.Causes(made.edges, made.mechanisms), rows=8, method=method
    )
    found = explainer.explain(rows, want="yes")
    assert [e.status for e in found] == ["found"] * len(found)
    assert came_true("linear", found, noise).all()


@pytest.mark.parametrize("name", list(WORLDS))
def test_with_fitted_mechanisms_answers_come_true(name):
    made = EVERY[name]
    explainer, rows, noise = asked(name, made.edges, rows=60)
    found = explainer.explain(rows, want="yes")
    assert came_true(name, found, noise).mean() >= 0.95
    likely = np.array([e.counterfactuals[0].reach >= 0.9 for e in found])
    assert came_true(name, found, noise)[likely].mean() >= 0.95


def test_answers_at_the_border_are_known_to_be_unsure():
    made = EVERY["linear"]
    explainer, rows, _ = asked("linear", made.edges, rows=40, prefer="nearest")
    shares = [e.counterfactuals[0].reach for e in explainer.explain(rows, want="yes")]
    assert np.mean(shares) < 0.9


def test_a_plan_counts_what_comes_true_when_it_is_acted_out():
    made = EVERY["linear"]
    explainer, rows, noise = asked("linear", mx.Causes(made.edges, made.mechanisms), rows=60)
    plan = explainer.plan(rows, actions=2, want="yes", constraints=mx.Constraints(only=["x2"]))
    for action in plan.actions:
        (move,) = action.moves
        own = rows["x2"].to_numpy()
        floor = -np.inf if move.at_least is None else move.at_least
        value = np.maximum(own, floor) if move.by is None else own + move.by
        # Where a row is there already nothing is set, and its own causes hold.
        acted = made.acted(noise, {"x2": np.where(value == own, np.nan, value)})
        assert (made.model(acted) >= 0.5).sum() == action.flips > 0


def test_bias_asks_about_one_column_alone():
    made = EVERY["linear"]
    told, rows, _ = asked("linear", mx.Causes(made.edges, made.mechanisms))
    bare, _, _ = asked("linear", None)
    asking = {"protected": ["x1"], "want": "yes"}
    assert told.bias(rows, **asking).flips == bare.bias(rows, **asking).flips


@pytest.mark.parametrize("name", ["linear", "curved", "random 0"])
def test_answers_that_ignore_causes_fail_or_cost_more(name):
    ignored, fitted = beside(name, "ignored", 40), beside(name, "fitted", 40)
    assert fitted.found == ignored.found == 40
    assert fitted.true >= 0.95
    assert ignored.true < 0.95 or ignored.distance > 1.5 * fitted.distance
