"""How near cases are to each other: by channels that are z-scored and drawn with few points.

Every channel is averaged down to a few points and scaled by its mean and spread in training. A gap
in the data (NaN) counts as the mean. The distance of two cases is the root of the mean squared
difference, channel by channel, and then over channels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from macex.errors import OptionError, require_counts
from macex.schema import Array
from macex.series.cases import Cases
from macex.series.mixtures import differs

Metric = Literal["euclidean", "dtw"]
AT_ONCE = 4_000_000  # numbers read at a time
MANY = 1200  # channels; where there are more, not every one of every neighbor is scored
MANY_HAVE = 4  # neighbors, each of which costs little then
FEW_CHANNELS = 100  # up to which there are neighbors in reserve
RESERVE = 15


@dataclass(frozen=True, slots=True)
class NearCases:
    """Stage 1: the `k` nearest training cases that meet the goal offer their channels.

    Without `k` there are 2 to 5: as many as offer about a thousand single channels; where not every
    channel is scored, 4. Up to 100 channels, 15 further neighbors may replace them in answers of
    few channels. Channels are compared at `points` times. `metric="dtw"` lets these times
    shift against each other by up to a quarter (dynamic time warping). A policy search
    (`"reinforce"`, `"gradientless"`) learns over the `columns` channels that go farthest when taken
    over alone.
    """

    k: int | None = None
    points: int = 16
    metric: Metric = "euclidean"
    columns: int = 96

    def __post_init__(self) -> None:
        require_counts(self, "points", "columns", *(() if self.k is None else ("k",)))
        if self.metric not in ("euclidean", "dtw"):
            raise OptionError(f"NearCases(metric=) is 'euclidean' or 'dtw', not {self.metric!r}")

    def count(self, channels: int) -> int:
        """The number of neighbours of a case with this many channels.

        >>> NearCases().count(24), NearCases().count(563), NearCases(k=7).count(563)
        (5, 2, 7)
        >>> NearCases().count(4000)
        4
        """
        if self.k is not None:
            return self.k
        return int(np.clip(1200 // channels, 2, 5)) if channels <= MANY else MANY_HAVE

    def reserve(self, channels: int) -> int:
        """The number of further neighbors, which may give the channels that a search found.

        >>> NearCases().reserve(24), NearCases().reserve(563), NearCases(k=7).reserve(24)
        (15, 0, 0)
        """
        return RESERVE if self.k is None and channels <= FEW_CHANNELS else 0


@dataclass(frozen=True, eq=False)
class Sketch:
    """What a channel's mean and spread are, and how cases are drawn with few points."""

    points: int
    mean: Array  # (d,)
    spread: Array  # (d,)

    def __call__(self, case: Array) -> Array:
        """A case (d, time) as z-scores (d, points), float32."""
        return self.many(case[None])[0]

    def many(self, cases: Array) -> Array:
        """Cases (n, d, time) as z-scores (n, d, points), float32."""
        return self._drawn(cases, slice(None))

    def channels(self, values: Array, channel: Array) -> Array:
        """Values (m, time) of channels (m,) as z-scores (m, points), float32."""
        return self._drawn(values[:, None], channel[:, None])[:, 0]

    def _drawn(self, cases: Array, channel: Any) -> Array:
        mean, spread = self.mean[channel, None], self.spread[channel, None]
        drawn = (_averaged(cases, self.points) - mean) / spread
        return np.nan_to_num(drawn, nan=0.0, posinf=8.0, neginf=-8.0).astype(np.float32)

    def steps(self, before: Array, after: Array) -> Array:
        """How far channels (..., d, time) moved, (..., d): the root of the mean square."""
        with np.errstate(invalid="ignore"):
            gap = (after.astype(float) - before) / self.spread[:, None]
        gap = np.where(differs(before, after), gap, 0.0)
        gap = np.nan_to_num(gap, nan=1.0, posinf=8.0, neginf=8.0)
        moved: Array = np.sqrt((gap**2).mean(axis=-1))
        return moved


def learn_sketch(train: Cases, points: int) -> tuple[Sketch, Array]:
    """The sketch of the training cases, and the cases drawn by it (n, d, points)."""
    points = min(points, train.longest)
    sketch = Sketch(points, *_mean_and_spread(train))
    drawn = np.empty((len(train), train.width, points), np.float32)
    for start, part in parts(train):
        drawn[start : start + len(part)] = sketch.many(part)
    return sketch, drawn


def parts(cases: Cases) -> list[tuple[int, Array]]:
    """Where each part of the cases starts, and the part (n, d, time), bounded in size."""
    if isinstance(cases.values, list):
        return [(place, case[None]) for place, case in enumerate(cases.values)]
    step = max(1, AT_ONCE // max(1, cases.width * cases.longest))
    starts = range(0, len(cases), step)
    return [(start, cases.values[start : start + step]) for start in starts]


def nearest(
    drawn: Array, query: Array, rows: Array, match: Array, choice: NearCases, count: int
) -> Array:
    """The `count` cases of `rows` that are nearest to a query (d, points), nearest first.

    `match` (d,) bool says which channels are compared.
    """
    gaps = np.concatenate(
        [
            _gaps(drawn[part][:, match], query[match], choice.metric)
            for part in np.array_split(rows, 1 + len(rows) * query.size // AT_ONCE)
        ]
    )
    order = np.lexsort((rows, np.round(gaps, 5)))
    return rows[order[:count]]


def _gaps(cases: Array, query: Array, metric: Metric) -> Array:
    """Squared distances of cases (n, d, points) from a query (d, points)."""
    if metric == "dtw":
        return warped(cases, query).sum(axis=1)
    total: Array = ((cases - query) ** 2).sum(axis=(1, 2), dtype=float)
    return total


def warped(cases: Array, query: Array) -> Array:
    """Dynamic time warping of each channel, (n, d): squared steps along the cheapest path.

    >>> shifted = np.array([[[0.0, 0.0, 1.0, 0.0]]])
    >>> float(warped(shifted, np.array([[0.0, 1.0, 0.0, 0.0]]))[0, 0])
    0.0
    """
    points = query.shape[1]
    band = max(1, points // 4)
    before = np.full((points + 1, *cases.shape[:2]), np.inf)
    before[0] = 0.0
    for i in range(points):
        now = np.full_like(before, np.inf)
        for j in range(max(0, i - band), min(points, i + band + 1)):
            step = (cases[:, :, j] - query[:, i]) ** 2
            now[j + 1] = step + np.minimum(np.minimum(before[j], before[j + 1]), now[j])
        before = now
    return before[points]


def _averaged(cases: Array, points: int) -> Array:
    """Means of `points` equal stretches of time, NaN left out, (n, d, points)."""
    length = cases.shape[2]
    if length < points:
        place = (np.arange(points) * length) // points
        return np.asarray(cases[:, :, place], dtype=float)
    edges = np.round(np.linspace(0, length, points + 1)).astype(int)[:-1]
    values = np.asarray(cases, dtype=float)
    known = np.isfinite(values)
    if known.all():
        counts: Array = np.diff(np.append(edges, length))
        return np.add.reduceat(values, edges, axis=2) / counts
    counts = np.add.reduceat(known.astype(float), edges, axis=2)
    sums = np.add.reduceat(np.where(known, values, 0.0), edges, axis=2)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _mean_and_spread(train: Cases) -> tuple[Array, Array]:
    """Mean and standard deviation of every channel over cases and time; 1 for a constant one."""
    shift = np.nan_to_num(np.asarray(train.values[0], dtype=float).mean(axis=1), posinf=0, neginf=0)
    count, total, square = np.zeros((3, train.width))
    for _, part in parts(train):
        values = np.asarray(part, dtype=float) - shift[:, None]
        known = np.isfinite(values)
        values = np.where(known, values, 0.0)
        count += known.sum(axis=(0, 2))
        total += values.sum(axis=(0, 2))
        square += (values**2).sum(axis=(0, 2))
    mean = total / np.maximum(count, 1)
    variance = square / np.maximum(count, 1) - mean**2
    floor = 1e-12 * np.maximum(1.0, (mean + shift) ** 2)
    return mean + shift, np.where(variance > floor, np.sqrt(np.maximum(variance, 0.0)), 1.0)
