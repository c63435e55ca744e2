"""What becomes of decisions when one column alone is different."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from macex.ask.constraints import Constraints
from macex.cohort.population import Crowd, Population, slabs
from macex.schema import Array
from macex.stages.candidates import Domain, offer

if TYPE_CHECKING:
    from collections.abc import Iterator


VALUES = Domain(categories=256, quantiles=64, rows=256)


class Flips(NamedTuple):
    """The decision of every row as it is, and another one that the column alone leads to."""

    before: Array  # (Q,) position of the class
    after: Array  # (Q,) the same where no value of the column changes it
    to: Array  # (Q,) the code of the value that does, the row's own where none does

    @property
    def flipped(self) -> Array:
        """The rows whose decision changes, (Q,) bool."""
        changed: Array = self.after != self.before
        return changed


def flips_of(everyone: Crowd, column: str) -> Flips:
    """Set a column to each other value seen in training, all else kept, and ask the model."""
    alone = everyone.under(lambda given: Constraints(only=(column,), derived=given.derived))
    place = everyone.rows.schema.position(column)
    before = np.zeros(len(everyone), int)
    after, to = before.copy(), everyone.rows.codes[:, place].copy()
    values = len(everyone.rows.schema.columns[place].seen)
    for places, part in alone.blocks(min(values, 256)):
        before[places] = after[places] = part.own.decision
        for at, decision, code in _decided(part, place):
            changed = decision != part.own.decision[at]
            first = np.unique(at[changed], return_index=True)[1]
            who = places[at[changed][first]]
            fresh = after[who] == before[who]
            after[who[fresh]] = decision[changed][first][fresh]
            to[who[fresh]] = code[changed][first][fresh]
    return Flips(before, after, to)


def _decided(part: Population, place: int) -> Iterator[tuple[Array, Array, Array]]:
    """Rows, decisions and values for every row and every other value, a model call at a time."""
    space = part.space
    candidates = offer(VALUES, space, None)
    codes, at, _ = candidates.rows(space.queries, candidates.real)
    for turn in slabs(len(at)):
        full = space.columns(codes[turn], at[turn])
        sound = space.tellable(full)
        answers, _ = part.judge.asker(full[sound], at[turn][sound])
        yield at[turn][sound], answers.decision, full[sound, place]
