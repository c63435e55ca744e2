"""Answers that hold under small changes, with other models, and when they are acted upon.

A neighbour of an answer differs from it in every number by one step of its grid or 1 % of its
range, whichever is more, up or down. The ups and downs of the 32 neighbours are fixed by the names
of the columns.

The nearest answer lies just past the decision, where a small change undoes it. So for rows whose
answers are not robust enough the examples with the highest score of one change are tried next, then
of two, and of three.

Where consequences are estimated, the *reach* of an answer is how likely it meets its goal when it
is acted upon. Consequences are drawn again: each draw takes mechanisms that were fitted to another
sample of the training rows, and leaves to chance what they do not say of a row. The model is asked
about all draws of all answers at once. What is drawn for a row depends on the row alone.

The nearest examples lie at the border of the decision, where estimated consequences are as likely
too little as enough. Where it is asked how likely answers come true, `surer` adds examples with
something to spare. How much more of one of their numbers it takes is found by halving. Since that
looks for the first draws that do, half of what is left to certainty is asked on top.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.space import Chance
from macex.causes.numbers import DRAWS
from macex.errors import ModelError, OptionError, UnavailableError
from macex.explanation.values import Cost
from macex.models.consultation import consult
from macex.models.oracle import Oracle
from macex.schema import Array, special
from macex.stages.draws import Draws, column_keys
from macex.stages.finetune.section import held_steps
from macex.stages.finetune.trades import admitted_at
from macex.stages.shapes import Pool

if TYPE_CHECKING:
    from macex.ask.space import Space
    from macex.causes import CausalModel
    from macex.engine.batch import BatchOf, Outcome
    from macex.engine.engine import EngineOf
    from macex.engine.fitted import Fitted
    from macex.models.judge import Judge


NEIGHBOURS = 32
SHARE = 0.01  # of a number's range
ASKED = 1000  # training rows that another model is asked about
MOST_CHANGES = 3  # of a second try


@dataclass(frozen=True)
class Requirements:
    """What is asked of answers: the least robustness and reach, and the models that must agree.

    `draws` says how often consequences are drawn to know an answer's reach.
    """

    least: float | None = None
    others: tuple[Oracle, ...] = ()
    reach: float | None = None
    draws: int = 0

    @cached_property
    def asked(self) -> bool:
        """Whether anything is asked of answers."""
        return self.least is not None or self.reach is not None or bool(self.others)

    @cached_property
    def rows(self) -> int:
        """How many neighbours of an answer are asked about."""
        return 0 if self.least is None else NEIGHBOURS

    @cached_property
    def price(self) -> int:
        """How many more rows it takes to check an answer."""
        return self.rows + self.draws

    @property
    def text(self) -> str:
        """What is asked, in words."""
        parts = [f"is robust enough (at least {self.least:g})"] if self.least else []
        parts += ["holds with the other models"] if self.others else []
        parts += [f"is met with a probability of at least {self.reach:g}"] if self.reach else []
        return " and ".join(parts)

    def agreed(self, judge: Judge, codes: Array, at: Array) -> Array:
        """Whether the rows hold with every other model, (n,) bool: as robust with it, if asked."""
        agreed = np.ones(len(at), bool)
        if not len(at):
            return agreed
        around = neighbours(judge.space, codes) if self.rows else codes[:0]
        every = np.concatenate([codes, around])
        whose = np.concatenate([at, np.repeat(at, self.rows)])
        full = judge.space.columns(every, whose)
        for other in self.others:
            reached = reached_with(other, judge, full, whose)
            agreed &= reached[: len(at)]
            if self.rows:
                held = reached[len(at) :].reshape(len(at), self.rows)
                agreed &= held.mean(axis=1) >= (self.least or 0.0)
        return agreed


NOTHING_ASKED = Requirements()


def reached_with(other: Oracle, judge: Judge, full: Array, at: Array) -> Array:
    """Whether rows reach their goals with another model: it decides so, or scores so, (n,) bool."""
    frame = judge.asker.frame(full, at)
    try:
        answers = other(frame, len(at))
    except UnavailableError:
        raise
    except Exception as fault:
        raise ModelError(f"a model of also= raised {fault!r}") from fault
    decided = judge.goals.wanted[at, np.maximum(answers.decision, 0)]
    return np.where(judge.goals.by_class[at], decided, judge.goals.judge(answers, at).reached)


def requirements_of(fitted: Fitted, robust: Any, also: Any, reach: Any = None) -> Requirements:
    """What the options `robust`, `also` and `reach` of a call ask for."""
    least, others = None if robust is None else float(robust), tuple[Oracle, ...]()
    if also:
        codes, classes = fitted.ground.codes[:ASKED], fitted.outlook.classes
        frame = fitted.ground.schema.frame(codes)
        others = tuple(
            other_model(place, model, frame, len(codes), classes)
            for place, model in enumerate(also)
        )
    if reach is None:
        return Requirements(least, others)
    return Requirements(least, others, float(reach), draws_of(fitted.causal))


def other_model(
    place: int, model: Any, given: Any, count: int, classes: tuple[object, ...] | None
) -> Oracle:
    """A model of `also=`, asked about some training rows as the explainer's own model is."""
    named = getattr(model, "classes_", None) is not None
    try:
        oracle, _ = consult(model, given, count, None if named else classes)
    except UnavailableError:
        raise
    except Exception as fault:
        raise OptionError(f"also[{place}] cannot be asked as the model is: {fault}") from fault
    if oracle.outlook.classes != classes:
        raise OptionError(
            f"also[{place}] decides between {oracle.outlook.classes}, the model between {classes}"
        )
    return oracle


def neighbours(space: Space, codes: Array) -> Array:
    """The fixed neighbours of some rows of codes by unit, (n * 32, U)."""
    names = column_keys([unit.name for unit in space.units])
    draws = Draws(np.zeros(1, np.uint64), names).uniform("neighbours", 0, NEIGHBOURS)[0]
    signs = np.where(draws < 0.5, -1.0, 1.0)  # (neighbour, unit)
    around = np.repeat(codes[:, None], NEIGHBOURS, axis=1)  # (row, neighbour, unit)
    for place, unit in enumerate(space.units):
        if unit.discrete:
            continue
        here = around[:, :, place]
        size = max(unit.step, SHARE * (unit.high - unit.low))
        inside = ~special(here) & (here >= unit.low) & (here <= unit.high)
        moved = space.snap(place, np.where(inside, here + size * signs[:, place], unit.low))
        around[:, :, place] = np.where(inside, moved, here)
    return around.reshape(-1, codes.shape[1])


def retried(
    engine: EngineOf[Any, Any, Any, Any], batch: BatchOf[Any, Any], fragile: Array, made: list[Any]
) -> list[Any]:
    """The explanations with the surest examples in place of those that were too fragile."""
    options = replace(engine.fitted.options, prefer="surest", fallback=False)
    surest = engine.with_options(options)
    found = list(made)
    open_ = np.flatnonzero(fragile)
    for most in range(1, MOST_CHANGES + 1):
        spent = np.array([item.cost.rows for item in found])
        open_ = open_[_room(batch, spent[open_])]
        if not len(open_):
            break
        limit = type(engine.constraints)(max_changes=most)
        part = batch.take(open_)
        merged = [one.merge(limit) for one in part.constraints]
        part = replace(part, constraints=merged, spent=spent[open_])
        for at, item in zip(open_, surest.answered(part)[0], strict=True):
            (calls, rows, seconds), more = found[at].cost, item.cost
            cost = Cost(calls + more.calls, rows + more.rows, seconds + more.seconds)
            found[at] = replace(item if item.counterfactuals else found[at], cost=cost)
        open_ = open_[[not found[at].counterfactuals for at in open_]]
    return found


def _room(batch: BatchOf[Any, Any], spent: Array) -> Array:
    """Which queries, of which each has cost some rows, can pay for one more try, (n,) bool."""
    if batch.question.max_rows is None:
        return np.ones(len(spent), bool)
    room: Array = spent + 2 + batch.set_aside <= batch.question.max_rows  # itself and a change
    return room


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
