"""Examples with something to spare, where it is asked how likely they come true.

The nearest examples lie at the border of the decision, where estimated consequences are as likely
too little as enough. How much more of one of their numbers it takes is found by halving. Since
that looks for the first draws that do, half of what is left to certainty is asked on top.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macex.engine.reach import drawn_reach
from macex.schema import Array
from macex.stages.finetune.holds import held_steps
from macex.stages.finetune.trades import admitted_at
from macex.stages.shapes import Pool

if TYPE_CHECKING:
    from macex.engine.batch import Outcome

FARTHER = np.append(0.0, np.geomspace(0.0005, 0.2, 14))
"""By how much more than needed a number is set, as shares of its range."""


def surer(outcome: Outcome, few: Pool, *pools: Pool) -> tuple[Pool, ...]:
    """Examples with as much more of one number as the reach that is asked for takes.

    They join the first of the pools. Examples of all pools that are nearer are left out: they lie
    at the border, too. It takes four or five calls.
    """
    if outcome.judge.capped or outcome.judge.late:
        return pools
    task, least = outcome.task, ((outcome.batch.requirements.reach or 0.0) + 1.0) / 2
    example, unit = np.nonzero(_stretchable(outcome, few))
    low, high = np.full(len(unit), -1), np.full(len(unit), len(FARTHER))
    while ((high - low) > 1).any():
        middle = (low + high) // 2
        tried, fits = _farther(outcome, few, example, unit, middle)
        sure = fits.copy()
        reach = drawn_reach(outcome, tried.take(fits))
        sure[fits] = ~(reach < least)
        low, high = np.where(sure, low, middle), np.where(sure, middle, high)
    found = high < len(FARTHER)
    made, _ = _farther(outcome, few, example[found], unit[found], high[found])
    verdict = task.judge(made.codes, made.at)
    good = np.flatnonzero(verdict.reached)
    made = Pool(made.at[good], made.codes[good], verdict.progress[good])
    nearest = np.full(len(task.queries), -np.inf)
    nearest[made.at] = np.inf
    np.minimum.at(nearest, made.at, task.measure(made.codes, made.at))
    first, *rest = (
        pool.take(task.measure(pool.codes, pool.at) > nearest[pool.at]) for pool in pools
    )
    return Pool.join([made, first], task.space.width), *rest


def _stretchable(outcome: Outcome, pool: Pool) -> Array:
    """The numbers of examples of which more may be done: all but those that are held, (E, U)."""
    space = outcome.task.space
    moved = np.abs(pool.codes - space.queries[pool.at]) > 2 * held_steps(outcome.task)
    return np.asarray(space.moved_numbers(pool.codes, pool.at) & moved)


def _farther(
    outcome: Outcome, pool: Pool, example: Array, unit: Array, level: Array
) -> tuple[Pool, Array]:
    """Examples with more of one number each, and whether it may be so, (n,) bool."""
    space, line = outcome.task.space, np.arange(len(unit))
    span = np.array([one.high - one.low for one in space.units])
    codes, at = pool.codes[example], pool.at[example]
    now = codes[line, unit]
    more = now + np.sign(now - space.queries[at, unit]) * FARTHER[level] * span[unit]
    for place in np.unique(unit).tolist():
        mine = np.flatnonzero((unit == place) & (level > 0))
        codes[mine, place] = space.snap(place, more[mine])
    return Pool(at, codes, pool.progress[example]), admitted_at(outcome.task, at, codes, unit)


def no_surer(outcome: Outcome, pool: Pool, failed: Pool) -> Array:
    """Examples that change the same as one whose reach is too low, and come no farther, (E,) bool.

    What is no number must be the same, too.
    """
    space, found = outcome.task.space, np.zeros(len(pool), bool)
    number = np.array([not unit.discrete for unit in space.units])
    changed, sets = space.changed(pool.codes, pool.at), space.changed(failed.codes, failed.at)
    for one in range(len(failed)):
        mine = np.flatnonzero((pool.at == failed.at[one]) & (pool.progress <= failed.progress[one]))
        alike = (changed[mine] == sets[one]).all(axis=1)
        alike &= ((pool.codes[mine] == failed.codes[one]) | number).all(axis=1)
        found[mine[alike]] = True
    return found
