"""Examples as what they take from neighbors: whole channels at first, then stretches of them."""

from __future__ import annotations

import numpy as np

from macex.ask.space import Space
from macex.schema import Array
from macex.series.mixtures import Mixture, Patches, differs
from macex.series.segments import Draft
from macex.series.stretches import MOST
from macex.stages.shapes import Pool


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
