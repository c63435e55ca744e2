"""Answers look like series that were seen: their shape, their steps and their seams."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.series.cases import Cases
from macex.series.texture import learn_texture

CLASSES = ("normal", "ill")


def beats(count=80, seed=0):
    """Leads (count, 2, 120) with a beat every 30 points; the beats of every second are wide."""
    rng = np.random.default_rng(seed)
    time = np.arange(120)
    phase = (time + rng.integers(0, 6, (count, 1, 1))) % 30 - 15
    width = np.where(np.arange(count) % 2, 4.0, 1.5)[:, None, None]
    waves = np.exp(-((phase / width) ** 2)) * rng.uniform(0.9, 1.1, (count, 2, 1))
    return waves + rng.normal(0, 0.02, (count, 2, 120))


def wide_beat(cases):
    return 1 / (1 + np.exp(-2.5 * (np.clip(cases[:, 0], 0, None).sum(axis=1) - 19)))


TRAIN = beats()
explainer = mx.SeriesExplainer(wide_beat, TRAIN, classes=CLASSES)
queries = beats(12, seed=1)


def plausibility(own, sample):
    (item,) = explainer.explain(own[None], want=mx.at_least(0.0, label="ill"))
    goals = item.asked.goals
    return explainer.fitted.plausibility(goals, 0, own, sample)


def test_a_lead_that_is_shuffled_in_time_is_implausible():
    own = TRAIN[1]
    shuffled = own.copy()
    shuffled[0] = np.random.default_rng(0).permutation(own[0])
    assert plausibility(own, shuffled) < 0.05


def test_a_spike_is_implausible():
    own = TRAIN[1]
    spiked = own.copy()
    spiked[0, 60] += 5
    assert plausibility(own, spiked) < 0.05


def test_the_channel_of_another_case_is_plausible():
    own, found = TRAIN[1], []
    for donor in TRAIN[3:23:2]:
        swapped = own.copy()
        swapped[0] = donor[0]
        found.append(plausibility(own, swapped))
    assert max(found) > 0.05


@pytest.mark.parametrize("stable", [0, 0.9])
def test_no_seam_is_steeper_than_steps_in_training(stable):
    asked = mx.SeriesExplainer(
        wide_beat, TRAIN, classes=CLASSES, finetune=mx.Segments(stable=stable)
    )
    steep = np.quantile(np.abs(np.diff(TRAIN, axis=2)), 0.999, axis=(0, 2))
    for case, item in zip(queries, asked.explain(queries), strict=True):
        for change in item.counterfactuals[0].changes:
            place = item.channels.index(change.channel)
            sample = item.counterfactuals[0].sample[place]
            for seam in (change.start, change.stop):
                if 0 < seam < len(sample):
                    step = abs(sample[seam] - sample[seam - 1])
                    own = abs(case[place, seam] - case[place, seam - 1])
                    assert step <= max(steep[place], own) + 1e-9


def test_answers_hold_under_noise_without_being_asked_to():
    plain = explainer.explain(queries, robust=0)
    edge = mx.SeriesExplainer(
        wide_beat, TRAIN, classes=CLASSES, finetune=mx.Segments(stable=0)
    ).explain(queries, robust=0)
    held = [np.mean([i.counterfactuals[0].robustness for i in one]) for one in (plain, edge)]
    assert held[0] >= 0.9 > held[1]
    for mine, theirs in zip(plain, edge, strict=True):
        assert mine.counterfactuals[0].sparsity == theirs.counterfactuals[0].sparsity


@pytest.mark.parametrize("length", [1, 2, 5])
def test_short_series_have_a_texture(length):
    cases = np.random.default_rng(0).normal(size=(9, 2, length))
    texture = learn_texture(Cases(cases, "channels_first"))
    shares = texture.shares(np.arange(9), cases[:2], np.array([[True, False], [False, False]]))
    assert 0 < shares[0] <= 1
    assert shares[1] == 1


def test_gaps_and_infinities_have_a_texture():
    cases = np.random.default_rng(0).normal(size=(9, 2, 20))
    cases[0, 0, 3], cases[1, 1, 4], cases[2, 0] = np.nan, np.inf, np.nan
    texture = learn_texture(Cases(cases, "channels_first"))
    assert np.isfinite(texture.odd).all()
    assert np.isfinite(texture.steep).all()
