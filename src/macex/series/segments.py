"""Fine-tuning of series: the short stretches of each channel that are enough, and how much of them.

A search takes whole channels from neighbours. Here each is shortened at both ends, in coarse steps
first, as long as the goal is still reached. Then parts of it are left out on a grid of many scales,
so that two events far apart stay two stretches, and what is left is blended with the case's own.
Only some stretches are tried, so shorter ones may exist. What the channels of an example could
save alone is put together, as much of it as holds. Each round asks the model once for all examples
about single channels, and once about what goes together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from macex.errors import OptionError, require_counts, require_number
from macex.schema import Array
from macex.series.drafts import MOST, Draft, laid_out, left_out, parts_of
from macex.stages.arrays import rank_within

Ask = Callable[["Draft"], tuple[Array, Array]]  # reached (n,) bool, progress (n,)


class Trials(NamedTuple):
    """Changes to single units of examples: m of them."""

    example: Array  # (m,)
    unit: Array  # (m,)
    code: Array  # (m,)
    start: Array  # (m, MOST)
    stop: Array  # (m, MOST)
    blend: Array  # (m,)

    @staticmethod
    def none() -> Trials:
        """No changes."""
        nothing, ends = np.zeros(0, int), np.zeros((0, MOST), int)
        return Trials(nothing, nothing, nothing, ends, ends, np.zeros(0))

    @staticmethod
    def of(draft: Draft, example: Any, unit: Any, ends: Array, code: Array | None = None) -> Trials:
        """Other stretches of units, with ends (m, 2, MOST), from the same neighbors or others."""
        example, unit = (np.broadcast_to(one, len(ends)) for one in (example, unit))
        code = draft.code[example, unit] if code is None else code
        return Trials(example, unit, code, ends[:, 0], ends[:, 1], draft.blend[example, unit])

    @staticmethod
    def joined(parts: Iterable[Trials]) -> Trials:
        """All of them, one after the other."""
        every = zip(Trials.none(), *parts, strict=True)
        return Trials(*(np.concatenate(both) for both in every))

    @property
    def size(self) -> Array:
        """How many time points each of them takes, (m,)."""
        return np.asarray((self.stop - self.start).sum(axis=1))

    def applied(self, draft: Draft) -> Draft:
        """One example for each trial."""
        made, line = draft.take(self.example), np.arange(len(self.example))
        for table, values in zip(made[1:], self[2:], strict=True):
            table[line, self.unit] = values
        return made

    def take(self, rows: Array) -> Trials:
        """Some of them."""
        return Trials(*(part[rows] for part in self))


@dataclass(frozen=True, slots=True)
class Segments:
    """Shorten what is taken from neighbours to the stretches that are needed, and blend it.

    An example may try about `trials` stretches a round, for at most `rounds` rounds. A channel has
    at most `stretches` of them, 4 or fewer. Stretches are then lengthened by a tenth at either end,
    or more, until the share `stable` of 20 samples with noise, 2 % of each channel's spread, reach
    the goal, or whole channels are taken; 0 leaves them on the edge. There nine other examples with
    as many channels are shortened, too, with half the trials; stretches of the best are exchanged
    for others that take less; and the one with the fewest cells is taken and blended: `blend` is
    the number of steps between the case's own and the neighbour's; 1 leaves them unblended.
    """

    trials: int = 96
    rounds: int = 10
    blend: int = 8
    stable: float = 1.0
    stretches: int = 3

    def __post_init__(self) -> None:
        require_counts(self, "trials", "rounds", "blend", "stretches")
        if self.stretches > MOST:
            raise OptionError(f"Segments(stretches=) is 1 to {MOST}, not {self.stretches}")
        if not 0 <= require_number("stable", self.stable) <= 1:
            raise OptionError(f"Segments(stable=) is a share from 0 to 1, not {self.stable!r}")

    def __call__(self, ask: Ask, draft: Draft, late: Callable[[], bool] = lambda: False) -> Draft:
        """The examples with as little taken from neighbours as goal and time allow."""
        if not len(draft.at):
            return draft
        draft = self._shortened(ask, draft, late)
        if self.stretches > 1:
            draft = self._thinned(ask, draft, late)
        return draft

    def blended(self, ask: Ask, draft: Draft, late: Callable[[], bool] = lambda: False) -> Draft:
        """The examples with values nearer to the case's own, as far as goal and time allow."""
        for turn in (1, 2) if self.blend > 1 else ():
            if late():
                break
            draft, _, _ = _improved(ask, draft, self._blends(draft, self.blend**-turn))
        return draft

    def _share(self, draft: Draft) -> Array:
        """How many trials each channel of an example has a round, (E,)."""
        trials = self.trials if self.stable else (self.trials + 1) // 2
        return np.maximum(8, trials // np.maximum(1, (draft.code > 0).sum(axis=1)))

    def _shortened(self, ask: Ask, draft: Draft, late: Callable[[], bool]) -> Draft:
        """One stretch of every channel, from the first time point to the last that is needed."""
        share = self._share(draft)
        cuts = np.floor((np.sqrt(9 + 8 * share) - 1) / 2).astype(int)[:, None]  # (E, 1)
        reach = np.floor(np.sqrt(share + 1)).astype(int)[:, None] - 1
        step = np.ceil(draft.size / cuts).astype(int)  # (E, U)
        open_ = (draft.code > 0) & (draft.size > 1)
        coarse = True
        for _ in range(self.rounds):
            if not open_.any() or late():
                break
            most = cuts if coarse else reach
            trials = _windows(draft, step, np.broadcast_to(most, step.shape), open_)
            draft, better, taken = _improved(ask, draft, trials)
            open_ &= ((step > 1) | better) & (draft.size > 1)
            finer = np.ceil(step / (reach + 1)).astype(int)
            step = np.where(~better | taken, np.maximum(1, finer), step)
            coarse = False
        return draft

    def _thinned(self, ask: Ask, draft: Draft, late: Callable[[], bool]) -> Draft:
        """Stretches without the parts between that are not needed."""
        open_ = (draft.code > 0) & (draft.size > 1)
        for _ in range(self.rounds):
            if not open_.any() or late():
                break
            trials = self._holes(draft, open_)
            draft, better, _ = _improved(ask, draft, trials)
            open_ &= better
        return draft

    def _holes(self, draft: Draft, open_: Array) -> Trials:
        """What is left of channels where one part of them is left out, the largest parts first."""
        share, found = self._share(draft), []
        for example, unit in zip(*np.nonzero(open_), strict=True):
            runs = laid_out(draft.start[example, unit], draft.stop[example, unit])
            left = [left_out(runs, hole) for hole in parts_of(runs)]
            kept = [one for one in left if 0 < len(one) <= self.stretches][: share[example]]
            ends = np.zeros((len(kept), 2, MOST), int)
            for line, one in enumerate(kept):
                ends[line, :, : len(one)] = np.transpose(one)
            found.append(Trials.of(draft, example, unit, ends))
        return Trials.joined(found)

    def _blends(self, draft: Draft, step: float) -> Trials:
        """Less and less of what is taken, in steps from what was last found to hold."""
        example, unit = np.nonzero(draft.code > 0)
        count = self.blend - 1
        example, unit = np.repeat(example, count), np.repeat(unit, count)
        less = np.tile(np.arange(1, count + 1), len(example) // max(1, count)) * step
        blend = np.round(draft.blend[example, unit] - less, 9)
        ends = np.stack([draft.start[example, unit], draft.stop[example, unit]], axis=1)
        trials = Trials.of(draft, example, unit, ends)._replace(blend=blend)
        return trials.take(np.flatnonzero(blend > 0))


def _windows(draft: Draft, step: Array, most: Array, open_: Array) -> Trials:
    """Stretches that leave out up to `most` steps at the ends of what is taken now."""
    found = []
    for example, unit in zip(*np.nonzero(open_), strict=True):
        start, stop = draft.start[example, unit, 0], draft.stop[example, unit, 0]
        width = np.arange(most[example, unit] + 1) * step[example, unit]
        left, right = np.meshgrid(width, width, indexing="ij")
        fits = (left + right > 0) & (left + right < stop - start)
        ends = np.zeros((int(fits.sum()), 2, MOST), int)
        ends[:, 0, 0], ends[:, 1, 0] = start + left[fits], stop - right[fits]
        found.append(Trials.of(draft, example, unit, ends))
    return Trials.joined(found)


def _improved(ask: Ask, draft: Draft, trials: Trials) -> tuple[Draft, Array, Array]:
    """The draft with what holds together; which units could save alone, and which did."""
    better = np.zeros(draft.code.shape, bool)
    taken = better.copy()
    if not len(trials.example):
        return draft, better, taken
    reached, progress = ask(trials.applied(draft))
    good = np.flatnonzero(reached)
    best = trials.take(good)
    pair = best.example * draft.code.shape[1] + best.unit
    rank = rank_within(pair, best.size * best.blend, -progress[good], best.start[:, 0])
    chosen, safe = best.take(np.flatnonzero(rank == 0)), progress[good][rank == 0]
    better[chosen.example, chosen.unit] = True
    turn = rank_within(chosen.example, -safe, chosen.unit)
    holds = _held(ask, draft, chosen, turn)
    taken[chosen.example[holds], chosen.unit[holds]] = True
    made = draft.take(np.arange(len(draft.at)))
    for table, values in zip(made[1:], chosen[2:], strict=True):
        table[chosen.example[holds], chosen.unit[holds]] = values[holds]
    return made, better, taken


def _held(ask: Ask, draft: Draft, chosen: Trials, turn: Array) -> Array:
    """Which savings hold together: the longest run of them, the safest first."""
    several = np.flatnonzero(turn > 0)
    if not len(several):
        return np.ones(len(turn), bool)
    rows = draft.take(chosen.example[several])
    for line, place in enumerate(several):
        mine = np.flatnonzero((chosen.example == chosen.example[place]) & (turn <= turn[place]))
        for table, values in zip(rows[1:], chosen[2:], strict=True):
            table[line, chosen.unit[mine]] = values[mine]
    reached, _ = ask(rows)
    last = np.zeros(len(draft.at), int)
    np.maximum.at(last, chosen.example[several[reached]], turn[several[reached]])
    held: Array = turn <= last[chosen.example]
    return held
