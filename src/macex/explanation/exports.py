"""Frames as CSV and Parquet."""

from __future__ import annotations

import csv
import io
from typing import Any

import pandas as pd

from macex.errors import RenderError

FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_text(frame: Any, *, formula_safe: bool) -> str:
    """A frame of pandas or polars as CSV: a line of names, then the rows, missing left empty."""
    columns = [(str(name), _listed(frame[name])) for name in frame.columns]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([_safe(name) if formula_safe else name for name, _ in columns])
    for cells in zip(*(values for _, values in columns), strict=True):
        writer.writerow([_safe(cell) for cell in cells] if formula_safe else cells)
    return text.getvalue()


def parquet_bytes(frame: Any) -> bytes:
    """A frame of pandas or polars as Parquet; objects of no one kind as text."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise ImportError("pyarrow is not installed: pip install macex[files]") from error
    columns = {str(name): _column(pa, str(name), frame[name]) for name in frame.columns}
    content = io.BytesIO()
    pq.write_table(pa.table(columns), content)
    return content.getvalue()


def _column(pa: Any, name: str, series: Any) -> Any:
    if str(series.dtype).lower() == "object" or _mixed(series):
        values = _listed(series)
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    try:
        return series.to_arrow() if hasattr(series, "to_arrow") else pa.Array.from_pandas(series)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise RenderError(f"column {name!r} cannot be written as Parquet: {error}") from error


def _mixed(series: Any) -> bool:
    """Whether the categories of a pandas column are of no one kind."""
    categories = getattr(getattr(series, "cat", None), "categories", None)
    return categories is not None and str(categories.dtype) == "object"


def _listed(series: Any) -> list[object]:
    if isinstance(series, pd.Series):
        return series.astype(object).where(series.notna(), None).tolist()
    values: list[object] = series.to_list()
    return values


def _safe(cell: object) -> object:
    """Text that a spreadsheet would run, as text that it shows.

    >>> _safe("=1+1"), _safe(-1), _safe("a")
    ("'=1+1", -1, 'a')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
