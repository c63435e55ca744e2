"""Findings about populations on random tables, beside every combination tried one by one."""

from __future__ import annotations

import zlib
from itertools import product

import numpy as np
import pandas as pd
import pytest

import macex as mx
from cohort.town import NO, YES


def table(seed: int) -> pd.DataFrame:
    """A few columns of few values: text, numbers and truth values, some with cells missing."""
    draw = np.random.default_rng(seed)
    count, made = int(draw.integers(15, 60)), {}
    for at in range(int(draw.integers(2, 5))):
        several = int(draw.integers(2, 7))
        numbers = draw.integers(0, several, count)
        names = np.array([f"v{value}" for value in range(several)] + [None], object)
        kinds = [
            lambda n=numbers, k=names: k[n],
            lambda n=numbers: n,
            lambda n=numbers: np.where(draw.random(count) < 0.2, np.nan, n.astype(float)),
            lambda n=numbers: n > 0,
            lambda k=names: draw.choice(k, count),
        ]
        made[f"c{at}"] = kinds[draw.integers(len(kinds))]()
    return pd.DataFrame(made)


def verdicts(seed: int):
    """A model without any order: each cell has a weight of its own."""

    def score(rows: pd.DataFrame) -> np.ndarray:
        points = np.zeros(len(rows))
        for name in rows:
            cells = [
                "missing" if pd.isna(v) else v if isinstance(v, str) else float(v)
                for v in rows[name]
            ]
            points += [zlib.crc32(f"{seed}{name}{cell}".encode()) % 1000 / 1000 for cell in cells]
        return 1 / (1 + np.exp(-6 * (np.sin(9 * points + seed) - 0.3)))

    return score


def asked(seed: int) -> tuple[mx.Explainer, pd.DataFrame]:
    data = table(seed)
    explainer = mx.Explainer(verdicts(seed), data, classes=(NO, YES), structure="ignore")
    return explainer, data.head(12)


def values(cells: pd.Series) -> list[object]:
    return list(pd.unique(cells.dropna()))


@pytest.mark.parametrize("seed", range(10))
def test_every_row_stands_as_all_its_combinations_say(seed):
    explainer, rows = asked(seed)
    score, data, expected = verdicts(seed), table(seed), []
    for own in (rows.iloc[[at]] for at in range(len(rows))):
        kept = {name: [None] if own[name].isna().all() else [] for name in data}
        offered = product(*(values(data[name]) + kept[name] for name in data))
        reached = score(pd.DataFrame(list(offered), columns=list(data))).max() > 0.5
        there = score(own)[0] > 0.5
        expected.append("there" if there else "answer" if reached else "none")
    assert list(explainer.recourse(rows, want=YES).standing) == expected


@pytest.mark.parametrize("seed", range(10))
def test_bias_tries_every_value_that_was_seen(seed):
    explainer, rows = asked(seed)
    score, data = verdicts(seed), table(seed)
    before = score(rows) > 0.5
    for name in data:
        tried = [score(rows.assign(**{name: value})) > 0.5 for value in values(data[name])]
        found = explainer.bias(rows, protected=[name])
        (one,) = found.tried
        assert one.values == one.seen >= len(tried)
        share = np.any([after != before for after in tried], axis=0).mean()
        assert found.to_frame().iloc[0]["value"] == pytest.approx(share)


@pytest.mark.parametrize("seed", range(6))
def test_a_plan_flips_the_rows_it_counts(seed):
    explainer, rows = asked(seed)
    plan = explainer.plan(rows, want=YES, actions=2)
    score = verdicts(seed)
    assert plan.already == (score(rows) > 0.5).sum()
    assert plan.asked == len(rows) - plan.already
    assert plan.flipped == (plan.taken >= 0).sum() <= plan.asked


def one_class() -> pd.DataFrame:
    return pd.DataFrame({"a": range(40), "b": ["x", "y"] * 20})


@pytest.mark.parametrize("always", [0.1, 0.9])
def test_a_model_that_always_says_the_same_leaves_nothing_to_plan(always):
    rows = one_class()
    explainer = mx.Explainer(lambda given: np.full(len(given), always), rows, classes=(NO, YES))
    plan = explainer.plan(rows, want=YES)
    assert (plan.already, plan.flipped) == ((40, 0) if always > 0.5 else (0, 0))
    standing = set(explainer.recourse(rows, want=YES).standing)
    assert standing == ({"there"} if always > 0.5 else {"none"})
    assert explainer.bias(rows, protected=["b"]).to_frame().iloc[0]["value"] == 0
    assert explainer.picture(rows, want=YES).given == 40


def test_ten_thousand_categories_are_planned_for():
    cities = [f"c{at:05d}" for at in range(10_000)]
    data = pd.DataFrame({"city": cities, "income": np.arange(10_000) % 100})

    def score(rows):
        return 0.2 + 0.6 * ((rows["income"] > 60) | rows["city"].str.endswith("77"))

    explainer = mx.Explainer(score, data, classes=(NO, YES))
    rows = data.head(50)
    plan = explainer.plan(rows, want=YES, actions=2)
    assert (plan.flipped, plan.asked) == (50, 50)
    found = explainer.bias(rows, protected=["city"], explained=10)
    assert found.to_frame().iloc[0]["value"] == 1
    assert (found.tried[0].values, found.tried[0].seen) == (10_000, 10_000)
