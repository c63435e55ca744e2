"""Frames as sheets of an Excel file. The only file that imports openpyxl."""

from __future__ import annotations

import io
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from typing import Any

import numpy as np

from macex.errors import RenderError
from macex.render.exports import cells_of, safe
from macex.render.values import shown

MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of a sheet
LONGEST = 32_767  # characters of a cell
PLAIN = (bool, int, float, date, time, timedelta)


def workbook_bytes(frames: Mapping[str, Any]) -> bytes:
    """Frames of pandas or polars as an Excel file, a sheet for each by its name.

    Text that a spreadsheet would run gets an apostrophe before it, as in CSV.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
    except ImportError as error:
        raise ImportError("openpyxl is not installed: pip install macex[excel]") from error
    book = Workbook(write_only=True)
    for name, frame in frames.items():
        columns = [(str(label), cells_of(frame[label])) for label in frame.columns]
        _check_size(name, len(frame), len(columns))
        sheet = book.create_sheet(name[:31])
        sheet.freeze_panes = "A2"
        lines = zip(*(cells for _, cells in columns), strict=True)
        for line in ([label for label, _ in columns], *lines):
            written = [_cell(value) for value in line]
            sheet.append(
                [ILLEGAL_CHARACTERS_RE.sub(" ", x) if isinstance(x, str) else x for x in written]
            )
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _check_size(name: str, rows: int, columns: int) -> None:
    if rows >= MOST_ROWS or columns > MOST_COLUMNS:
        raise RenderError(
            f"a sheet of Excel holds {MOST_ROWS - 1:,} rows and {MOST_COLUMNS:,} columns; {name} "
            f"has {rows:,} and {columns:,}: write Parquet or CSV"
        )


def _cell(value: Any) -> Any:
    """A value that a sheet can hold: numbers and times as they are, anything else as text."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or (isinstance(value, float) and not np.isfinite(value)):
        return None if value is None or value != value else str(value)  # noqa: PLR0124 - NaN
    zoned = isinstance(value, datetime | time) and value.tzinfo is not None
    far = isinstance(value, int) and abs(value) >= 2**53  # a sheet would round it
    early = isinstance(value, date) and value.year < 1900
    if isinstance(value, PLAIN) and not (zoned or far or early):
        return value
    text = value if isinstance(value, str) else shown(value)
    if len(text) > LONGEST and not isinstance(value, str):
        raise RenderError(
            f"a cell of Excel holds {LONGEST:,} characters, fewer than some values here have, as "
            "those of a long time series: write Parquet or CSV"
        )
    return safe(text)[:LONGEST]
