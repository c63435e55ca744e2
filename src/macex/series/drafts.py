"""Examples as what they take from neighbors: whole channels at first, then stretches of them.

A run is a pair (start, stop). Parts to leave out are offered on a grid of many scales: from either
end of a run, and between. A gap between two runs is at least a sixth of what they span, so that
a channel is not cut into crumbs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from macex.ask.space import Space
from macex.schema import Array
from macex.series.mixtures import Mixture, Patches, differs
from macex.stages.shapes import Pool


class Draft(NamedTuple):
    """Examples that take stretches of units: row i is made from case `at[i]`.

    Stretches are in their order, at most `MOST` for a unit; the rest of them are empty.
    """

    at: Array  # (n,)
    code: Array  # (n, U)
    start: Array  # (n, U, MOST)
    stop: Array  # (n, U, MOST)
    blend: Array  # (n, U)

    @staticmethod
    def empty(width: int) -> Draft:
        """No examples of `width` units."""
        nothing, ends = np.zeros((0, width), int), np.zeros((0, width, MOST), int)
        return Draft(np.zeros(0, np.intp), nothing, ends, ends, nothing.astype(float))

    def take(self, rows: Array) -> Draft:
        """Copies of some examples."""
        return Draft(*(part[rows] for part in self))

    def joined(self, other: Draft) -> Draft:
        """These examples, and others after them."""
        return Draft(*(np.concatenate(both) for both in zip(self, other, strict=True)))

    @property
    def size(self) -> Array:
        """How many time points of each unit are taken, (n, U)."""
        return np.asarray((self.stop - self.start).sum(axis=2))


def whole(mixture: Mixture, space: Space, pool: Pool) -> Draft:
    """Examples that take whole channels, from the first time point that differs to the last."""
    full = space.columns(pool.codes, pool.at)
    samples = mixture.samples(full, pool.at) if len(pool) else []
    start, stop = np.zeros((2, *pool.codes.shape, MOST), int)
    for row, query in enumerate(pool.at):
        moved = differs(np.asarray(mixture.cases.values[query]), samples[row])  # (d, time)
        for unit in np.flatnonzero(pool.codes[row]):
            times = np.flatnonzero(moved[list(space.units[unit].members)].any(axis=0))
            start[row, unit, 0], stop[row, unit, 0] = times[0], times[-1] + 1
    codes = pool.codes.astype(int)
    return Draft(pool.at, codes, start, stop, np.where(codes > 0, 1.0, 0.0))


def full_tables(space: Space, draft: Draft) -> Array:
    """Drafts as the asker takes them: tables by channel, side by side."""
    members = [unit.members for unit in space.units]
    owner = np.zeros(len(space.own[0]), int)
    owner[np.concatenate(members)] = np.repeat(np.arange(len(members)), list(map(len, members)))
    codes = space.columns(draft.code.astype(float), draft.at)
    most = max(1, int((draft.stop > draft.start).any(axis=(0, 1)).sum()))
    start, stop = (table[:, :, :most][:, owner] for table in (draft.start, draft.stop))
    return Patches.written(codes, start, stop, draft.blend[:, owner])


Run = tuple[int, int]
MOST = 4  # stretches of a channel
GAP = 6  # of this many parts of what is taken a gap is at least one


def laid_out(start: Array, stop: Array) -> list[Run]:
    """The runs in the arrays of a draft, (MOST,) each; empty ones are left away.

    >>> import numpy as np
    >>> laid_out(np.array([3, 9, 0, 0]), np.array([5, 12, 0, 0]))
    [(3, 5), (9, 12)]
    """
    pairs = zip(start.tolist(), stop.tolist(), strict=True)
    return [(first, last) for first, last in pairs if last > first]


def left_out(runs: Sequence[Run], hole: Run) -> list[Run]:
    """The runs without a part.

    >>> left_out([(0, 10), (20, 30)], (8, 25))
    [(0, 8), (25, 30)]
    >>> left_out([(0, 10)], (4, 6))
    [(0, 4), (6, 10)]
    """
    cut = [((a, min(b, hole[0])), (max(a, hole[1]), b)) for a, b in runs]
    return [(a, b) for both in cut for a, b in both if b > a]


def joined(runs: Sequence[Run]) -> list[Run]:
    """The runs in order; those that touch are one.

    >>> joined([(9, 12), (3, 5), (5, 7)])
    [(3, 7), (9, 12)]
    """
    made: list[Run] = []
    for start, stop in sorted(runs):
        if made and start <= made[-1][1]:
            made[-1] = (made[-1][0], max(made[-1][1], stop))
        else:
            made.append((start, stop))
    return made


def parts_of(runs: Sequence[Run]) -> list[Run]:
    """Parts of runs to leave out, the largest first, each once.

    Whole runs, where there are several; their halves, quarters and so on from either end; and parts
    between, each scale at steps of half its width.

    >>> parts_of([(0, 4)])
    [(0, 2), (1, 3), (2, 4), (0, 1), (3, 4)]
    """
    least = max(2, -(-(runs[-1][1] - runs[0][0]) // GAP))
    found: set[Run] = set(runs) if len(runs) > 1 else set()
    for start, stop in runs:
        width = (stop - start + 1) // 2
        while width >= 1 and stop - start > 1:
            found |= {(start, start + width), (stop - width, stop)}
            if width >= least:
                half = max(1, width // 2)
                found |= {(a, a + width) for a in range(start + half, stop - width, half)}
            if width == 1:
                break
            width = (width + 1) // 2
    return sorted(found, key=lambda part: (part[0] - part[1], part))
