"""Results as files: CSV, Parquet, Excel and PDF, each written whole or not at all."""

from __future__ import annotations

import csv
import io
import os
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import IO, Any

import numpy as np
import pandas as pd

from macex.errors import RenderError
from macex.render.values import shown

FORMULA = ("=", "+", "-", "@", "\t", "\r")
BOTH = "\r\n"
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # of a sheet
LONGEST = 32_767  # characters of a cell
PLAIN = (bool, int, float, date, time, timedelta)
PROGRAMS = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome", "chrome")
PATIENCE_S = 300


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


def write_whole(path: Path, content: bytes) -> None:
    """Write a file at once."""
    with whole_file(path) as file:
        file.write(content)


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write to: readers see the old one or the new one, never half of one.

    The content is on the disk before the name is, so that a power cut does not leave a name
    without content. An error names the path as it was given, and leaves nothing behind.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            with unfinished.open("wb") as file:
                yield file
                kept(file)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def kept(file: IO[Any]) -> None:
    """Wait until what was written to an open file is on the disk."""
    file.flush()
    os.fsync(file.fileno())


def chromium() -> str | None:
    """The browser: what the variable MACEX_CHROMIUM names, or one by its usual names."""
    named = os.environ.get("MACEX_CHROMIUM")
    if named:
        return which(named)
    return next((path for path in map(which, PROGRAMS) if path is not None), None)


def pdf_bytes(page: str) -> bytes:
    """A page as PDF."""
    browser = chromium()
    if browser is None:
        raise RenderError(
            "a PDF needs Chromium or Chrome: install one, or name it in the environment variable "
            "MACEX_CHROMIUM; to_html() needs neither"
        )
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, encoding="utf-8")
        said = _printed(browser, source, target)
        if not target.exists():
            raise RenderError(f"{browser} made no PDF: {said.strip()[-500:] or 'it said nothing'}")
        return target.read_bytes()


def _printed(browser: str, source: Path, target: Path) -> str:
    """Print a page to a file; what the browser said."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # for which Chromium refuses its sandbox
    options = [
        "--headless",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--no-pdf-header-footer",
        f"--user-data-dir={source.parent / 'profile'}",
        f"--print-to-pdf={target}",
        *(["--no-sandbox"] if root else []),
    ]
    try:
        done = subprocess.run(  # noqa: S603 - the program the user has, and our own page
            [browser, *options, source.as_uri()],
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RenderError(f"{browser} could not print the page: {error}") from error
    return done.stderr.decode(errors="replace")
