"""Two changes that suffice are not just any two: nearer pairs are looked for."""

import itertools

import numpy as np
import pandas as pd
import pytest

from macex import Explainer


def world(seed):
    """Four numbers of which two must rise: rows, weights, and the sum that is enough."""
    draw = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {f"x{place}": draw.integers(0, 41, 400) * draw.integers(1, 4) for place in range(4)}
    )
    weight = draw.uniform(0.5, 2, 4)
    return rows, weight, 1.2 * float((rows.max() * weight).max())


def nearest_pair(rows, weight, enough, scale):
    """The least distance of two changes over all whole numbers, by looking at all of them."""
    high, best = rows.max().to_numpy(), np.inf
    for one, other in itertools.combinations(range(4), 2):
        first = np.arange(high[one] + 1)
        second = np.maximum(0, np.ceil((enough - weight[one] * first) / weight[other]))
        far = first / scale[one] + second / scale[other]
        best = min(best, far[second <= high[other]].min(initial=np.inf))
    return best


@pytest.fixture(scope="module")
def ratios():
    found = []
    for seed in range(20):
        rows, weight, enough = world(seed)
        explainer = Explainer(
            lambda frame, weight=weight, enough=enough: (
                1 / (1 + np.exp((enough - frame.to_numpy() @ weight) / 10))
            ),
            rows,
            classes=("no", "yes"),
            prefer="fewest",
        )
        answer = explainer.explain(pd.DataFrame([[0] * 4], columns=rows.columns))[0]
        scale = explainer.engine.fitted.scales.scale
        best = answer.counterfactuals[0]
        assert best.sparsity == 2
        found.append(best.distance / nearest_pair(rows, weight, enough, scale))
    return np.array(found)


def test_no_pair_is_nearer_than_the_nearest(ratios):
    assert (ratios >= 1 - 1e-9).all()


def test_the_pair_that_is_found_is_nearly_the_nearest(ratios):
    assert np.median(ratios) < 1.03
    assert ratios.mean() < 1.09
