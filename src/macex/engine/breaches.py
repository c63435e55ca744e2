"""Which relations of the training rows are broken by answers and queries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from macex.ask.precedence import kin_of
from macex.schema import Array

if TYPE_CHECKING:
    from macex.engine.batch import Outcome
    from macex.engine.fitted import Fitted


def breaks_of(fitted: Fitted, full: Array, own: Array) -> list[tuple[str, ...]]:
    """The relations that each row breaks although the row it starts from keeps them."""
    if fitted.keeping is None or not fitted.keeping.tests:
        return [()] * len(full)
    texts = [kept.text for kept in fitted.keeping.tests]
    broken = fitted.keeping.broken(full) & ~fitted.keeping.broken(own)
    return [tuple(texts[at] for at in np.flatnonzero(line)) for line in broken]


def estimated_of(fitted: Fitted, full: Array, own: Array, moved: Array) -> list[tuple[str, ...]]:
    """The columns of each row that are estimates: they follow causes by what was fitted.

    `moved` (n, d) bool are the columns that were set.
    """
    causal = fitted.causal
    if causal is None or not causal.estimated:
        return [()] * len(full)
    names, places = causal.schema.names, np.array(sorted(causal.estimated))
    guessed = (full != own)[:, places] & ~moved[:, places]
    return [tuple(names[place] for place in places[line]) for line in guessed]


def averaged_of(fitted: Fitted, estimated: tuple[str, ...]) -> bool:
    """Whether estimates are those of rows alike on average, not of the row itself."""
    return bool(estimated) and fitted.causal is not None and fitted.causal.average


def notes_of(fitted: Fitted, outcome: Outcome) -> list[tuple[str, ...]]:
    """Notes for each query on relations that are not kept: it breaks them, or they were dropped."""
    batch = outcome.batch
    if fitted.keeping is None or not fitted.keeping.tests:
        return [()] * len(batch)
    texts = [f"{kept.text}: the row itself breaks it" for kept in fitted.keeping.tests]
    broken = fitted.keeping.broken(outcome.task.space.own)
    asked = {id(constraints): constraints for constraints in batch.constraints}
    yielding = {key: kin_of(fitted.binding, one).notes for key, one in asked.items()}
    notes = [yielding[id(constraints)] for constraints in batch.constraints]
    for query in np.flatnonzero(broken.any(axis=1)):
        notes[query] = (*(texts[at] for at in np.flatnonzero(broken[query])), *notes[query])
    return notes
