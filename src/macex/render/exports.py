"""Frames as CSV and Parquet."""

from __future__ import annotations

import csv
import io
from typing import Any

import numpy as np
import pandas as pd

from macex.errors import RenderError

FORMULA = ("=", "+", "-", "@", "\t", "\r")
BOTH = "\r\n"


def csv_text(frame: Any, *, formula_safe: bool = True, head: bool = True) -> str:
    r"""A frame of pandas or polars as CSV: a line of names, then the rows, missing left empty.

    A spreadsheet runs text that begins with `=`, `+`, `-` or `@`. Unless `formula_safe=False`, an
    apostrophe stands before such text, so that it is shown instead.

    >>> csv_text(pd.DataFrame({"word": ["=1+1", "a"], "n": [-1, 2]}))
    "word,n\n'=1+1,-1\na,2\n"
    """
    columns = [(str(name), _written(frame[name])) for name in frame.columns]
    if formula_safe:
        columns = [(safe(name), list(map(safe, cells))) for name, cells in columns]
    text = _Lines()
    writer = csv.writer(text, lineterminator=BOTH)
    if head:
        writer.writerow([name for name, _ in columns])
    writer.writerows(zip(*(cells for _, cells in columns), strict=True))
    return text.getvalue()


class _Lines(io.StringIO):
    """Lines that end in a line feed, with every cell in quotes that holds any end of a line.

    The writer of CSV quotes the characters of its own line end alone; it writes line by line.
    """

    def write(self, line: str) -> int:
        """One line, as it is written with both characters at its end."""
        return super().write(line.removesuffix(BOTH) + "\n")


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
        values = cells_of(series)
        return pa.array([None if value is None else str(value) for value in values], pa.string())
    try:
        return series.to_arrow() if hasattr(series, "to_arrow") else pa.Array.from_pandas(series)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise RenderError(f"column {name!r} cannot be written as Parquet: {error}") from error


def _mixed(series: Any) -> bool:
    """Whether the categories of a pandas column are of no one kind."""
    categories = getattr(getattr(series, "cat", None), "categories", None)
    return categories is not None and str(categories.dtype) == "object"


def cells_of(series: Any) -> list[object]:
    """The cells of a column as Python values, missing ones as None."""
    if isinstance(series, pd.Series):
        cells = series.astype(object).where(series.notna(), None).tolist()
        return [cell.tolist() if isinstance(cell, np.ndarray) else cell for cell in cells]
    values: list[object] = series.to_list()
    return values


def _written(series: Any) -> list[Any]:
    """The cells of a column as CSV has them: the shortest text that is a number of its width."""
    cells = cells_of(series)
    if str(series.dtype).lower() in ("float16", "float32"):
        return [None if cell is None else str(np.float32(cell)) for cell in cells]  # type: ignore[arg-type]
    return cells


def safe(cell: Any) -> Any:
    """A cell as it is; text that a spreadsheet would run as text that it shows.

    >>> safe("=1+1"), safe(-1), safe("a")
    ("'=1+1", -1, 'a')
    """
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell
