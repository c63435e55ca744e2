"""Made cases of a machine whose model is known: which channel and which time decide."""

from __future__ import annotations

import numpy as np

import macex as mx

CLASSES = ["calm", "bump", "raised"]
NAMES = [f"sensor {place}" for place in range(6)]


def bump_and_level(cases: np.ndarray) -> np.ndarray:
    """Odds of calm, of a bump of sensor 2 between 10 and 19, and of a raised sensor 4."""
    cases = np.nan_to_num(np.asarray(cases, dtype=float))
    bump, level = cases[:, 2, 10:20].mean(axis=1), cases[:, 4].mean(axis=1)
    odds = np.stack([np.full(len(cases), 1.0), bump, level], axis=1)
    raised = np.exp(4 * (odds - odds.max(axis=1, keepdims=True)))
    return raised / raised.sum(axis=1, keepdims=True)


class Machine:
    """A classifier of cases that counts its calls and remembers what it was given."""

    classes_ = np.array(CLASSES)

    def __init__(self) -> None:
        self.shapes: list[tuple[int, ...]] = []
        self.dtypes: set[np.dtype] = set()

    def predict_proba(self, cases: np.ndarray) -> np.ndarray:
        self.shapes.append(cases.shape)
        self.dtypes.add(cases.dtype)
        return bump_and_level(cases)

    def predict(self, cases: np.ndarray) -> np.ndarray:
        return self.classes_[self.predict_proba(cases).argmax(axis=1)]


def made_cases(count: int = 60, seed: int = 0) -> np.ndarray:
    """Cases (count, 6, 40): noise, and a bump or a raised level in two of three."""
    rng = np.random.default_rng(seed)
    cases = rng.normal(0, 0.3, (count, 6, 40))
    cases[1::3, 2, 10:20] += 3
    cases[2::3, 4] += 3
    return cases.astype(np.float32)


def explainer(**options) -> mx.SeriesExplainer:
    return mx.SeriesExplainer(Machine(), made_cases(), channels=NAMES, **options)
