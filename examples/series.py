"""Which sensors, and when, would have to be different? A forest on statistics of made machines.

A plant has twenty sensors. Three kinds of trouble show in a few of them, at certain times. A random
forest learns them from the mean, spread and extremes of every sensor. Three cases are explained
with stretches, then with whole channels, then under constraints.
"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import macex as mx

SENSORS = [f"sensor {place}" for place in range(20)]
KINDS = ("normal", "leak", "jam", "drift")


def made_cases(count: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Cases (count, 20, 80), and the kind of each."""
    draw = np.random.default_rng(seed)
    cases = draw.normal(0, 1, (count, len(SENSORS), 80))
    kinds = np.arange(count) % len(KINDS)
    cases[kinds == 1, 3:6, 30:50] -= 4
    cases[kinds == 2, 8, 60:] += 6
    cases[kinds == 3, 12:15] += np.linspace(0, 5, 80)
    return cases, np.array(KINDS)[kinds]


def statistics(cases: np.ndarray) -> np.ndarray:
    """Mean, spread and extremes of every sensor."""
    parts = (cases.mean(axis=2), cases.std(axis=2), cases.min(axis=2), cases.max(axis=2))
    return np.concatenate(parts, axis=1)


def main() -> None:
    cases, kinds = made_cases(200, seed=0)
    model = make_pipeline(
        FunctionTransformer(statistics), RandomForestClassifier(100, random_state=0)
    ).fit(cases, kinds)
    new, _ = made_cases(4, seed=1)
    explainer = mx.SeriesExplainer(model, cases, channels=SENSORS)
    print("Every kind of trouble, and what would make it normal:\n")
    print(explainer.explain(new[1:], want="normal"))
    print("\nWhole channels, as in the paper:\n")
    whole = mx.SeriesExplainer(model, cases, channels=SENSORS, finetune=None)
    print(whole.explain(new[1:2], want="normal"))
    print("\nSensors 3 and 4 may not change, nor anything before time point 40:\n")
    wish = mx.SeriesConstraints(fixed=[3, 4], fixed_times=[(0, 40)])
    print(explainer.explain(new[1:2], want="normal", constraints=wish, diagnose=True))


if __name__ == "__main__":
    main()
