"""What a column alone does, against a table of all rows and all values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx

NO, YES = "no", "yes"


def skewed(count: int, seed: int) -> pd.DataFrame:
    """Ages with long thin tails, and a thousand postcodes."""
    draw = np.random.default_rng(seed)
    age = np.clip(np.rint(draw.gamma(9, 4.5, count)), 17, 95).astype(int)
    return pd.DataFrame(
        {
            "age": age,
            "postcode": [f"p{i:03}" for i in draw.integers(0, 1000, count)],
            "income": draw.normal(50, 15, count).round(1),
        }
    )


def odds(rows: pd.DataFrame) -> np.ndarray:
    """Only rare ages and few postcodes count."""
    code = rows["postcode"].str[1:].astype(int)
    age = rows["age"]
    merit = (
        (rows["income"] - 50) / 10 + 1.5 * (age > 72) - 1.2 * (age < 21) + 3.0 * (code % 97 == 5)
    )
    return 1 / (1 + np.exp(-merit.to_numpy(float)))


def explainer(train: pd.DataFrame) -> mx.Explainer:
    return mx.Explainer(odds, train, classes=(NO, YES), schema={"postcode": "categorical"})


def brute(train: pd.DataFrame, rows: pd.DataFrame, column: str) -> np.ndarray:
    """Whether each other seen value changes each decision, (rows, values); NaN for the own."""
    own = odds(rows) > 0.5
    values = np.unique(train[column])
    table = np.full((len(rows), len(values)), np.nan)
    for at, value in enumerate(values):
        other = (rows[column] != value).to_numpy()
        table[other, at] = ((odds(rows.assign(**{column: value})) > 0.5) != own)[other]
    return table


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("column", ["age", "postcode"])
def test_every_seen_value_is_tried(column, seed):
    train, rows = skewed(4000, seed), skewed(150, seed + 10)
    found = explainer(train).bias(rows, protected=[column], explained=1)
    table = brute(train, rows, column)
    values, times = np.unique(train[column], return_counts=True)
    ((_, share),), ((_, effect),), (tried,) = found.flips, found.effects, found.tried
    assert share.value == pytest.approx((np.nansum(table, axis=1) > 0).mean())
    assert (tried.values, tried.seen) == (len(values), len(values))
    weight = np.where(np.isnan(table), 0, times)
    drawn = np.nansum(table * times, axis=1) / weight.sum(axis=1)
    assert effect.value == pytest.approx(drawn.mean())
    assert "at least" not in found.reading()[0]


@pytest.mark.parametrize("column", ["age", "postcode"])
def test_a_cut_gives_a_bound_and_says_how_many_values_were_tried(column):
    train, rows = skewed(4000, 3), skewed(200, 4)
    whole = explainer(train).bias(rows, protected=[column], explained=1)
    cut = explainer(train).bias(rows, protected=[column], explained=1, max_values=20)
    truth, bound = whole.flips[0][1], cut.flips[0][1]
    assert cut.tried[0].values == 20 < cut.tried[0].seen
    assert bound.value <= truth.value
    assert bound.low <= truth.value <= bound.high == 1.0
    true = {(line.group, line.before): line.share.value for line in whole.by_group}
    for line in cut.by_group:
        if line.share.low is not None:
            assert line.share.low <= true[line.group, line.before] <= line.share.high
    assert cut.effects[0][1].low <= whole.effects[0][1].value <= cut.effects[0][1].high
    assert "changes at least" in cut.reading()[0]
    assert cut.reading()[1].startswith(f"Only 20 of its {cut.tried[0].seen} values were tried")


def test_pairs_are_the_share_of_values_of_the_other_group():
    train, rows = skewed(4000, 5), skewed(300, 6)
    found = explainer(train).bias(rows, protected=["age"], explained=1, bands={"age": [25, 72]})
    table, values, own = brute(train, rows, "age"), np.unique(train["age"]), odds(rows) > 0.5
    bands = {
        "up to 25": (values <= 25, rows["age"] <= 25),
        "over 25 to 72": ((values > 25) & (values <= 72), (rows["age"] > 25) & (rows["age"] <= 72)),
        "over 72": (values > 72, rows["age"] > 72),
    }
    assert {pair.group for pair in found.pairs} <= set(bands)
    for pair in found.pairs:
        mine = bands[pair.group][1].to_numpy() & (own == (pair.before == YES))
        share = np.nanmean(table[mine][:, bands[pair.other][0]], axis=1)
        assert pair.share.rows == mine.sum()
        assert pair.share.value == pytest.approx(share.mean())
        assert pair.group != pair.other


def test_a_column_of_two_values_and_one_of_many_compare_by_one_value():
    train = skewed(2000, 7).assign(sex=np.random.default_rng(0).choice(["f", "m"], 2000))

    def model(rows):
        merit = rows["income"] / 10 - 5 + 0.5 * (rows["sex"] == "m") + 0.5 * (rows["age"] % 2)
        return 1 / (1 + np.exp(-merit.to_numpy(float)))

    chooser = mx.Explainer(model, train, classes=(NO, YES))
    found = chooser.bias(train.head(600), protected=["sex", "age"], explained=1)
    some, one = dict(found.flips), dict(found.effects)
    assert some["sex"].value == pytest.approx(one["sex"].value)
    assert one["age"].value < some["age"].value
    assert one["age"].value == pytest.approx(some["age"].value / 2, abs=0.03)


def test_the_model_is_asked_in_batches_whatever_the_number_of_values():
    sizes = []

    def model(rows):
        sizes.append(len(rows))
        return odds(rows)

    train, rows = skewed(3000, 8), skewed(400, 9)
    chooser = mx.Explainer(model, train, classes=(NO, YES), schema={"postcode": "categorical"})
    sizes.clear()
    chooser.bias(rows, protected=["postcode"], explained=1)
    assert max(sizes) <= 131_072
    assert sum(sizes) >= 400 * (train["postcode"].nunique() - 1)


def test_a_model_that_always_says_yes_flips_nobody():
    train = skewed(500, 1)
    chooser = mx.Explainer(lambda rows: np.ones(len(rows)), train, classes=(NO, YES))
    found = chooser.bias(train.head(80), protected=["postcode", "age"], explained=5)
    assert [share.value for _, share in found.flips] == [0.0, 0.0]
    assert all(pair.share.value == 0 for pair in found.pairs)


def test_missing_and_unknown_values_are_groups_that_get_every_value():
    train = skewed(800, 2)
    rows = train.head(60).astype({"age": float}).copy()
    rows.loc[rows.index[:20], "age"] = np.nan
    rows.loc[rows.index[20:40], "postcode"] = "p999x"

    def model(rows):
        code = pd.to_numeric(rows["postcode"].str[1:], errors="coerce").fillna(-1)
        merit = (rows["income"] - 50) / 10 + 2.0 * (code % 7 == 0) + 1.0 * (rows["age"] > 60)
        return 1 / (1 + np.exp(-merit.to_numpy(float)))

    chooser = mx.Explainer(
        model, train.astype({"age": float}), classes=(NO, YES), schema={"postcode": "categorical"}
    )
    found = chooser.bias(rows, protected=["postcode", "age"], explained=5)
    assert {"missing", "unknown"} <= {line.group for line in found.by_group}
    own = model(rows) > 0.5
    flips = np.zeros(len(rows), bool)
    for value in train["age"].unique():
        flips |= (model(rows.assign(age=float(value))) > 0.5) != own
    assert dict(found.flips)["age"].value == pytest.approx(flips.mean())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"max_values": 0}, "max_values must be a whole number"),
        ({"bands": {"agee": [1]}}, "did you mean 'age'"),
        ({"bands": {"age": []}}, "needs numbers at which to cut"),
        ({"bands": {"age": ["x"]}}, "needs numbers at which to cut"),
        ({"bands": {"postcode": [1]}}, "not a column of numbers"),
        ({"bands": [1]}, "bands takes edges by column"),
    ],
)
def test_wrong_calls_are_told(options, said):
    train = skewed(200, 1)
    with pytest.raises(mx.OptionError, match=said):
        explainer(train).bias(train.head(5), protected=["age"], **options)
