"""Cases, models and questions that are out of the ordinary."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import macex as mx
from series.machines import CLASSES, Machine, bump_and_level, explainer, made_cases

QUERIES = made_cases(6, seed=1)


def lengths(cases):
    """A model of cases of unequal lengths: whether channel 0 is high on average."""
    return np.array([1 / (1 + np.exp(-9 * (case[0].mean() - 0.5))) for case in cases])


def uneven(count=30):
    rng = np.random.default_rng(0)
    return [
        np.round(rng.normal(place % 2, 0.1, (2, 20 + place)), 3).astype(np.float32)
        for place in range(count)
    ]


def test_cases_of_unequal_lengths_keep_their_lengths():
    cases = uneven()
    found = mx.SeriesExplainer(lengths, cases, classes=("low", "high")).explain(cases[:5])
    for case, item in zip(cases, found, strict=False):
        assert item.status == "found"
        assert item.counterfactuals[0].sample.shape == case.shape
        before, after = lengths([case, item.counterfactuals[0].sample]) > 0.5
        assert before != after


def test_a_model_that_cannot_take_unequal_lengths_says_so_at_once():
    with pytest.raises(mx.ModelError, match="lists of 2-D arrays of unequal lengths"):
        mx.SeriesExplainer(Machine(), uneven())


def test_gaps_are_allowed_and_kept():
    train, case = made_cases(), QUERIES[:1].copy()
    train[:, 0, 5:9] = np.nan
    case[0, 4, 3:7] = np.nan
    case[0, 5] = np.nan
    (item,) = mx.SeriesExplainer(Machine(), train).explain(case, want="bump")
    assert item.status == "found"
    changed = {int(name.split()[1]) for name in item.counterfactuals[0].channels}
    kept = [place for place in range(6) if place not in changed]
    assert np.array_equal(item.counterfactuals[0].sample[kept], case[0, kept], equal_nan=True)


def test_a_constant_channel_is_never_a_change():
    train, cases = made_cases(), QUERIES.copy()
    train[:, 0], cases[:, 0] = 7.0, 7.0
    for item in mx.SeriesExplainer(Machine(), train, finetune=None).explain(cases, n=3):
        for answer in item.counterfactuals:
            assert "channel 0" not in answer.channels


def test_one_case_for_each_class_is_enough():
    train = made_cases()[:3]
    found = mx.SeriesExplainer(Machine(), train).explain(QUERIES[:1], want="raised")
    assert found[0].status == "found"
    assert found[0].counterfactuals[0].plausibility is None


@pytest.mark.parametrize("fallback", [True, False])
def test_a_class_that_is_never_decided_is_not_found(fallback):
    class Stubborn(Machine):
        def predict_proba(self, cases):
            return np.tile([0.7, 0.3, 0.0], (len(cases), 1))

    asked = mx.SeriesExplainer(Stubborn(), made_cases(), fallback=fallback)
    for item in asked.explain(QUERIES[:2], want="raised"):
        assert item.status in ("none", "not_found")
        assert item.reason
        assert item.miss is not None


def test_nothing_may_change_is_a_certificate():
    wish = mx.SeriesConstraints(only=[])
    (item,) = explainer().explain(QUERIES[:1], want="bump", constraints=wish)
    assert (item.status, item.minimal_over) == ("none", "all values")


def test_all_combinations_tried_is_a_certificate_over_the_candidates():
    wish = mx.SeriesConstraints(only=[0])
    (item,) = explainer().explain(QUERIES[:1], want="bump", constraints=wish)
    assert (item.status, item.minimal_over) == ("none", "candidates")


def test_rows_run_out_before_an_answer():
    (item,) = explainer().explain(QUERIES[:1], want="bump", max_rows=3)
    assert item.status == "budget"
    assert "ran out" in item.reason
    assert item.cost.rows <= 4


@pytest.mark.parametrize("most", [20, 60, 200])
def test_no_query_costs_more_rows_than_allowed(most):
    for item in explainer().explain(QUERIES, max_rows=most):
        assert item.cost.rows <= most


def test_time_that_runs_out_ends_the_call():
    found = explainer().explain(QUERIES[:3], want="bump", timeout_s=1e-9)
    assert {item.status for item in found} == {"budget"}


def test_a_model_that_fails_is_an_error_with_the_sample():
    class Fragile(Machine):
        def predict_proba(self, cases):
            if (cases[:, 2, 12] > 2).any() and len(cases) < 50:
                raise ValueError("too hot")
            return bump_and_level(cases)

    asked = mx.SeriesExplainer(Fragile(), made_cases())
    with pytest.raises(mx.ModelError, match="too hot") as error:
        asked.explain(QUERIES[:1], want="bump")
    assert error.value.row.shape == (6, 40)
    assert "'channel 2': 'case " in str(error.value)
    (item,) = asked.explain(QUERIES[:1], want="bump", on_error="keep")
    assert item.status == "not_found"
    assert "too hot" in item.reason


def test_a_case_on_which_the_model_failed_has_no_miss_that_nobody_scored():
    class Tiring(Machine):
        left = None

        def predict_proba(self, cases):
            self.left = None if self.left is None else self.left - 1
            if self.left is not None and self.left < 0:
                raise ValueError("worn out")
            return bump_and_level(cases)

    model = Tiring()
    asked = mx.SeriesExplainer(model, made_cases(), method="gradientless", fallback=False)
    for calls in range(1, 6):
        model.left = calls
        (item,) = asked.explain(QUERIES[:1], want=mx.at_least(0.9999, "bump"), on_error="keep")
        assert "worn out" in item.reason
        assert item.miss is None


def test_a_model_with_a_threshold_of_its_own_decides():
    class Careful:
        classes_ = np.array(["no", "yes"])

        def predict_proba(self, cases):
            yes = 1 / (1 + np.exp(-(cases[:, 2, 10:20].mean(axis=1) - 1)))
            return np.stack([1 - yes, yes], axis=1)

        def predict(self, cases):
            return self.classes_[(self.predict_proba(cases)[:, 1] > 0.8).astype(int)]

    careful = Careful()
    for item in mx.SeriesExplainer(careful, made_cases()).explain(QUERIES[:1], want="yes"):
        assert careful.predict(item.counterfactuals[0].sample[None])[0] == "yes"


def test_no_cases_have_no_explanations():
    assert len(explainer().explain(QUERIES[:0])) == 0


def test_a_score_without_classes_needs_a_score_goal():
    asked = mx.SeriesExplainer(lambda cases: cases.mean(axis=(1, 2)), made_cases())
    with pytest.raises(mx.GoalError, match="has no classes"):
        asked.explain(QUERIES)
    with pytest.raises(mx.GoalError, match="above_row"):
        asked.explain(QUERIES, want=mx.above_row(QUERIES[0]))


def test_whole_numbers_stay_whole():
    train = np.round(10 * made_cases()).astype(np.int16)
    cases = np.round(10 * QUERIES).astype(np.int16)

    def tenths(given):
        return bump_and_level(given / 10)

    for item in mx.SeriesExplainer(tenths, train, classes=CLASSES).explain(cases):
        assert item.counterfactuals[0].sample.dtype == np.int16


@pytest.mark.slow
def test_memory_stays_bounded_for_many_long_channels():
    """2,000 training cases of 563 channels and 1,000 time points, as a window on one line."""
    line = np.random.default_rng(0).normal(size=30_000).astype(np.float32)
    size = line.itemsize
    strides = (7 * size, 11 * size, size)
    train = np.lib.stride_tricks.as_strided(line, (2000, 563, 1000), strides, writeable=False)

    def level(cases):
        return 1 / (1 + np.exp(-40 * cases[:, 0].mean(axis=1)))

    tracemalloc.start()
    try:
        asked = mx.SeriesExplainer(level, train, classes=("low", "high"))
        (item,) = asked.explain(train[:1], max_rows=400)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert item.status == "found"
    assert peak < 2 * 2**30
