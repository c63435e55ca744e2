"""From codes to samples: which channel, or which part of it, comes from which neighbour.

A code is 0 where a channel is the case's own and j where it is neighbour j's. A `Patch` says the
same of part of a channel: from `start` to before `stop`, blended with the case's own by `blend`.
Samples are made only when the model is asked, a bounded number at a time, which the asker does.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macex.ask.answers import Answers
from macex.models.asker import Asker
from macex.schema import Array
from macex.schema.rows import row_keys
from macex.series.cases import Cases
from macex.series.limits import CaseLimits

CELLS = 4_000_000  # of noise that is kept for later
NOISE = 0.02  # of a channel's spread: how far a neighbor of a sample is off


@dataclass(frozen=True, eq=False)
class Mixture:
    """The cases of a call, their neighbours, and what the values of the cases may become."""

    cases: Cases
    train: Cases
    donors: Array  # (Q, K) int: positions of the neighbours among the training cases
    limits: list[CaseLimits | None]  # (Q,) of what values may become
    spread: Array | None = None  # (channels,) of the training cases, for noise
    _noise: dict[int, Array] = field(default_factory=dict, repr=False)

    def samples(self, full: Array, at: Array) -> Array | list[Array]:
        """Samples from codes by channel (n, d), or from the tables of `Patches` beside them."""
        patches = Patches.read(full, self.cases.width)
        if self.cases.even and self.train.even:
            made: Array | list[Array] = self._together(patches, at)
        else:
            made = [self._one(patches, row, int(query)) for row, query in enumerate(at)]
        if patches.noise is not None and patches.noise.any():
            rows = np.flatnonzero(patches.noise)
            if isinstance(made, list):
                for row in rows:
                    made[row] = self._noisy(made[row], patches.noise[row, None])
            else:
                made[rows] = self._noisy(made[rows], patches.noise[rows])
        return made

    def of_one(self, full: Array, query: int) -> Array:
        """The samples of one case, (n, channels, time)."""
        made = self.samples(full, np.full(len(full), query))
        return np.stack(made) if isinstance(made, list) else made

    def _noisy(self, samples: Array, turns: Array) -> Array:
        """Samples (..., channels, time) of one length with the noise of a neighbor of each."""
        shape = samples.shape[-2:]
        some, which = np.unique(turns, return_inverse=True)
        noisy = samples + np.stack([self._noise_of(turn, shape) for turn in some.tolist()])[which]
        whole = samples.dtype.kind in "iub"
        return (np.round(noisy) if whole else noisy).astype(samples.dtype).reshape(samples.shape)

    def _noise_of(self, turn: int, shape: tuple[int, int]) -> Array:
        """The noise of one neighbor."""
        known = self._noise.get(turn)
        if known is None or known.shape != shape:
            spread = np.ones(shape[0]) if self.spread is None else self.spread
            known = NOISE * spread[:, None] * noise(turn, shape)
            if len(self._noise) * known.size < CELLS:
                self._noise[turn] = known
        return known

    def donor(self, query: int, code: int, channel: int) -> Array:
        """A neighbour's channel on the time axis of a case."""
        length = self.cases.values[query].shape[1]
        return stretched(self.train.values[self.donors[query, code - 1]][channel], length)

    def own(self, at: Array, channel: Array, time: Array) -> Array:
        """The cases' own values (m,), as numbers; NaN before and after a case."""
        if self.cases.even:
            values = np.asarray(self.cases.values)
            found = values[at, channel, np.clip(time, 0, values.shape[2] - 1)].astype(float)
            return np.where((time >= 0) & (time < values.shape[2]), found, np.nan)
        lines = [self.cases.values[query][line] for query, line in zip(at, channel, strict=True)]
        fits = [0 <= place < len(line) for line, place in zip(lines, time, strict=True)]
        every = zip(lines, time, fits, strict=True)
        return np.array([line[place] if fit else np.nan for line, place, fit in every], float)

    def others(self, at: Array, channel: Array, code: Array, time: Array) -> Array:
        """Neighbors' values (m,) on the cases' time axes, as numbers."""
        if self.cases.even and self.train.even:
            source = self.donors[at, code - 1]
            return np.asarray(self.train.values)[source, channel, time].astype(float)
        places = zip(at.tolist(), code.tolist(), channel.tolist(), time.tolist(), strict=True)
        return np.array([self.donor(*place[:3])[place[3]] for place in places], float)

    def _together(self, patches: Patches, at: Array) -> Array:
        kind = np.result_type(self.cases.dtype, self.train.dtype)
        samples = np.asarray(self.cases.values)[at].astype(kind, copy=False)  # (n, channels, time)
        row, channel = np.nonzero(patches.code)
        source = self.donors[at[row], patches.code[row, channel].astype(np.intp) - 1]
        other = np.asarray(self.train.values)[source, channel].astype(kind, copy=False)
        if patches.partial or any(self.limits[query] is not None for query in np.unique(at)):
            own = samples[row, channel]
            other = patches.laid(own, other, row, channel)
            for query in np.unique(at):
                limits = self.limits[query]
                if limits is not None:
                    mine = np.flatnonzero(at[row] == query)
                    kept = limits.kept(own[mine], other[mine], channel[mine])
                    inside = patches.inside(kept.shape[1], row[mine], channel[mine])
                    other[mine] = np.where(inside, kept, own[mine])
        samples[row, channel] = other
        return samples

    def _one(self, patches: Patches, row: int, query: int) -> Array:
        own = self.cases.values[query]
        sample = own.astype(np.result_type(own.dtype, self.train.dtype))
        limits = self.limits[query]
        for channel in np.flatnonzero(patches.code[row]):
            before = sample[channel][None]
            after = self.donor(query, int(patches.code[row, channel]), int(channel))
            after = after.astype(sample.dtype)[None]
            place = np.array([row]), np.array([channel])
            laid = patches.laid(before, after, *place)
            if limits is not None:
                inside = patches.inside(before.shape[1], *place)
                laid = np.where(inside, limits.kept(before, laid, place[1]), before)
            sample[channel] = laid[0]
        return sample


@dataclass(frozen=True, eq=False)
class Patches:
    """What each of n samples takes from neighbours, channel by channel."""

    code: Array  # (n, d) whole numbers
    start: Array | None = None  # (n, d, stretches); None where whole channels are taken
    stop: Array | None = None  # (n, d, stretches)
    blend: Array | None = None  # (n, d)
    noise: Array | None = None  # (n,) int: which neighbor of the sample is meant; 0 for itself

    @property
    def partial(self) -> bool:
        """Whether parts of channels are taken, not only whole ones."""
        return self.start is not None

    @staticmethod
    def read(full: Array, width: int) -> Patches:
        """Codes (n, d), or beside them blends, and where stretches start and stop.

        These are the tables of `written`. A column after them says which neighbor of each sample
        is meant.
        """
        if full.shape[1] == width:
            return Patches(full)
        pairs = full.shape[1] // (2 * width)
        tables = full[:, : pairs * 2 * width].reshape(len(full), 2 * pairs, width)
        start, stop = (tables[:, first::2].transpose(0, 2, 1) for first in (2, 3))
        turn = full[:, -1].astype(int) if full.shape[1] > pairs * 2 * width else None
        return Patches(tables[:, 0].astype(np.intp), start, stop, tables[:, 1], turn)

    @staticmethod
    def written(code: Array, start: Array, stop: Array, blend: Array) -> Array:
        """Codes and blends (n, d) and the ends of stretches (n, d, stretches) side by side."""
        ends = [table[:, :, at] for at in range(start.shape[2]) for table in (start, stop)]
        return np.concatenate([code, blend, *ends], axis=1, dtype=float)

    @staticmethod
    def keys(full: Array, width: int) -> Array:
        """A key for every row of such tables, the same whether or not they have room for more."""
        pairs = full.shape[1] // (2 * width)
        if pairs <= 2:
            return row_keys(full)
        keys = row_keys(full[:, np.r_[: 4 * width, pairs * 2 * width : full.shape[1]]])
        for turn in range(2, pairs):
            part = full[:, turn * 2 * width : (turn + 1) * 2 * width]
            used = np.flatnonzero(part.any(axis=1))
            keys[used] += row_keys(part[used]) * np.uint64(2 * turn + 1)
        return keys

    def inside(self, length: int, row: Array, channel: Array) -> Array:
        """Which time points of channels are taken, (m, length) bool."""
        if self.start is None or self.stop is None:
            return np.ones((len(row), length), bool)
        time, inside = np.arange(length), np.zeros((len(row), length), bool)
        start, stop = self.start[row, channel], self.stop[row, channel]  # (m, stretches)
        for place in np.flatnonzero((stop > start).any(axis=0)):
            inside |= (time >= start[:, place, None]) & (time < stop[:, place, None])
        return inside

    def laid(self, own: Array, other: Array, row: Array, channel: Array) -> Array:
        """Neighbours' channels (m, time) laid over the cases' own as far as patches reach."""
        if self.blend is None:
            return other
        inside = self.inside(own.shape[1], row, channel)
        share = self.blend[row, channel][:, None]
        with np.errstate(invalid="ignore"):  # infinite values are taken over whole
            mixed = own + share * (other.astype(float) - own)
        if own.dtype.kind in "iub":
            mixed = np.round(mixed)
        whole = (share >= 1) | ~np.isfinite(mixed)
        mixed = np.where(whole, 0.0, mixed)
        return np.where(inside, np.where(whole, other, mixed.astype(own.dtype)), own)


def noise(turn: int, shape: tuple[int, ...]) -> Array:
    """The fixed noise of a neighbor: numbers with a spread of 1."""
    return np.random.Generator(np.random.Philox(turn)).standard_normal(shape)


def stretched(channel: Array, length: int) -> Array:
    """A channel on a time axis of another length, by linear interpolation.

    >>> stretched(np.array([0.0, 2.0, 4.0]), 5).tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0]
    """
    if len(channel) == length:
        return channel
    points = np.linspace(0, len(channel) - 1, length)
    return np.interp(points, np.arange(len(channel)), channel)


def differs(before: Array, after: Array) -> Array:
    """Where two samples differ; a gap (NaN) is equal to a gap."""
    if before.dtype.kind != "f" or after.dtype.kind != "f":
        return np.asarray(before != after)
    return np.asarray((before != after) & ~(np.isnan(before) & np.isnan(after)))


AT_ONCE = 16_000_000  # numbers in one call of the model, at most


@dataclass
class SeriesAsker(Asker):
    """Asks one model about codes by channel or patches, as samples of a bounded number at once."""

    mixture: Mixture = field(kw_only=True)

    def frame(self, full: Array, at: Array) -> Any:
        """The samples as the model gets them."""
        return self.mixture.train.given(self.mixture.samples(full, at))

    def keys(self, full: Array) -> Array:
        """Keys of codes, or of tables of patches, whatever room for stretches they have."""
        return Patches.keys(full, self.mixture.cases.width)

    def row(self, query: int, codes: Array) -> Any:
        """One sample as the caller would write it."""
        return self.frame(codes[None], np.array([query]))[0]

    def chunk(self, columns: int) -> int:
        """Samples per call: bounded in memory, and in time where there is a deadline."""
        return min(rows_at_once(self.mixture.cases), super().chunk(columns))

    def swapped(self, query: int, channels: Array, rank: int) -> Answers:
        """Answers for a case that takes each of some channels, alone, from a neighbor.

        No row of codes is laid out for it, and one block of samples serves all calls, in which only
        the channels are written that are taken: that counts where there are thousands of them.
        """
        mixture = self.mixture
        own = np.asarray(mixture.cases.values[query])
        other = np.stack([mixture.donor(query, rank, int(channel)) for channel in channels])
        limits = mixture.limits[query]
        if limits is not None:
            other = limits.kept(own[channels], other, channels)
        start = own.astype(np.result_type(own.dtype, mixture.train.dtype))
        found, step = [], self.chunk(len(own))
        block = np.repeat(start[None], min(step, len(channels)), axis=0)
        for first in range(0, len(channels), step):
            part = channels[first : first + step]
            samples, line = block[: len(part)], np.arange(len(part))
            samples[line, part] = other[first : first + step]
            given = samples if mixture.train.even else list(samples)
            began = time.perf_counter()
            found.append(self.oracle(mixture.train.given(given), len(part)))
            self.cost.seconds += time.perf_counter() - began
            self.cost.calls += self.oracle.calls_per_ask
            self.cost.rows += len(part)
            self.pace.add(len(part), time.perf_counter() - began)
            samples[line, part] = start[part]
            if not np.array_equal(block[0], start, equal_nan=start.dtype.kind == "f"):
                block[:] = start  # the model writes into what it is given
        return Answers(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def cells(self, query: int, codes: Array) -> dict[str, object]:
        """Which channels of a sample come from which training case."""
        code = Patches.read(codes[None], self.mixture.cases.width).code[0].astype(int)
        return {
            self.schema.names[channel]: f"case {self.mixture.donors[query, code[channel] - 1]}"
            for channel in np.flatnonzero(code)
        }


def rows_at_once(cases: Any) -> int:
    """How many cases the model is given in one call."""
    return max(1, AT_ONCE // max(1, cases.width * cases.longest))
