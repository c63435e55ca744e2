"""The common actions that a summary of explanations shows.

They cost at most twelve model calls for up to 512 rows: the rows as they are, all single moves, the
promising pairs once for each action, and few to make the actions small. More rows cost three calls
more, and full chunks of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from macex.cohort.plans import Plan, PlanOptions, planned
from macex.cohort.population import Crowd
from macex.errors import ConstraintError, ModelError

if TYPE_CHECKING:
    from macex.engine.batch import Batch
    from macex.engine.engine import Engine

ACTIONS, CHANGES = 3, 2
AMONG = 512  # rows on which they are chosen; what they do is counted over all
FEWEST = 2  # rows that can have an action in common


def common_actions(engine: Engine, batch: Batch, places: Sequence[int]) -> Plan | None:
    """The plan for the rows at these places of a call, under its goals and constraints.

    None for fewer than two rows in need, for a call with limits that a plan has not (of rows or
    time, or that answers are robust), and where no action can be asked for: the model fails on it,
    or other columns move together in each row.
    """
    if (
        batch.question.max_rows is not None
        or batch.deadline is not None
        or batch.requirements.asked
    ):
        return None
    everyone = Crowd(
        engine,
        batch.rows,
        batch.goals,
        batch.constraints,
        np.arange(len(batch.rows)),
        batch.question.margin,
    )
    mine = everyone.take(np.array(places, dtype=int))
    try:
        plan = planned(mine, PlanOptions(ACTIONS, CHANGES), among=AMONG)
    except (ConstraintError, ModelError):
        return None
    return plan if plan.asked >= FEWEST else None
