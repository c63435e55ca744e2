"""Fewer cells for answers that may be on the edge: other examples, and other stretches of them.

Which example needs the fewest cells is not known before it is tried, so those with as many channels
that are farthest from the edge are shortened, too. Shortening stops where no end gives way. From
there on each round offers every channel other stretches: moved or shorter ones, some of them alone
or as one, the same of another neighbor, and windows of several scales anywhere. What holds and
takes less is taken; of two channels together where one gives what the other needs. Of what takes as
much, that which is farther from the edge is taken, so that the next round has more to give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from macex.schema import Array
from macex.series.drafts import MOST, Draft, Run, laid_out, whole
from macex.series.outcome import SeriesOutcome
from macex.series.segments import Ask, Trials
from macex.stages.arrays import rank_within, set_keys

EACH = 9  # examples that an answer is compared with
KEPT = 2  # of them, whose stretches are exchanged
ROUNDS, PATIENCE = 12, 4  # at most, and as many in a row that spare nothing
OFFERS, NEAR = 128, 48  # of an example a round, those near its stretches among them
PAIRS = 12  # of offers for two channels, twice: those that spare most, and the safest of them
SCALES = (1.0, 0.75, 0.5, 0.25)  # of what is taken now: windows elsewhere
PRICE = 0.03  # of all time points: the cells that a stretch more has to spare
GAIN = 1e-3  # of progress that counts

Gentle = Callable[[Array, Trials], Array]  # examples' cases, trials -> (m,) bool


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


def taken(draft: Draft, length: Array) -> Array:
    """What examples take of cases of a length, (E,): cells, and what stretches cost."""
    runs = (draft.stop > draft.start).sum(axis=(1, 2))
    return np.round(draft.size.sum(axis=1) + runs * (PRICE * length[draft.at]), 6)


def least_taken(draft: Draft, count: int, length: Array) -> Draft:
    """The first examples, `count` of them, each replaced by a rival that takes less."""
    if len(draft.at) == count:
        return draft
    best = np.flatnonzero(_turns(draft, length) == 0)
    best = best[np.argsort(draft.at[best])]
    return draft.take(best[np.searchsorted(draft.at[best], draft.at[:count])])


def _turns(draft: Draft, length: Array) -> Array:
    """Which examples of their queries take the least, from 0 on, (E,)."""
    return rank_within(draft.at, taken(draft, length), np.arange(len(draft.at)))


class Exchange(NamedTuple):
    """Exchanges the stretches of examples for others that take less."""

    ask: Ask
    gentle: Gentle
    length: Array  # (Q,) time points of every case
    offered: Array  # (Q, U, K) bool: which neighbors a unit may be taken from
    late: Callable[[], bool]
    kept: int = KEPT

    def __call__(self, draft: Draft, first: Draft) -> Draft:
        """Each query's examples that take the least, exchanged; `first` took whole channels."""
        chosen = np.flatnonzero(_turns(draft, self.length) < self.kept)
        made, idle = draft.take(chosen), np.zeros(len(chosen), int)
        lead = np.round(self.ask(made)[1], 6)
        for turn in range(ROUNDS):
            open_ = np.flatnonzero(idle < PATIENCE)
            if not len(open_) or self.late():
                break
            before = taken(made, self.length)
            trials = self._offers(made, first.take(chosen), open_, turn)
            found, example, reached, progress = self._asked(made, trials, lead, before)
            less = taken(found, self.length) - before[example]
            better = (less < 0) | ((less == 0) & (progress > lead[example] + GAIN))
            good = np.flatnonzero(reached & better)
            rank = rank_within(example[good], less[good], -progress[good], good)
            best = good[rank == 0]
            idle += 1
            idle[example[best[less[best] < 0]]] = 0
            lead[example[best]] = progress[best]
            for table, values in zip(made[1:], found[1:], strict=True):
                table[example[best]] = values[best]
        every = draft.take(np.arange(len(draft.at)))
        for table, values in zip(every[1:], made[1:], strict=True):
            table[chosen] = values
        return every

    def _asked(
        self, draft: Draft, trials: Trials, lead: Array, before: Array
    ) -> tuple[Draft, Array, Array, Array]:
        """Examples with an offer each, or two; whose they are, which hold, and their progress."""
        made = trials.applied(draft)
        reached, progress = self.ask(made)
        worth = np.round(progress, 6)
        gain, less = worth - lead[trials.example], taken(made, self.length) - before[trials.example]
        first, second = _pairs(trials, gain, less, lead)
        both, line = made.take(first), np.arange(len(first))
        for table, values in zip(both[1:], trials[2:], strict=True):
            table[line, trials.unit[second]] = values[second]
        again, more = self.ask(both)
        return (
            made.joined(both),
            np.concatenate([trials.example, trials.example[first]]),
            np.concatenate([reached, again]),
            np.concatenate([worth, np.round(more, 6)]),
        )

    def _offers(self, draft: Draft, first: Draft, open_: Array, turn: int) -> Trials:
        """Other stretches for the channels of examples, some of very many by turns."""
        found = []
        for example in open_:
            units = np.flatnonzero(draft.code[example])
            for unit in units:
                bounds = int(first.start[example, unit, 0]), int(first.stop[example, unit, 0])
                runs = laid_out(draft.start[example, unit], draft.stop[example, unit])
                own = int(draft.code[example, unit])
                others = np.flatnonzero(self.offered[draft.at[example], unit]) + 1
                near, far = _near(runs, bounds), _elsewhere(runs, bounds)
                same = np.repeat(_laid([runs]), len(others) - 1, axis=0)
                code = [np.full(len(near), own), others[others != own], others.repeat(len(far))]
                ends = np.concatenate([near, same, np.tile(far, (len(others), 1, 1))])
                trials = Trials.of(draft, example, unit, ends, np.concatenate(code))
                fine = self.gentle(draft.at, trials)
                close = np.arange(len(fine)) < len(near) + len(same)
                few = _some(np.flatnonzero(fine & close), NEAR // len(units), turn)
                rest = max(0, OFFERS // len(units) - len(few))
                more = _some(np.flatnonzero(fine & ~close), rest, turn)
                found.append(trials.take(np.concatenate([few, more])))
        return Trials.joined(found)


def _some(rows: Array, count: int, turn: int) -> Array:
    """As many of the rows, evenly spread, other ones in every turn."""
    if len(rows) <= count:
        return rows
    return rows[((np.arange(count) + turn * 0.618 % 1) * (len(rows) / count)).astype(int)]


def _laid(several: list[list[Run]]) -> Array:
    """Runs as ends of stretches, (m, 2, MOST)."""
    ends = np.zeros((len(several), 2, MOST), int)
    for line, runs in enumerate(several):
        ends[line, :, : len(runs)] = np.transpose(runs)
    return ends


def _near(runs: list[Run], bounds: Run) -> Array:
    """The runs with one of them moved or shortened, left out, or joined with the next.

    >>> _near([(4, 6)], (0, 8))[:, :, 0].tolist()
    [[2, 4], [3, 4], [3, 5], [4, 5], [5, 6], [5, 7], [6, 7], [6, 8]]
    """
    steps = 2 ** np.arange(max(1, sum(stop - start for start, stop in runs)).bit_length())
    steps = np.concatenate([-steps[::-1], [0], steps])
    found = []
    edges = [(0, bounds[0] - 1), *runs, (bounds[1] + 1, 0)]
    for place, (start, stop) in enumerate(runs):
        low, high = edges[place][1] + 1, edges[place + 2][0] - 1
        first, last = (
            end.ravel() for end in np.meshgrid(start + steps, stop + steps, indexing="ij")
        )
        fits = (first >= low) & (last <= high) & (last > first) & (last - first <= stop - start)
        fits &= (first != start) | (last != stop)
        moved = np.repeat(_laid([runs]), int(fits.sum()), axis=0)
        moved[:, 0, place], moved[:, 1, place] = first[fits], last[fits]
        found.append(moved)
        if place + 1 < len(runs):
            joined = (start, runs[place + 1][1])
            found.append(_laid([[*runs[:place], joined, *runs[place + 2 :]]]))
        if len(runs) > 1:
            found.append(_laid([[*runs[:place], *runs[place + 1 :]]]))
    return np.concatenate(found)


def _elsewhere(runs: list[Run], bounds: Run) -> Array:
    """Windows as long as all runs together, or shorter, anywhere within bounds."""
    size, found = sum(stop - start for start, stop in runs), []
    for length in {max(1, int(size * scale)): None for scale in SCALES}:
        start = np.arange(bounds[0], bounds[1] - length + 1, max(1, length // 4))
        ends = np.zeros((len(start), 2, MOST), int)
        ends[:, 0, 0], ends[:, 1, 0] = start, start + length
        found.append(ends)
    return np.concatenate(found)


def _pairs(trials: Trials, gain: Array, less: Array, lead: Array) -> tuple[Array, Array]:
    """Offers for two channels of an example that would take less and hold if gains add up."""
    found: list[tuple[int, int]] = []
    for example in np.unique(trials.example):
        mine = np.flatnonzero((trials.example == example) & np.isfinite(gain))
        one, two = (mine[side] for side in np.triu_indices(len(mine), 1))
        left, spared = lead[example] + gain[one] + gain[two], less[one] + less[two]
        fine = np.flatnonzero((trials.unit[one] != trials.unit[two]) & (spared < 0) & (left > 0))
        order = fine[np.lexsort((-left[fine], spared[fine]))]
        safest = np.concatenate([[-np.inf], np.maximum.accumulate(left[order])[:-1]])
        front = order[left[order] > safest][:PAIRS]
        chosen = dict.fromkeys([*order[:PAIRS].tolist(), *front.tolist()])
        found += [(int(one[pair]), int(two[pair])) for pair in chosen]
    first, second = np.array(found, int).reshape(-1, 2).T
    return first, second
