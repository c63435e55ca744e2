"""How likely answers reach their goals when they are acted upon, where consequences are estimated.

Consequences are drawn again: each draw takes mechanisms that were fitted to another sample of the
training rows, and leaves to chance what they do not say of a row. The model is asked about all
draws of all answers at once. What is drawn for a row depends on the row alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macex.ask.space import Chance
from macex.causes.numbers import DRAWS
from macex.errors import OptionError
from macex.schema import Array
from macex.stages.draws import Draws, column_keys

if TYPE_CHECKING:
    from macex.causes import CausalModel
    from macex.engine.batch import Outcome
    from macex.stages.shapes import Pool


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
