"""Asking the model about samples that are mixed from cases when they are needed."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macex.ask.answers import Answers
from macex.models.asker import Asker
from macex.schema import Array
from macex.series.mixtures import Mixture, Patches

CELLS = 16_000_000  # numbers in one call of the model, at most


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
    return max(1, CELLS // max(1, cases.width * cases.longest))
