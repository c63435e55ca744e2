from __future__ import annotations

import numpy as np
import pytest

from baselines.worlds import CERTIFAI, DATA, POOR, chance, made, pay
from macex.baselines import Certifai
from macex.errors import OptionError


def nearest(query) -> float:
    """The least distance of a row that pays enough, by trying everything on the grid."""
    hours = np.arange(DATA["hours"].min(), DATA["hours"].max() + 1)
    rates = np.round(np.arange(DATA["rate"].min(), DATA["rate"].max() + 0.05, 0.1), 1)
    scale = {"hours": DATA["hours"].median(), "rate": DATA["rate"].median()}
    best = np.inf
    for smith in (False, True):
        is_smith = query["job"].iloc[0] == "smith"
        worth = hours[:, None] * rates[None, :] * (1.5 if smith else 1.0)
        steps = np.abs(hours - query["hours"].iloc[0])[:, None] / scale["hours"]
        steps = steps + np.abs(rates - query["rate"].iloc[0])[None, :] / scale["rate"]
        steps = steps + (smith != is_smith)
        best = min(best, steps[worth > 200].min())
    return float(best)


def test_the_default_comes_within_a_twentieth_of_the_nearest_row():
    found = Certifai(chance, DATA, classes=("short", "enough")).explain(POOR)
    best = [nearest(item.query) for item in found]
    reached = [item.counterfactuals[0].distance for item in found]
    assert np.mean(reached) <= 1.05 * np.mean(best)
    assert all(mine >= least - 1e-6 for mine, least in zip(reached, best, strict=True))


def test_more_generations_come_nearer():
    few = made(CERTIFAI, generations=1).explain(POOR)
    many = made(CERTIFAI, generations=30).explain(POOR)
    assert np.mean([item.counterfactuals[0].distance for item in many]) < np.mean(
        [item.counterfactuals[0].distance for item in few]
    )


def test_the_default_scores_fifteen_thousand_rows_a_query():
    item = Certifai(chance, DATA, classes=("short", "enough")).explain(POOR.head(1))[0]
    assert 15_000 <= item.cost.rows <= 15_003


def test_all_queries_share_one_model_call_a_generation():
    calls = []

    def counted(rows):
        calls.append(len(rows))
        return chance(rows)

    explainer = Certifai(counted, DATA, population=40, generations=5, classes=("no", "yes"))
    calls.clear()
    explainer.explain(POOR)
    assert len(calls) == 1 + 6 + 1


def test_another_seed_breeds_other_rows():
    one = made(CERTIFAI, generations=2).explain(POOR)
    other = made(CERTIFAI, generations=2, random_state=1).explain(POOR)
    assert list(one) != list(other)


def test_where_no_training_row_meets_the_goal_any_rows_are_mixed():
    poor = DATA[pay(DATA) < 160]
    found = Certifai(chance, poor, classes=("no", "yes")).explain(poor.head(3), want="yes")
    assert all(item.status in ("found", "not_found") for item in found)


@pytest.mark.parametrize("option", ["population", "generations"])
def test_wrong_sizes_are_errors(option):
    with pytest.raises(OptionError, match=rf"Certifai\({option}=\)"):
        made(CERTIFAI, **{option: 0})
