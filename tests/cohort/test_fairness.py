"""Burden, gaps and tests of groups, against pandas, SciPy and plain counting."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import false_discovery_control, fisher_exact, permutation_test

import macex as mx
from cohort.town import NO, YES, Bank, explainer, merit, town
from macex.cohort.fairness import PERMUTATIONS, Told, differences, holm, permutation_tests


def found(rows, **options):
    options = {"protected": ["gender"], "want": YES, "explained": 1000} | options
    return explainer().bias(rows, **options)


def answers(rows, fixed=("gender",)):
    return explainer().explain(rows, want=YES, constraints={"fixed": list(fixed)})


def test_the_table_has_what_every_row_was_told():
    rows = town(160, seed=3)
    table = found(rows).table
    plain = answers(rows)
    needy = merit(rows) < 1e-5
    assert table["row"].tolist() == list(range(len(rows)))
    assert table["gender"].tolist() == rows["gender"].tolist()
    assert (table["selection_rate"] == (~needy)).all()
    best = [item.counterfactuals[0] if item.counterfactuals else None for item in plain]
    far = [b.distance if b is not None and b.changes else np.nan for b in best]
    np.testing.assert_allclose(table["burden"], far)
    assert table["recourse_rate"].isna().equals(pd.Series(~needy))


def test_gaps_are_the_largest_differences_of_group_means():
    bias = found(town(200, seed=3), by=["gender", "job"])
    for column in ("gender", "gender, job"):
        means = bias.table.groupby(column)
        for gap in (gap for gap in bias.gaps if gap.column == column):
            by_group = means[gap.measure.replace(" ", "_")].agg(["mean", "count"])
            by_group = by_group[by_group["count"] >= 2]["mean"]
            assert gap.value == pytest.approx(by_group.max() - by_group.min())
            assert by_group[gap.high] == by_group.max()
            assert by_group[gap.low] == by_group.min()
    names = {gap.measure: gap.name for gap in bias.gaps}
    assert names["burden"] == "recourse gap"
    assert names["selection rate"] == "demographic parity difference"


def test_groups_may_be_combinations_with_bands():
    rows = town(200, seed=3)
    bias = found(rows, by=["gender", "age"], bands={"age": [40]})
    groups = {line.group for line in bias.burden if line.column == "gender, age"}
    assert groups == {f"{g}, {a}" for g in ("female", "male") for a in ("up to 40", "over 40")}
    needy = rows[merit(rows) < 1e-5]
    for line in bias.burden:
        if line.group == "female, over 40":
            assert line.without.rows == ((needy["gender"] == "female") & (needy["age"] > 40)).sum()
    labels = ["a", "b"] * 100
    assert {b.group for b in found(rows, by=labels).burden if b.column == "group"} == {"a", "b"}


def test_probabilities_are_those_of_scipy():
    rows = town(200, seed=3)
    bias = found(rows)
    tests = {d.measure: d for d in bias.differences}
    women = (rows["gender"] == "female").to_numpy()
    good = merit(rows) > 1e-5
    table = [
        [(good & women).sum(), (~good & women).sum()],
        [(good & ~women).sum(), (~good & ~women).sum()],
    ]
    assert tests["selection rate"].p == pytest.approx(fisher_exact(table)[1])
    far = bias.table["burden"].to_numpy()
    mine, others = far[women & ~np.isnan(far)], far[~women & ~np.isnan(far)]

    def gap(x, y, axis):
        return np.abs(x.mean(axis=axis) - y.mean(axis=axis))

    exact = permutation_test((mine, others), gap, n_resamples=9999, alternative="greater", rng=0)
    assert tests["burden"].p == pytest.approx(exact.pvalue, abs=0.02)
    assert tests["burden"].value == pytest.approx(mine.mean())
    assert tests["burden"].others == pytest.approx(others.mean())


def test_all_tests_are_corrected_together():
    bias = found(town(200, seed=3), by=["gender", "job"])
    p = [d.p for d in bias.differences]
    assert [d.adjusted for d in bias.differences] == pytest.approx(holm(p).tolist())
    assert len(p) > 10
    assert all(d.adjusted >= d.p for d in bias.differences)


def test_holm_is_never_below_benjamini_hochberg_and_never_above_bonferroni():
    p = np.random.default_rng(0).random(40) ** 3
    adjusted = holm(p)
    assert (adjusted <= np.minimum(1, len(p) * p) + 1e-12).all()
    assert (adjusted >= false_discovery_control(p) - 1e-12).all()
    assert holm([]).tolist() == []


def test_a_real_difference_is_told_and_chance_is_not():
    rows = town(600, seed=5)
    told = [said for said in found(rows).reading() if "after correction" in said]
    assert any("gender female" in said for said in told)
    fair = mx.Explainer(
        lambda asked: Bank()(asked.assign(gender="male")), town(), classes=(NO, YES)
    )
    alarms = 0
    for seed in range(8):
        bias = fair.bias(town(120, seed=20 + seed), protected=["gender"], want=YES)
        alarms += any(d.significant for d in bias.differences)
    assert alarms <= 2


def test_one_group_one_class_and_no_rows_are_answers():
    rows = town(60, seed=5)
    alone = found(rows[rows["gender"] == "male"])
    assert (alone.gaps, alone.differences) == ((), ())
    nobody = found(rows.head(0), by=["gender", "job"])
    assert (nobody.gaps, nobody.differences, len(nobody.table)) == ((), (), 0)
    always = mx.Explainer(lambda rows: np.ones(len(rows)), town(), classes=(NO, YES))
    fine = always.bias(rows, protected=["gender"], want=YES)
    assert fine.burden == ()
    assert {gap.measure for gap in fine.gaps} == {"selection rate"}
    never = mx.Explainer(lambda rows: np.zeros(len(rows)), town(), classes=(NO, YES))
    stuck = never.bias(rows.head(12), protected=["gender"], want=YES)
    assert all(line.without.value == 1 for line in stuck.burden)


def test_without_a_wanted_decision_there_is_no_selection_rate():
    bias = explainer().bias(town(60, seed=5), protected=["gender"])
    assert "selection rate" not in {gap.measure for gap in bias.gaps}


def test_wrong_groups_are_told():
    with pytest.raises(mx.OptionError, match="did you mean 'gender'"):
        found(town(30), by="gendr")


def exactly(values, size, apart):
    """The share of all choices of so many values that are as far from the rest."""
    total, count, hits = values.sum(), 0, 0
    for chosen in combinations(values, size):
        rest = (total - sum(chosen)) / (len(values) - size)
        hits += abs(sum(chosen) / size - rest) >= apart - 1e-12
        count += 1
    return hits / count


def test_probabilities_are_the_shares_of_all_permutations():
    draw = np.random.default_rng(3)
    values = draw.exponential(size=11)
    groupings = [np.arange(11) % 3, (np.arange(11) > 6).astype(int)]
    found = permutation_tests(values, groupings, draw, 0.05)
    for which, tested in zip(groupings, found, strict=True):
        for group, p in enumerate(tested):
            mine = which == group
            apart = abs(values[mine].mean() - values[~mine].mean())
            assert p == pytest.approx(exactly(values, int(mine.sum()), apart), abs=0.02)


class Counting:
    """Draws, and counts how many numbers were permuted."""

    def __init__(self):
        self.draw, self.numbers = np.random.default_rng(0), 0

    def permuted(self, table, axis):
        self.numbers += table.size
        return self.draw.permuted(table, axis=axis)


def test_a_thousand_groups_cost_what_one_costs():
    values = np.random.default_rng(0).normal(size=50)
    one, many = Counting(), Counting()
    permutation_tests(values, [np.arange(50) % 2], one, 0.05)
    permutation_tests(values, [np.arange(50) % k for k in range(2, 50)], many, 0.05)
    assert one.numbers == many.numbers == 50 * PERMUTATIONS


def test_a_difference_is_found_among_five_hundred_tests():
    draw = np.random.default_rng(5)
    far = draw.normal(size=60)
    far[:20] += 5
    groupings = [("real", {f"g{k}": np.arange(k * 20, k * 20 + 20) for k in range(3)})]
    groupings += [
        (f"c{at}", {f"g{k}": np.sort(order[k::26]) for k in range(26)})
        for at, order in enumerate(draw.permutation(60) for _ in range(7))
    ]
    rows = Told(np.ones(60, bool), np.ones(60, bool), far.round(), far, wanted=False)
    tests = differences(groupings, rows, draw)
    assert len(tests) > 501
    real = [t for t in tests if (t.column, t.group) == ("real", "g0") and t.measure == "burden"]
    assert real[0].significant
    assert sum(t.significant for t in tests) < 20


def test_a_group_of_all_values_or_of_none_is_like_the_others():
    draw = np.random.default_rng(0)
    found = permutation_tests(np.arange(5.0), [np.zeros(5, int), np.full(5, 1)], draw, 0.05)
    assert [one.tolist() for one in found] == [[1.0], [1.0, 1.0]]
    assert permutation_tests(np.zeros(0), [np.zeros(0, int)], draw, 0.05)[0].tolist() == []
