"""Random goals, each with what it means: the contract of `want=` in code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

import macex as mx
from fuzz.subjects import Subject
from fuzz.wishes import BROKEN, KEPT, UNCLEAR

SLIGHT = 1e-6  # scores are compared after rounding to this


@dataclass(frozen=True)
class Answers:
    """What a model says of some rows."""

    outputs: np.ndarray  # (n, classes) or (n, 1)
    decisions: np.ndarray | None  # (n,) positions among the classes

    def of(self, rows: slice) -> Answers:
        """The answers for some of the rows."""
        decided = None if self.decisions is None else self.decisions[rows]
        return Answers(self.outputs[rows], decided)


@dataclass(frozen=True)
class Aim:
    """A goal as it is handed over, and the decisions or the scores that reach it."""

    want: Any
    wanted: tuple[int, ...] | None = None  # positions of classes; None: see `other` and bounds
    other: bool = False  # any class but the row's own
    output: int = 0
    low: float = -np.inf
    high: float = np.inf
    rise: float | None = None

    @property
    def upward(self) -> bool:
        """Whether a higher score is always better."""
        return self.high == np.inf and (self.rise is None or self.rise > 0)

    def inside(self, score: float) -> float:
        """How far a score is inside the goal, up to a constant: the more, the surer."""
        if self.rise is not None:
            return np.sign(self.rise) * score
        room = [score - self.low, self.high - score]
        return min(room) if np.isfinite(room).any() else score

    def classes(self, subject: Subject, own: Answers) -> list[int] | None:
        """The positions that count for a row; None for a score."""
        if self.other:
            return [at for at in range(len(subject.classes)) if at != own.decisions[0]]
        return None if self.wanted is None else list(self.wanted)

    def reached(self, subject: Subject, rows: Answers, own: Answers, margin: float) -> np.ndarray:
        """Kept, unclear or broken for each row; `own` is the answer for the row itself."""
        wanted = self.classes(subject, own)
        if wanted is None:
            return self._scored(subject, rows, own)
        decided = np.isin(rows.decisions, wanted)
        lead = leads(rows.outputs, wanted)
        near = subject.near(lead)
        clear = np.where(lead > margin + near, KEPT, UNCLEAR)
        if subject.agrees:
            clear[lead < margin - near] = BROKEN
        else:
            clear[lead < -near] = KEPT
        return np.where(decided, clear, BROKEN)

    def _scored(self, subject: Subject, rows: Answers, own: Answers) -> np.ndarray:
        score, low, high = rows.outputs[:, self.output], self.low, self.high
        if self.rise is not None:
            bound = own.outputs[0, self.output] + self.rise
            low, high = (bound, np.inf) if self.rise > 0 else (-np.inf, bound)
        slack = np.minimum(score - low, high - score)
        size = subject.near(score)
        return np.where(slack > size, KEPT, np.where(slack < -size, BROKEN, UNCLEAR))

    def score(self, subject: Subject, rows: Answers, own: Answers) -> np.ndarray:
        """The score of each row, read toward the goal."""
        wanted = self.classes(subject, own)
        if wanted is None:
            return rows.outputs[:, self.output]
        inside = rows.outputs[:, wanted]
        return inside.sum(axis=1) if subject.probable else inside.max(axis=1)


def leads(outputs: np.ndarray, wanted: list[int]) -> np.ndarray:
    """By how much the best wanted output is above the best of the others."""
    others = [at for at in range(outputs.shape[1]) if at not in wanted]
    if not others:
        return np.full(len(outputs), np.inf)
    return outputs[:, wanted].max(axis=1) - outputs[:, others].max(axis=1)


def random_aim(
    rng: np.random.Generator, subject: Subject, data: pd.DataFrame, seen: np.ndarray
) -> Aim:
    """A goal of any kind that the model can be asked for; `seen` are its outputs in training."""
    if subject.classes is None or rng.random() < 0.35:
        return random_score(rng, subject, data, seen)
    count, turn = len(subject.classes), rng.random()
    if turn < 0.4:
        return Aim(None, other=True)
    if turn < 0.8:
        at = int(rng.integers(count))
        return Aim(subject.classes[at], (at,))
    some = tuple(sorted(rng.choice(count, max(1, count - 1), replace=False).tolist()))
    return Aim(mx.any_of(*(subject.classes[at] for at in some)), some)


def random_score(
    rng: np.random.Generator, subject: Subject, data: pd.DataFrame, seen: np.ndarray
) -> Aim:
    """A score on one side of a bound, between two, higher than before, or than another row's."""
    output = 0 if subject.classes is None else int(rng.integers(len(subject.classes)))
    label = None if subject.classes is None else subject.classes[output]
    low, high = np.quantile(seen[:, output], np.sort(rng.uniform(0, 1.0, 2))).round(3) + 0.0004
    turn = int(rng.integers(7))
    if turn == 0:
        return Aim(mx.at_least(high, label=label), output=output, low=high)
    if turn == 1:
        return Aim(mx.at_most(low, label=label), output=output, high=low)
    if turn == 2:
        return Aim(mx.above(high, label=label), output=output, low=high)
    if turn == 3:
        return Aim(mx.below(low, label=label), output=output, high=low)
    if turn == 4:
        return Aim(mx.between(low, high, label=label), output=output, low=low, high=high)
    if turn == 5:
        by = float(rng.choice([-1, 1])) * (high - low + 0.01)
        return Aim(mx.rise_by(by, label=label), output=output, rise=by)
    place = int(rng.integers(len(data)))
    bound = float(seen[place, output])
    return Aim(mx.above_row(data.iloc[[place]], label=label), output=output, low=bound)
