"""How usual samples are: among the cases that meet the goal, and by their roughness and steps.

As for tables, a counterfactual is as usual as the share of goal cases whose mean distance to their
five nearest goal cases is at least its own. Where many meet the goal, an evenly spaced sample
stands for all. Distances are of few points. What those do not see is how rough a channel is: the
spread of its steps over one, two, four and eight time points and its largest single step, as
logarithms. A lead that is shuffled has large steps everywhere, a spike has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from macex.schema import Array
from macex.series.cases import Cases
from macex.series.nearness import parts

LAGS = (1, 2, 4, 8)
STEEP = 0.999  # of the steps in training are no larger than what a seam may be
FEWEST, CELLS = 8, 4_000_000  # cases that the limit is taken from, and their values in all


@dataclass(frozen=True, eq=False)
class Texture:
    """How rough channels are in training, and which steps are too large for them."""

    center: Array  # (d, F)
    scale: Array  # (d, F)
    odd: Array  # (T, d) how unusual each channel of each training case is
    steep: Array  # (d,) the largest usual step; infinite where there is none

    def oddness(self, values: Array, channel: Array) -> Array:
        """How unusual values (m, time) of channels (m,) are, (m,)."""
        return self._odd(features(values[:, None]), channel[:, None])[:, 0]

    def _odd(self, described: Array, channel: Any = slice(None)) -> Array:
        far = np.abs((described - self.center[channel]) / self.scale[channel])
        return np.asarray(far.max(axis=2))

    def shares(self, rows: Array, samples: Array, changed: Array) -> Array:
        """The share of the cases `rows` that are as unusual in the changed channels, or more.

        That is (n,), of samples (n, d, time) that changed some channels (n, d).
        """
        found = np.ones(len(samples))
        at, channel = np.nonzero(changed)
        if not len(at) or not len(rows):
            return found
        here = np.full(len(samples), -np.inf)
        np.maximum.at(here, at, self.oddness(samples[at, channel], channel))
        known = self.odd[rows]
        for sample in np.unique(at):
            there = known[:, changed[sample]].max(axis=1)
            found[sample] = (there >= here[sample] - 1e-6).mean()
        return np.round(found, 6)


def learn_texture(train: Cases) -> Texture:
    """The texture of the training cases."""
    described = np.concatenate([features(part) for _, part in parts(train)])  # (T, d, F)
    center = np.median(described, axis=0)
    spread = np.median(np.abs(described - center), axis=0) * 1.4826
    scale = np.maximum(spread, 0.05)
    made = Texture(center, scale, np.zeros((0, train.width)), _steep(train))
    return Texture(center, scale, made._odd(described), made.steep)  # noqa: SLF001 - its own


def features(cases: Array) -> Array:
    """Cases (n, d, time) as logarithms of their steps, (n, d, F) float32."""
    values = np.asarray(cases, dtype=float)
    found = []
    with np.errstate(invalid="ignore"):
        for lag in LAGS:
            step = values[:, :, lag:] - values[:, :, :-lag]
            found.append(np.sqrt(_mean(step**2)))
        largest = np.abs(np.diff(values, axis=2))
    found.append(np.where(np.isfinite(largest), largest, 0.0).max(axis=2, initial=0.0))
    return np.log(np.stack(found, axis=2) + 1e-9).astype(np.float32)


def _mean(values: Array) -> Array:
    """The mean over time, gaps left out; 0 where there is nothing."""
    known = np.isfinite(values)
    count = np.maximum(known.sum(axis=2), 1)
    return np.asarray(np.where(known, values, 0.0).sum(axis=2) / count)


def _steep(train: Cases) -> Array:
    """The largest usual step of every channel."""
    found = []
    taken = max(FEWEST, CELLS // max(1, train.width * train.longest))
    for case in train.values[:: max(1, len(train) // taken)]:
        with np.errstate(invalid="ignore"):
            found.append(np.abs(np.diff(np.asarray(case, dtype=float), axis=1)))
    steps = np.concatenate(found, axis=1)
    if not steps.shape[1]:
        return np.full(train.width, np.inf)
    return np.asarray(np.nanquantile(np.where(np.isfinite(steps), steps, 0.0), STEEP, axis=1))


SAMPLE = 250
NEAREST = 5


class Usual(NamedTuple):
    """Goal cases to compare with, drawn with few points, and their own mean distances."""

    drawn: Array  # (R, d, points)
    mean: Array  # (R,) sorted; empty where there are too few cases

    def shares(self, own: Array, samples: Array, changed: Array) -> Array:
        """The plausibility of samples (n, d, points), (n,); NaN where too few cases meet the goal.

        They are a case's `own` (d, points) but for the channels that changed, (n, d).
        """
        if not len(self.mean):
            return np.full(len(samples), np.nan)
        same, mean = _gaps(self.drawn, own), np.empty(len(samples))  # (R, d)
        for line, (sample, moved) in enumerate(zip(samples, changed, strict=True)):
            square = same.copy()
            square[:, moved] = _gaps(self.drawn[:, moved], sample[moved])
            mean[line] = _nearest_mean(np.sqrt(square.sum(axis=1)))
        below = np.searchsorted(self.mean, mean - 1e-5)
        return np.asarray(np.round(1.0 - below / len(self.mean), 6))


def usual_of(drawn: Array, rows: Array) -> Usual:
    """The goal cases `rows` as something to compare with."""
    if len(rows) > SAMPLE:
        rows = rows[np.round(np.linspace(0, len(rows) - 1, SAMPLE)).astype(int)]
    cases = drawn[rows]
    if len(rows) <= NEAREST:
        return Usual(cases, np.zeros(0))
    flat = cases.reshape(len(rows), -1).astype(float)
    square = (flat**2).sum(axis=1)
    gaps = np.sqrt(np.maximum(square[:, None] + square - 2 * flat @ flat.T, 0.0))
    np.fill_diagonal(gaps, np.inf)
    return Usual(cases, np.sort([_nearest_mean(line) for line in gaps]))


def _gaps(cases: Array, case: Array) -> Array:
    """The squared distances of every channel, (R, d)."""
    gaps: Array = ((cases - case) ** 2).sum(axis=2, dtype=float)
    return gaps


def _nearest_mean(gaps: Array) -> float:
    return float(np.sort(gaps)[:NEAREST].mean())
