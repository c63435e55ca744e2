"""Explanations of series as frames: a channel is a column, and a cell holds its values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from macex.explanation.tables import REMARKS, beside, by_column, lines_of

CHANGES = ("cf.row", "cf.rank", "channel", "start", "stop", "blend", "case", "label")
LIMIT = ("low", "high", "direction")
VALUES = ("before", "after")
DTYPES = {"cf.row": "int64", "cf.rank": "int64", "start": "int64", "stop": "int64"}
ENDS = {"low": "float64", "high": "float64"}
MORE = {"channel": "str", "blend": "float64", "case": "int64"} | ENDS


def answers_frame(items: Sequence[Any], names: Sequence[str]) -> pd.DataFrame:
    """One line per counterfactual; `names` are the channels."""
    lines = list(lines_of(items))
    cells = [line.source.cells() for line in lines]
    columns = {name: pd.Series([one[name] for one in cells], dtype=object) for name in names}
    remarks = by_column(tuple(REMARKS), [line.remarks for line in lines])
    return beside(pd.DataFrame(columns, index=range(len(lines))), remarks)


def changes_frame(items: Sequence[Any]) -> pd.DataFrame:
    """One line per change."""
    fields = (*CHANGES[2:], *VALUES)
    lines = [
        (line.row, line.rank, *(getattr(change, name) for name in fields), *_limit(change))
        for line in lines_of(items)
        if line.found is not None
        for change in line.found.changes
    ]
    columns = by_column((*CHANGES, *VALUES, *LIMIT), lines)
    made = {name: pd.Series(cells, dtype=object) for name, cells in columns.items()}
    return pd.DataFrame(made).astype(DTYPES | MORE)


def _limit(change: Any) -> tuple[Any, ...]:
    """What kept values from going so far, if anything did."""
    return (None, None, None) if change.limit is None else tuple(change.limit)
