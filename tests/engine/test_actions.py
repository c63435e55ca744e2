"""What the weight of an action says, search by search."""

from __future__ import annotations

import pytest

import macex as mx
from engine.worlds import DATA, chance

ROW = DATA.iloc[[15]]


def explained(method: str) -> mx.Explanation:
    return mx.Explainer(chance, DATA, classes=("no", "yes"), method=method).explain(ROW)[0]


@pytest.mark.parametrize("method", ["exhaustive", "gradientless"])
def test_weights_are_shares_of_what_the_best_single_changes_gain(method):
    reasons = explained(method).reasons
    assert len(reasons) == 2  # no job makes a difference
    assert sum(action.weight for action in reasons) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("method", ["exhaustive", "gradientless"])
def test_a_change_that_is_enough_alone_need_not_have_all_the_weight(method):
    enough = [action for action in explained(method).actions if action.flips]
    assert enough
    assert all(action.weight < 1 for action in enough)


def test_weights_of_a_policy_are_its_probabilities_for_columns():
    weights = [action.weight for action in explained("reinforce").actions]
    assert all(0 < weight < 1 for weight in weights)
    assert sum(weights) != pytest.approx(1, abs=1e-3)
