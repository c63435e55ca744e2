"""Examples that are shortened beside the one that was chosen.

Which of them needs the fewest cells is not known before it is tried. Where answers may be on the
edge, examples with as many channels that are farthest from it are tried, too.
"""

from __future__ import annotations

import numpy as np

from macex.series.drafts import whole
from macex.series.outcome import SeriesOutcome
from macex.series.segments import Draft
from macex.stages.arrays import rank_within, set_keys

EACH = 9  # that an answer is compared with


def rivals(outcome: SeriesOutcome, draft: Draft) -> Draft:
    """What else queries with one answer each, `draft`, could take: as many channels, other ones."""
    tune, pool, task = outcome.fitted.options.finetune, outcome.pool, outcome.task
    free = task.count == 1 and task.prefer == "fewest" and not outcome.cases.requirements
    if tune is None or tune.stable or not free:
        return Draft.empty(task.space.width)
    size = np.full(len(task.queries), -1)
    size[draft.at] = (draft.code > 0).sum(axis=1)
    chosen = set_keys(draft.code.astype(float), draft.at)
    others = task.space.changed(pool.codes, pool.at).sum(axis=1) == size[pool.at]
    others &= ~np.isin(set_keys(pool.codes, pool.at), chosen)
    some = pool.take(np.flatnonzero(others))
    turn = rank_within(some.at, -some.progress, np.arange(len(some)))
    return whole(outcome.mixture, task.space, some.take(np.flatnonzero(turn < EACH)))


def fewest_cells(draft: Draft, count: int) -> Draft:
    """The first examples, `count` of them, each replaced by a rival that takes fewer cells."""
    if len(draft.at) == count:
        return draft
    cells, runs = draft.size.sum(axis=1), (draft.stop > draft.start).sum(axis=(1, 2))
    best = np.flatnonzero(rank_within(draft.at, cells, runs, np.arange(len(draft.at))) == 0)
    best = best[np.argsort(draft.at[best])]
    return draft.take(best[np.searchsorted(draft.at[best], draft.at[:count])])
