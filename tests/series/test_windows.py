"""Long series become cases, and forecasts and detectors become scores."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.linear_model import Ridge

import macex as mx
from macex.series.windows import StepScore, windows


@pytest.fixture(scope="module")
def series():
    time = np.arange(1200)
    load = 10 + 3 * np.sin(time / 24 * 2 * np.pi)
    heat = 20 + 5 * np.sin(time / 24 * 2 * np.pi + 1)
    return np.stack([load, heat]) + np.random.default_rng(0).normal(0, 0.2, (2, 1200))


def test_windows_are_parts_of_the_series_and_no_copies(series):
    cut = windows(series, 48, step=12)
    assert np.shares_memory(cut.cases, series)
    for case, start in zip(cut.cases, cut.starts, strict=True):
        assert np.array_equal(case, series[:, start : start + 48])
    assert cut.starts[-1] + 48 <= series.shape[1] < cut.starts[-1] + 48 + 12


@pytest.mark.parametrize(
    ("of", "want"), [("max", mx.above(12.5)), ("mean", mx.above(11)), (2, mx.below(9))]
)
def test_a_goal_over_a_horizon_is_reached(series, of, want):
    past, ahead = windows(series[:, :-6], 48, 6), windows(series[0, 48:], 6)
    model = Ridge().fit(past.cases.reshape(len(past.cases), -1), ahead.cases[: len(past.cases), 0])

    def forecast(cases):
        return model.predict(np.asarray(cases).reshape(len(cases), -1))

    score = StepScore(forecast, of)
    asked = mx.SeriesExplainer(score, past.cases, channels=["load", "heat"])
    query = past.cases[np.argsort(score(past.cases))[[60, 120]]]
    for case, found in zip(query, asked.explain(query, want=want), strict=True):
        sample = found.counterfactuals[0].sample if found.counterfactuals else case
        steps = forecast(sample[None])[0]
        value = {"max": steps.max(), "mean": steps.mean(), 2: steps[2]}[of]
        assert found.status == "found"
        assert value > {"max": 12.5, "mean": 11}[of] if of != 2 else value < 9


def test_a_detector_of_anomalies_is_a_score(series):
    cases = windows(series, 24).cases
    forest = IsolationForest(random_state=0).fit(cases.reshape(len(cases), -1))

    class Detector:
        def decision_function(self, given):
            return forest.decision_function(np.asarray(given).reshape(len(given), -1))

    odd = cases[:1].copy()
    odd[0, 1] += 25
    detector = StepScore(Detector(), call="decision_function")
    assert detector(odd)[0] < 0
    (found,) = mx.SeriesExplainer(detector, cases).explain(odd, want=mx.above(0))
    assert detector(found.counterfactuals[0].sample[None])[0] > 0


def test_what_is_wrong_is_named(series):
    with pytest.raises(mx.OptionError, match="1200 time points"):
        windows(series, 1300)
    with pytest.raises(mx.OptionError, match="length"):
        windows(series, 0)
    with pytest.raises(mx.SchemaError, match="shape"):
        windows(np.zeros((2, 3, 4)), 2)
    with pytest.raises(mx.OptionError, match="'mean', 'max', 'min'"):
        StepScore(len, "median")
    with pytest.raises(mx.OptionError, match="no predict"):
        StepScore(object())
    with pytest.raises(mx.OptionError, match="gives 3 steps"):
        StepScore(lambda cases: np.zeros((len(cases), 3)), 5)(np.zeros((2, 1, 4)))
