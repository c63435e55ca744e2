"""The project that a server has when it has no other: who earns more than 50K, from census rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.server.projects import demo_model
from macex.server.projects.parts import Parts

TITLE = "Income (census of 1994)"


def demo_parts(make_model: Callable[[], Any] = demo_model.model) -> Parts:
    """Adult, with a model that `make_model` makes."""
    people = demo_model.people()
    return Parts(
        model=make_model(),
        training=people.training,
        rows=people.rows,
        labels=lambda: pd.Series(people.income_of_rows),
        constraints=Constraints(fixed=("race", "gender"), increase=("age",)),
    )
