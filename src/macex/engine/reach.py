"""How likely answers reach their goals when they are acted upon, where consequences are estimated.

Consequences are drawn again: each draw takes mechanisms that were fitted to another sample of the
training rows, and leaves to chance what they do not say of a row. The model is asked about all
draws of all answers at once. What is drawn for a row depends on the row alone.

The nearest examples lie at the border of the decision, where estimated consequences are as likely
too little as enough. Where it is asked how likely answers come true, `surer` adds examples with
something to spare. How much more of one of their numbers it takes is found by halving. Since that
looks for the first draws that do, half of what is left to certainty is asked on top.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macex.ask.space import Chance
from macex.causes.numbers import DRAWS
from macex.errors import OptionError
from macex.schema import Array
from macex.stages.draws import Draws, column_keys
from macex.stages.finetune.holds import held_steps
from macex.stages.finetune.trades import admitted_at
from macex.stages.shapes import Pool

if TYPE_CHECKING:
    from macex.causes import CausalModel
    from macex.engine.batch import Outcome

FARTHER = np.append(0.0, np.geomspace(0.0005, 0.2, 14))
"""By how much more than needed a number is set, as shares of its range."""


def reach_of(outcome: Outcome, pool: Pool) -> Array:
    """The share of draws in which each answer reaches its goal, (n,).

    It is not known (NaN) where nothing is fitted, time is over, or the caller set a limit of rows.
    """
    causal, judge = outcome.fitted.causal, outcome.judge
    if causal is None or not causal.fitted or judge.capped or judge.late:
        return np.full(len(pool), np.nan)
    return drawn_reach(outcome, pool)


def draws_of(causal: CausalModel | None) -> int:
    """How many draws an answer takes whose reach is asked for: none where nothing is estimated."""
    if causal is None:
        raise OptionError(
            "reach= is the probability that the goal is met once what follows is known, so it "
            "needs causes: Explainer(..., causes=mx.Causes(...))"
        )
    if causal.unsure:
        raise OptionError(
            f"reach= cannot be known: how sure the mechanism of {causal.unsure[0]!r} is, its "
            "library does not say; leave the mechanism out to have it fitted, or state it"
        )
    return DRAWS if causal.fitted else 0


def drawn_reach(outcome: Outcome, pool: Pool) -> Array:
    """The share of draws in which each answer reaches its goal, (n,); NaN without changes."""
    found, causal, judge = np.full(len(pool), np.nan), outcome.fitted.causal, outcome.judge
    if causal is None:
        return found
    rows = np.flatnonzero(outcome.task.space.changed(pool.codes, pool.at).any(axis=1))
    if len(rows):
        names = column_keys(causal.schema.names)
        uniform = Draws(outcome.task.draws.rows, names).uniform("reach", 0, DRAWS)
        chances = [Chance(number, uniform[:, number]) for number in range(DRAWS)]
        found[rows] = judge.drawn(pool.codes[rows], pool.at[rows], chances).mean(axis=1)
    return found


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
