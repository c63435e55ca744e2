"""Random models written by hand, and how any model is asked by its caller."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fuzz.tables import Field, Table

LABELS = {2: (("no", "yes"), (0, 1), (-1, 1), (False, True)), 3: (("a", "b", "c"), (5, 7, 9))}


@dataclass(frozen=True)
class Subject:
    """A model as it is handed over, and how its caller asks it."""

    name: str
    model: Any
    classes: tuple[Any, ...] | None  # what it decides between; None for a bare score
    told: bool  # whether the classes must be told to the explainer
    outputs: Callable[[pd.DataFrame], np.ndarray]  # (n, classes) scores, or (n, 1)
    decide: Callable[[pd.DataFrame], np.ndarray] | None  # None: the highest output
    probable: bool = True  # whether outputs are probabilities
    trees: bool = False
    agrees: bool = True  # whether it always decides for the highest output

    def near(self, scores: np.ndarray) -> np.ndarray:
        """How far a score may be from what is said of it: bare scores are rounded by their size."""
        return 2e-6 if self.probable else 2e-5 * np.maximum(1, np.abs(scores))

    def decisions(self, frame: pd.DataFrame, outputs: np.ndarray) -> np.ndarray | None:
        """Positions among the classes, (n,)."""
        if self.classes is None:
            return None
        if self.decide is None:
            return outputs.argmax(axis=1)
        made = list(self.decide(frame))
        return np.array([self.classes.index(label) for label in made], int)


class Encoded:
    """The fields of a frame as numbers, by name: ranks, positions, days; -1 is anything else."""

    def __init__(self, table: Table, names: list[str] | None = None) -> None:
        self.fields = [one for one in table.fields if names is None or one.name in names]
        self.known = {one.name: self._ranked(one, table.known(one)) for one in self.fields}

    def _ranked(self, one: Field, values: list[Any]) -> dict[Any, int]:
        ranked = sorted(values, key=one.rank if one.ranked else str)
        return {value: at for at, value in enumerate(ranked)}

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        return np.column_stack([self._column(one, frame) for one in self.fields])

    def _column(self, one: Field, frame: pd.DataFrame) -> np.ndarray:
        cells, known = frame[one.columns[0]], self.known[one.name]
        if one.kind == "number":
            return cells.to_numpy(float, na_value=np.nan)
        if one.kind == "datetime":
            start = pd.Timestamp("2023-10-25", tz=cells.dt.tz)
            return ((cells - start) / pd.Timedelta(days=1)).to_numpy(float, na_value=np.nan)
        if one.kind == "one-hot":
            return frame[list(one.columns)].to_numpy(float).argmax(axis=1).astype(float)
        return np.array([known.get(value, -1.0) for value in one.values(frame)])


class Puzzle:
    """A random truth table over a few levels of every field."""

    def __init__(self, rng: np.random.Generator, table: Table, shape: Callable[[int], np.ndarray]):
        used = max(2, len(table.fields) - int(rng.integers(0, 2)))
        names = [table.fields[at].name for at in rng.permutation(len(table.fields))[:used]]
        self.encoded = Encoded(table, names)
        codes = np.nan_to_num(self.encoded(table.data), nan=-5.0)
        self.cuts = [self._cut(rng, codes[:, at]) for at in range(codes.shape[1])]
        self.sizes = [len(cuts) + 1 for cuts in self.cuts]
        self.answers = shape(int(np.prod(self.sizes)))

    @staticmethod
    def _cut(rng: np.random.Generator, codes: np.ndarray) -> np.ndarray:
        """One or two values between which the answer may change; a cut may lie on a value."""
        values = np.unique(codes)
        if len(values) < 2:
            return np.array([])
        chosen = np.sort(
            rng.choice(values[1:], min(len(values) - 1, int(rng.integers(1, 3))), False)
        )
        return chosen - rng.choice([0.0, 1e-3], len(chosen))

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        codes = np.nan_to_num(self.encoded(frame), nan=-5.0)
        levels = [np.searchsorted(cuts, codes[:, at], "right") for at, cuts in enumerate(self.cuts)]
        return self.answers[np.ravel_multi_index(levels, self.sizes)]


class Slope:
    """A weighted sum of the fields with a cliff in it, between 0 and 1."""

    def __init__(self, rng: np.random.Generator, table: Table) -> None:
        self.encoded = Encoded(table)
        codes = np.nan_to_num(self.encoded(table.data), nan=-1.0)
        self.center, self.scale = codes.mean(axis=0), codes.std(axis=0) + 0.1
        self.weights = rng.normal(0, 1, codes.shape[1])
        self.at, self.jump = rng.normal(0, 0.7), rng.choice([0.0, 2.0, -2.0])
        self.shift = rng.choice([0.0, 1.0, 2.5])

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        codes = (np.nan_to_num(self.encoded(frame), nan=-1.0) - self.center) / self.scale
        total = codes @ self.weights
        return 1 / (1 + np.exp(self.shift - total - self.jump * (total > self.at)))


class Object:
    """A model written by hand: any of scikit-learn's methods, and nothing else."""

    def __init__(self, classes: tuple[Any, ...], **methods: Callable[[pd.DataFrame], Any]) -> None:
        self.classes_ = np.array(classes)
        self.__dict__.update(methods)


def shares(rng: np.random.Generator, share: float) -> Callable[[int], np.ndarray]:
    """Probabilities of which a share is above one half, none of them near it."""

    def shape(size: int) -> np.ndarray:
        yes, depth = rng.random(size) < share, np.round(rng.uniform(0.02, 0.4, size), 3)
        return np.where(yes, 0.5 + depth, 0.5 - depth)

    return shape


def score_of_two(rng: np.random.Generator, table: Table) -> Callable[[pd.DataFrame], np.ndarray]:
    """The probability of the second class, by rules, by a slope, rare, or constant."""
    turn = rng.random()
    if turn < 0.6:
        return Puzzle(rng, table, shares(rng, float(rng.choice([0.02, 0.06, 0.15, 0.4]))))
    if turn < 0.9:
        return Slope(rng, table)
    return Puzzle(rng, table, lambda size: np.full(size, float(rng.choice([0.3, 0.5, 1.0]))))


def both_sides(score: Callable[[pd.DataFrame], np.ndarray]):
    """The probabilities of two classes."""

    def outputs(frame: pd.DataFrame) -> np.ndarray:
        yes = score(frame)
        return np.column_stack([1 - yes, yes])

    return outputs


def labels_of(rng: np.random.Generator, count: int) -> tuple[Any, ...]:
    return LABELS[count][rng.integers(len(LABELS[count]))]


def function_of_two(rng: np.random.Generator, table: Table) -> Subject:
    score, classes = score_of_two(rng, table), labels_of(rng, 2)
    return Subject("a function", score, classes, True, both_sides(score), None)


def object_of_two(rng: np.random.Generator, table: Table) -> Subject:
    score, classes = score_of_two(rng, table), labels_of(rng, 2)
    outputs = both_sides(score)
    model = Object(classes, predict_proba=outputs)
    return Subject("probabilities", model, classes, False, outputs, None)


def deciding_otherwise(rng: np.random.Generator, table: Table) -> Subject:
    """`predict` has a threshold of its own."""
    score, classes = score_of_two(rng, table), labels_of(rng, 2)
    cut, outputs = float(rng.choice([0.12, 0.3, 0.75])), both_sides(score)

    def predict(frame: pd.DataFrame) -> np.ndarray:
        return np.array(classes)[(score(frame) > cut).astype(int)]

    model = Object(classes, predict_proba=outputs, predict=predict)
    return Subject("its own threshold", model, classes, False, outputs, predict, agrees=False)


def labels_alone(rng: np.random.Generator, table: Table) -> Subject:
    """Nothing but `predict`."""
    count = int(rng.integers(2, 4))
    classes = labels_of(rng, count)
    choice = Puzzle(rng, table, lambda size: rng.integers(0, count, size))

    def predict(frame: pd.DataFrame) -> np.ndarray:
        return np.array(classes)[choice(frame)]

    def outputs(frame: pd.DataFrame) -> np.ndarray:
        return np.eye(count)[choice(frame)]

    return Subject("labels", Object(classes, predict=predict), classes, False, outputs, predict)


def several_classes(rng: np.random.Generator, table: Table) -> Subject:
    classes = labels_of(rng, 3)
    outputs = Puzzle(
        rng, table, lambda size: rng.multinomial(64, rng.dirichlet(np.full(3, 0.7), size)) / 64
    )
    if rng.random() < 0.5:
        return Subject("a function of three", outputs, classes, True, outputs, None)
    model = Object(classes, predict_proba=outputs)
    return Subject("three probabilities", model, classes, False, outputs, None)


def bare_score(rng: np.random.Generator, table: Table) -> Subject:
    score = Puzzle(rng, table, lambda size: np.round(rng.normal(0, 3, size), 2))
    return Subject("a score", score, None, False, lambda frame: score(frame)[:, None], None, False)


def signed(rng: np.random.Generator, table: Table) -> Subject:
    """A decision function and `predict`, for two classes or three."""
    count = int(rng.integers(2, 4))
    classes = labels_of(rng, count)
    width = 1 if count == 2 else 3
    raw = Puzzle(rng, table, lambda size: np.round(rng.normal(-0.5, 1.5, (size, width)), 2) + 0.005)

    def outputs(frame: pd.DataFrame) -> np.ndarray:
        made = raw(frame)
        return np.column_stack([-made, made]) if count == 2 else made

    def predict(frame: pd.DataFrame) -> np.ndarray:
        return np.array(classes)[outputs(frame).argmax(axis=1)]

    def decision_function(frame: pd.DataFrame) -> np.ndarray:
        return raw(frame)[:, 0] if count == 2 else raw(frame)

    model = Object(classes, decision_function=decision_function, predict=predict)
    return Subject("a decision function", model, classes, False, outputs, predict, False)


Maker = Callable[[np.random.Generator, Table], Subject]
BY_HAND: dict[str, tuple[Maker, float]] = {
    "function": (function_of_two, 6),
    "probabilities": (object_of_two, 2),
    "own threshold": (deciding_otherwise, 2),
    "labels": (labels_alone, 1.5),
    "three classes": (several_classes, 2),
    "score": (bare_score, 1.5),
    "decision function": (signed, 1.5),
}
