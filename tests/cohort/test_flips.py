"""What a protected column does by itself, through what follows from it, and otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx

STATED = mx.Causes(
    {"income": ["gender"], "hours": ["gender"], "savings": ["income"]},
    {
        "income": "if gender == 'm' then 50 + u else 40 + u",
        "hours": "if gender == 'm' then 35 + u else 30 + u",
        "savings": "0.5 * income + u",
    },
)


def people(count: int = 300, seed: int = 0) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    male = draw.random(count) < 0.5
    income = np.where(male, 50, 40) + draw.normal(0, 5, count).round(1)
    return pd.DataFrame(
        {
            "gender": np.where(male, "m", "f"),
            "income": income,
            "hours": np.where(male, 35, 30) + draw.normal(0, 3, count).round(1),
            "savings": 0.5 * income + draw.normal(0, 1, count).round(1),
        }
    )


def told(points, through=(), causes=STATED, **options):
    rows = people()

    def model(frame):
        return 1 / (1 + np.exp(-points(frame)))

    explainer = mx.Explainer(
        model, rows, classes=("no", "yes"), causes=causes, plausibility="distance"
    )
    return explainer.bias(rows, protected=["gender"], explained=1, through=through, **options)


def ways(found) -> dict[str, float]:
    return {way.ways: way.one.value for way in found.ways}


def brute(points, moved) -> float:
    """The share of decisions that the other gender changes, by hand."""
    rows = people()
    up = np.where(rows["gender"] == "m", -1, 1)
    other = rows.assign(gender=np.where(up > 0, "m", "f"))
    if "income" in moved:
        other["income"] += 10 * up
    if "hours" in moved:
        other["hours"] += 5 * up
    if "savings" in moved:
        other["savings"] += 5 * up
    return float(((points(rows) > 0) != (points(other) > 0)).mean())


def by_income(frame):
    return frame["income"] - 45.03


def by_savings_and_hours(frame):
    return frame["savings"] - 22.51 + 0.5 * (frame["hours"] - 32.5)


def by_all(frame):
    return by_savings_and_hours(frame) + 2.0 * (frame["gender"] == "m") - 1


@pytest.mark.parametrize("points", [by_income, by_savings_and_hours, by_all])
def test_each_way_is_that_of_the_equations(points):
    found = ways(told(points, ["income"]))
    assert found["every"] == pytest.approx(brute(points, {"income", "hours", "savings"}))
    assert found["direct"] == pytest.approx(brute(points, set()))
    assert found["otherwise"] == pytest.approx(brute(points, {"hours"}))


def test_a_column_that_acts_only_through_what_may_count_does_nothing_otherwise():
    found = told(by_income, ["income"])
    assert ways(found)["every"] > 0.3
    assert ways(found)["otherwise"] == ways(found)["direct"] == 0
    assert "By other ways than through income it changes 0 %" in " ".join(found.reading())
    assert "By which ways" in repr(found)
    assert {"every ways", "direct ways", "otherwise ways"} <= set(found.to_frame()["what"])


def test_without_causes_or_effects_nothing_is_said_of_ways():
    assert told(by_income, causes=None).ways == ()
    assert told(by_income, causes={"savings": ["income"]}).ways == ()
    assert [way.ways for way in told(by_income).ways] == ["every", "direct"]


@pytest.mark.parametrize(
    ("through", "causes", "said"),
    [
        (["income"], None, "needs causes"),
        (["gender"], STATED, "does not follow from what is protected"),
        (["incme"], STATED, "did you mean 'income'"),
        (5, STATED, "through"),
    ],
)
def test_what_does_not_follow_cannot_count(through, causes, said):
    with pytest.raises(mx.MacexError, match=said):
        told(by_income, through, causes=causes)
