"""Thousands of channels are answered with few, for few rows."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.baselines.series_greedy import SeriesGreedy

CLASSES = ("low", "high")


def made(channels, needs):
    """Cases of noise, a model of three channels, and the lowest cases; all three are needed most.

    `needs` is how far the sum of the three must rise.
    """
    rng = np.random.default_rng(0)
    cases = rng.normal(size=(40, channels, 6)).astype(np.float32)
    decisive = [3, channels // 2, channels - 1]

    def model(samples):
        total = samples[:, decisive].mean(axis=2).sum(axis=1)
        return 1 / (1 + np.exp(-6 * (total - needs)))

    return cases, model, cases[np.argsort(model(cases))[:2]]


@pytest.mark.parametrize("needs", [0.0, 0.5])
@pytest.mark.parametrize("channels", [2600, 4000])
def test_no_more_channels_than_greedy_and_a_third_of_its_rows(channels, needs):
    cases, model, lowest = made(channels, needs)
    ours = mx.SeriesExplainer(model, cases, classes=CLASSES, finetune=None).explain(lowest)
    greedy = SeriesGreedy(model, cases, classes=CLASSES).explain(lowest)
    for mine, theirs in zip(ours, greedy, strict=True):
        assert mine.status == "found"
        assert mine.counterfactuals[0].sparsity <= theirs.counterfactuals[0].sparsity
    assert sum(one.cost.rows for one in ours) <= sum(one.cost.rows for one in greedy) / 3


def test_one_channel_is_found_for_far_fewer_rows_than_there_are_channels():
    cases, model, _ = made(4000, 0.0)
    (item,) = mx.SeriesExplainer(model, cases, classes=CLASSES, finetune=None).explain(cases[:1])
    assert item.counterfactuals[0].sparsity == 1
    assert item.cost.rows < 1000


def test_nothing_is_claimed_of_channels_that_were_not_scored():
    cases, model, lowest = made(2600, 0.5)
    (item,) = mx.SeriesExplainer(model, cases, classes=CLASSES).explain(lowest[:1])
    assert item.counterfactuals[0].sparsity == 2
    assert not item.minimal
    never = mx.SeriesExplainer(
        lambda samples: np.zeros(len(samples)), cases, classes=CLASSES, fallback=False
    )
    assert never.explain(lowest[:1])[0].status in ("not_found", "budget")


def test_channels_that_only_help_together_are_found():
    rng = np.random.default_rng(1)
    cases = rng.normal(size=(30, 2600, 4)).astype(np.float32)
    cases[::2, 7] += 3
    cases[::2, 2000] += 3

    def both(samples):
        level = np.minimum(samples[:, 7].mean(axis=1), samples[:, 2000].mean(axis=1))
        return 1 / (1 + np.exp(-4 * (level - 1.5)))

    (item,) = mx.SeriesExplainer(both, cases, classes=CLASSES).explain(cases[1:2])
    assert set(item.counterfactuals[0].channels) == {"channel 7", "channel 2000"}


def test_a_model_may_write_into_the_samples_it_is_given():
    cases, model, lowest = made(2600, 0.5)

    def careless(samples):
        scores = model(samples)
        if len(samples) > len(cases):
            samples[:, :2000] += 9
        return scores

    one, other = (
        mx.SeriesExplainer(each, cases.copy(), classes=CLASSES).explain(lowest[:1])
        for each in (model, careless)
    )
    assert one[0].cost.rows > 2600  # every channel was scored, in several calls
    assert one.to_json(canonical=True) == other.to_json(canonical=True)


def test_a_limit_of_rows_is_kept():
    cases, model, lowest = made(2600, 0.5)
    asked = mx.SeriesExplainer(model, cases, classes=CLASSES)
    for most in (50, 700):
        assert asked.explain(lowest[:1], max_rows=most)[0].cost.rows <= most


def test_a_model_that_fails_is_told_with_the_case_at_fault():
    cases, model, lowest = made(1300, 0.5)

    def fragile(samples):
        if np.abs(samples[:, 5] - lowest[0, 5]).max() > 0 and len(samples) < 1300:
            raise ValueError("channel 5")
        return model(samples)

    asked = mx.SeriesExplainer(
        lambda samples: model(samples) if len(samples) == 40 else fragile(samples),
        cases,
        classes=CLASSES,
    )
    with pytest.raises(mx.ModelError, match="channel 5"):
        asked.explain(lowest[:1])
    (kept,) = asked.explain(lowest[:1], on_error="keep")
    assert "channel 5" in kept.reason
