"""Rows with a cell that cannot be read: found one by one, and answered with the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.goals import Goal
from macex.engine.assembly import unanswered
from macex.errors import SchemaError
from macex.explainer import Explainer
from macex.explanation import Explanation, Source
from macex.explanation.values import Asking
from macex.schema import Column, Schema
from macex.schema.columns import MISSING
from macex.schema.encoding import encode
from macex.schema.frames import library, library_of


def rows_taken(rows: Any, at: Sequence[int]) -> Any:
    """Some rows of a frame of any library."""
    return library(library_of(rows)).written(rows, np.array(at, dtype=np.intp), [])


def unreadable(schema: Schema, rows: Any) -> dict[int, str]:
    """The positions of the rows that do not fit the schema, and what is wrong with each.

    A frame whose columns are wrong is an error, since then it is not the rows that are.
    """
    positions = schema.read(rows_taken(rows, [])).positions
    found: dict[int, str] = {}
    for position, column in zip(positions, schema.frame_columns, strict=True):
        found |= _refused(partial(_encoded, _column(rows, position), column), len(rows), found)
    return found | _refused(lambda at: schema.read(rows_taken(rows, at)), len(rows), found)


def _refused(read: Callable[[list[int]], Any], count: int, known: Iterable[int]) -> dict[int, str]:
    """The rows that cannot be read, found by halving; those that are known are left out."""
    found: dict[int, str] = {}
    pending = [sorted(set(range(count)).difference(known))]
    while pending:
        part = pending.pop()
        try:
            read(part)
        except SchemaError as error:
            if len(part) == 1:
                found[part[0]] = str(error).replace(" in row 0", "", 1)
            else:
                pending += [part[len(part) // 2 :], part[: len(part) // 2]]
    return found


def _column(rows: Any, position: int) -> Any:
    return rows.iloc[:, [position]] if isinstance(rows, pd.DataFrame) else rows[:, [position]]


def _encoded(rows: Any, column: Column, at: list[int]) -> None:
    (cells,) = library(library_of(rows)).cells(rows_taken(rows, at), [column.name])
    encode(cells, column)


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
        one.__dict__["codes"] = blank[None]  # a one-hot block without exactly one flag has no code
        found[at] = unanswered(
            "not_found",
            f"The row cannot be read: {reason}.",
            goal,
            method=explainer.method,
            source=Source(one, 0, blank),
            asked=Asking(n, explainer.method),
        )
    return found
