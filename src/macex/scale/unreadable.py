"""Rows with a cell that cannot be read: found one by one, and answered with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from macex.ask.goals import Goal
from macex.errors import SchemaError
from macex.explainer import Explainer
from macex.explanation import Cost, Explanation, Source
from macex.explanation.values import Asking
from macex.schema import Schema
from macex.schema.columns import MISSING
from macex.schema.frames import library, library_of


def rows_taken(rows: Any, at: Sequence[int]) -> Any:
    """Some rows of a frame of any library."""
    return library(library_of(rows)).written(rows, np.array(at, dtype=np.intp), [])


def unreadable(schema: Schema, rows: Any) -> dict[int, str]:
    """The positions of the rows that do not fit the schema, and what is wrong with each.

    A frame whose columns are wrong is an error, since then it is not the rows that are.
    """
    schema.read(rows_taken(rows, []))
    found: dict[int, str] = {}
    pending = [list(range(len(rows)))]
    while pending:
        part = pending.pop()
        try:
            schema.read(rows_taken(rows, part))
        except SchemaError as error:
            if len(part) == 1:
                found[part[0]] = str(error).replace(" in row 0", "", 1)
            else:
                pending += [part[len(part) // 2 :], part[: len(part) // 2]]
    return found


def unread(
    explainer: Explainer, rows: Any, faults: Mapping[int, str], goal: Goal, n: int
) -> dict[int, Explanation]:
    """An explanation without an answer for each row that cannot be read, by position."""
    schema = explainer.schema
    none = schema.read(rows_taken(rows, []))
    blank = np.full(len(schema.columns), MISSING)
    held = schema.unfold(blank[None])
    found = {}
    for at, reason in faults.items():
        alone = rows_taken(rows, [at])
        one = replace(
            none,
            native=alone,
            frame_codes=held,
            frame_odd=np.ones(held.shape, bool),
            index=library(none.library).index(alone),
        )
        one.__dict__["codes"] = blank[None]  # a one-hot block that is no choice has no code
        found[at] = Explanation(
            label=None,
            score=float("nan"),
            goal=goal,
            status="not_found",
            reason=f"The row cannot be read: {reason}.",
            miss=None,
            counterfactuals=(),
            actions=(),
            reasons=(),
            minimal=False,
            minimal_over=None,
            method=explainer.method,
            cost=Cost(0, 0, 0.0),
            source=Source(one, 0, blank),
            asked=Asking(n, explainer.method),
        )
    return found
