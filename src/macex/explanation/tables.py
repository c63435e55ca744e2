"""Explanations as frames in the caller's own library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from macex.explanation.values import Change, Explanation
from macex.render.names import Names, codes_named, told_codes
from macex.schema import Array

REMARKS = {
    "cf.row": "int64",
    "cf.rank": "int64",
    "cf.status": "str",
    "cf.label": None,
    "cf.score": "float64",
    "cf.sparsity": "Int64",
    "cf.proximity": "float64",
    "cf.plausibility": "float64",
    "cf.minimal": "bool",
}
REASONS = "cf.reasons"  # where columns have reason codes
CHANGES = ("cf.row", "cf.rank", "column", "before", "after", "low", "high", "exact", "follows")


class TableLine(NamedTuple):
    """One line of a table: a counterfactual, or a row without one at rank 0."""

    row: int
    rank: int
    explanation: Any
    found: Any

    @property
    def source(self) -> Any:
        """Where the cells of the line come from."""
        return self.explanation.source if self.found is None else self.found.source

    @property
    def remarks(self) -> tuple[object, ...]:
        """What the line says beside the cells, in the order of `REMARKS`."""
        place = self.row, self.rank, self.explanation.status
        found = self.found
        if found is None:
            return *place, self.explanation.label, self.explanation.score, None, None, None, False
        measures = found.sparsity, found.proximity, found.plausibility, found.minimal
        return *place, found.label, found.score, *measures


def answers_frame(
    items: Sequence[Explanation], rows: Any = None, names: Names | None = None
) -> Any:
    """One line per counterfactual: the row as in the caller's frame, then the `cf.` columns.

    `rows` are the caller's, which give the columns where there is no line. Where `names` hold
    reason codes, a last column has those of each row.
    """
    lines = list(lines_of(items))
    alike: dict[int, list[int]] = {}
    for place, line in enumerate(lines):
        alike.setdefault(id(line.source.rows), []).append(place)
    blocks = [_cells([lines[place] for place in places]) for places in alike.values()]
    if not blocks and rows is not None:
        blocks = [_framed(rows, np.zeros(0, np.intp), rows.codes[:0])]
    order = np.argsort([place for places in alike.values() for place in places])
    remarks = by_column(tuple(REMARKS), [line.remarks for line in lines])
    if codes_named(names if names is not None else items[0].names if items else {}):
        told = [told_codes(item) for item in items]
        remarks[REASONS] = [told[line.row] for line in lines]
    if _library(items, rows) == "polars":
        return _polars_answers(blocks, order, remarks)
    cells = _stacked(blocks, order, numbered=_library(items, rows) == "numpy")
    return beside(cells, remarks)


def beside(cells: pd.DataFrame, remarks: dict[str, list[object]]) -> pd.DataFrame:
    """The cells of the lines, and the `cf.` columns after them."""
    dtypes = {name: dtype for name, dtype in REMARKS.items() if dtype is not None}
    dtypes |= {REASONS: "str"} if REASONS in remarks else {}
    return pd.concat([cells, pd.DataFrame(remarks, index=cells.index).astype(dtypes)], axis=1)


def changes_frame(items: Sequence[Explanation]) -> Any:
    """One line per change and consequence; values are objects, as each column has its own kind."""
    lines = [
        (line.row, line.rank, *change[:3], *_interval(change), follows)
        for line in lines_of(items)
        if line.found is not None
        for part, follows in ((line.found.changes, False), (line.found.consequences, True))
        for change in part
    ]
    columns = by_column(CHANGES, lines)
    if _library(items) == "polars":
        import polars as pl

        objects = dict.fromkeys(CHANGES[3:], pl.Object)
        places = {"cf.row": pl.Int64, "cf.rank": pl.Int64, "column": pl.String}
        truths = {"exact": pl.Boolean, "follows": pl.Boolean}
        return pl.DataFrame(columns, schema={**places, **objects, **truths})
    dtypes = {"cf.row": "int64", "cf.rank": "int64", "column": "str"}
    dtypes |= {"exact": "boolean", "follows": "bool"}
    return pd.DataFrame(columns, dtype=object).astype(dtypes)


def _interval(change: Change) -> tuple[object, ...]:
    """The ends of the interval, and whether every value between them was tested."""
    span = change.interval
    return (None, None, None) if span is None else (span.low, span.high, span.exact)


def _polars_answers(blocks: Sequence[Any], order: Array, remarks: dict[str, list[object]]) -> Any:
    import polars as pl

    floats = dict.fromkeys(("cf.score", "cf.proximity", "cf.plausibility"), pl.Float64)
    dtypes: dict[str, Any] = {"cf.sparsity": pl.Int64, **floats}
    if REASONS in remarks:
        dtypes[REASONS] = pl.String
    beside = pl.DataFrame(remarks, schema_overrides=dtypes, strict=False)
    enums = {name: _enum([block.schema[name] for block in blocks]) for name in blocks[0].columns}
    casts = {name: enum for name, enum in enums.items() if enum is not None}
    stacked = pl.concat([block.cast(casts) for block in blocks], how="vertical_relaxed")
    return stacked[order].hstack(beside)


def _enum(dtypes: Sequence[Any]) -> Any:
    """The polars Enum that holds the categories of several; None if not all are enums."""
    import polars as pl

    if not all(isinstance(dtype, pl.Enum) for dtype in dtypes):
        return None
    return pl.Enum(list(dict.fromkeys(word for dtype in dtypes for word in dtype.categories)))


def lines_of(items: Sequence[Any]) -> Iterator[TableLine]:
    """A line for each counterfactual, and one of rank 0 for each row without any."""
    for row, item in enumerate(items):
        if not item.counterfactuals:
            yield TableLine(row, 0, item, None)
        for rank, found in enumerate(item.counterfactuals, 1):
            yield TableLine(row, rank, item, found)


def by_column(names: Sequence[str], lines: Sequence[Sequence[object]]) -> dict[str, list[object]]:
    """The entries of some lines as the columns of a frame."""
    return {name: [line[at] for line in lines] for at, name in enumerate(names)}


def _library(items: Sequence[Explanation], rows: Any = None) -> str:
    if items:
        return items[0].source.rows.library
    return "pandas" if rows is None else str(rows.library)


def _cells(block: Sequence[TableLine]) -> Any:
    """The cells of lines that stem from the same rows of the caller, decoded at once."""
    at = np.array([line.source.query for line in block])
    return _framed(block[0].source.rows, at, np.stack([line.source.codes for line in block]))


def _framed(rows: Any, at: Any, codes: Any) -> Any:
    frame = rows.frame(at, codes)
    return (
        pd.DataFrame(frame, columns=rows.schema.frame_names) if rows.library == "numpy" else frame
    )


def _stacked(frames: Sequence[pd.DataFrame], order: Array, *, numbered: bool) -> pd.DataFrame:
    """The lines of frames of the same columns, in order; categories stay categories.

    The lines of `numbered` frames, which were arrays, are renumbered.
    """
    if len(frames) < 2:
        return frames[0] if frames else pd.DataFrame()
    stacked = pd.concat(frames, ignore_index=numbered)
    for at in range(stacked.shape[1]):
        parts = [frame.iloc[:, at] for frame in frames]
        kept = isinstance(stacked.iloc[:, at].dtype, pd.CategoricalDtype)
        if not kept and all(isinstance(part.dtype, pd.CategoricalDtype) for part in parts):
            stacked.isetitem(at, union_categoricals(parts, ignore_order=True))
    stacked = stacked.take(order)
    return stacked.reset_index(drop=True) if numbered else stacked
