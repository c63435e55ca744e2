"""The real NICE, in the environment that `make peers` makes."""

from __future__ import annotations

import pytest

import macex as mx
from baselines.worlds import CLASSES, DATA, POOR, chance, pay
from macex.baselines import Nice
from macex.errors import OptionError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def peers():
    try:
        Nice.program.python()
    except OptionError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("reward", ["sparsity", "proximity", "none"])
def test_answers_are_valid_by_the_callers_model_and_repeat_themselves(reward):
    nice = Nice(chance, DATA, reward=reward, classes=CLASSES)
    found = nice.explain(POOR.head(4))
    for item in found:
        (answer,) = item.counterfactuals
        assert pay(answer.row)[0] >= 200
        assert (answer.row.dtypes == DATA.dtypes).all()
        assert item.method == f"nice {reward}"
    assert list(nice.explain(POOR.head(4))) == list(found)


def test_without_a_reward_the_answer_is_a_training_row():
    answer = Nice(chance, DATA, reward="none", classes=CLASSES).explain(POOR.head(1))[0]
    row = answer.counterfactuals[0].row.iloc[0]
    assert DATA.eq(row).all(axis=1).any()


def test_what_may_not_change_is_put_back():
    nice = Nice(chance, DATA, constraints=mx.Constraints(fixed=["rate"]), classes=CLASSES)
    for item in nice.explain(POOR):
        assert "rate" not in {c.column for cf in item.counterfactuals for c in cf.changes}


def test_its_time_is_its_own():
    nice = Nice(chance, DATA, classes=CLASSES)
    assert nice.spent == (0, 0)
    nice.explain(POOR.head(2))
    assert all(amount > 0 for amount in nice.spent)
    nice.close()
    assert nice._process._child is None
