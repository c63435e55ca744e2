"""Permutation tests of many groups at once, against counting every permutation."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from macex.cohort.fairness import Told, differences
from macex.cohort.permutations import PERMUTATIONS, permutation_tests


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
