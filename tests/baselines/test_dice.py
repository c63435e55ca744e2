"""The real dice-ml, in the environment that `make peers` makes."""

from __future__ import annotations

import time

import pandas as pd
import pytest
from sklearn.preprocessing import StandardScaler

import macex as mx
from baselines.test_dice_network import pipeline
from baselines.worlds import CLASSES, DATA, POOR, chance, pay
from macex.baselines import Dice
from macex.errors import ModelError, OptionError

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def peers():
    try:
        Dice.program.python()
    except OptionError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("method", ["random", "genetic", "kdtree"])
def test_answers_are_valid_by_the_callers_model_and_repeat_themselves(method):
    dice = Dice(chance, DATA, method=method, classes=CLASSES)
    rows = POOR.head(3)
    found = dice.explain(rows)
    assert found.metrics()["validity"] > 0
    for item in found:
        for answer in item.counterfactuals:
            assert pay(answer.row)[0] >= 200
            assert (answer.row.dtypes == DATA.dtypes).all()
        assert item.status == "found" or item.reason
        assert item.method == f"dice {method}"
        assert item.cost.rows > 10
    assert list(dice.explain(rows)) == list(found)


def test_the_order_of_rows_changes_nothing():
    dice = Dice(chance, DATA, classes=CLASSES)
    forth, back = dice.explain(POOR.head(3)), dice.explain(POOR.head(3).iloc[::-1])
    assert list(forth) == list(back)[::-1]


def test_fixed_columns_and_ranges_are_told_to_dice_ml():
    constraints = mx.Constraints(fixed=["rate"], ranges={"hours": (None, 55)})
    dice = Dice(chance, DATA, constraints=constraints, classes=CLASSES)
    found = dice.explain(POOR.head(4), n=2)
    changed = {c.column for item in found for cf in item.counterfactuals for c in cf.changes}
    assert changed
    assert "rate" not in changed
    assert all(cf.row["hours"].iloc[0] <= 55 for item in found for cf in item.counterfactuals)


def test_a_query_that_takes_too_long_is_counted_and_the_next_one_is_asked():
    dice = Dice(chance, DATA, method="genetic", seconds=1e-3, classes=CLASSES)
    found = dice.explain(POOR.head(2))
    assert [item.reason for item in found] == ["dice-ml took longer than 0.001 s"] * 2
    dice.seconds = 60.0
    assert dice.explain(POOR.head(1))[0].status == "found"


def test_the_time_of_the_call_ends_a_query_as_well():
    slow = pd.Series([0.0])

    def patient(frame):
        time.sleep(slow[0])
        return chance(frame)

    dice = Dice(patient, DATA, classes=CLASSES)
    slow[0] = 0.4
    assert dice.explain(POOR.head(1), timeout_s=1.0)[0].status == "budget"


def test_a_model_that_raises_leaves_dice_ml_usable():
    rows, armed = POOR.head(1), []

    def moody(frame):
        if armed and (frame["hours"] != rows["hours"].iloc[0]).any():
            raise ValueError("not now")
        return chance(frame)

    dice = Dice(moody, DATA, classes=CLASSES)
    before = dice.explain(rows)
    armed.append(True)
    with pytest.raises(ModelError, match="not now"):
        dice.explain(rows)
    armed.clear()
    assert list(dice.explain(rows)) == list(before)


def test_what_dice_ml_raises_is_counted_and_the_next_one_is_asked():
    """Its genetic method cannot do without a column of numbers."""
    words = DATA[["job", "town"]]
    model = lambda rows: (rows["job"] == "smith") * 0.8 + 0.1  # noqa: E731
    dice = Dice(model, words, method="genetic", classes=CLASSES)
    found = dice.explain(words[words["job"] != "smith"].head(2))
    assert all(item.reason.startswith("dice-ml gave up: ") for item in found)


def test_the_gradient_method_follows_the_callers_network():
    """Its network must not be saturated: dice-ml's loss has no gradient there."""
    model = pipeline(StandardScaler(), alpha=10.0)
    chances = model.predict_proba(DATA)[:, 1]
    poor = DATA[(chances > 0.2) & (chances < 0.4)].head(1)
    item = Dice(model, DATA, method="gradient", seconds=300).explain(poor)[0]
    assert item.status == "found"
    assert model.predict(item.counterfactuals[0].row)[0]


def test_rows_with_missing_numbers_keep_them():
    data = DATA.assign(rate=DATA["rate"].mask(DATA.index % 10 == 0))
    model = lambda rows: chance(rows.assign(rate=rows["rate"].fillna(3.0)))  # noqa: E731
    poor = data[data["rate"].isna() & (model(data) < 0.4)].head(2)
    for item in Dice(model, data, classes=CLASSES).explain(poor):
        for answer in item.counterfactuals:
            if "rate" not in {change.column for change in answer.changes}:
                assert answer.row["rate"].isna().all()
