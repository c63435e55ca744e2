"""Parquet and Arrow files by row group and batch: one that is broken costs no other."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from decimal import Decimal
from importlib import import_module
from typing import IO, Any

import numpy as np
import pandas as pd

from macex.errors import DataError
from macex.scale.sources import RowFault, SourceRows
from macex.schema import Column
from macex.schema.arrow_tables import pandas_frame


def arrow_module(name: str) -> Any:
    """A module of pyarrow."""
    try:
        return import_module(name)
    except ImportError as error:
        raise DataError("Parquet and Arrow files need pyarrow: pip install macex[files]") from error


@contextmanager
def whole(form: str, name: str) -> Iterator[None]:
    """Says that a Parquet or Arrow file is broken."""
    arrow = arrow_module("pyarrow")
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{name} is not a whole {form.title()} file: {error}") from error


def binary_chunks(
    file: IO[bytes], form: str, name: str, size: int
) -> Generator[SourceRows | RowFault]:
    """The rows of a file, at most `size` at a time, and the row groups that cannot be read."""
    groups, empty = _groups(file, form, name, size)
    some = False
    for group in groups:
        for part in _readable(group, name):
            some = True
            if isinstance(part, RowFault):
                yield part
                continue
            for at in range(0, len(part), size):
                yield SourceRows(pandas_frame(part.slice(at, size)))
    if not some:
        yield SourceRows(empty.to_pandas())


def column_type(file: IO[bytes], form: str, name: str, column: str) -> Any:
    """The type that a file declares for a column."""
    _, empty = _groups(file, form, name, 1)
    if column not in empty.schema.names:
        raise DataError(f"{name} has no column {column!r}")
    return empty.schema.field(column).type


def undecimal(cells: pd.Series, column: Column) -> pd.Series:
    """Decimals of a column that was trained on numbers as numbers; other cells as they are."""
    number = column.storage.numbers.kind in "iuf" and cells.dtype == object
    decimal = number and set(map(type, cells.dropna())) == {Decimal}
    return cells.astype(np.float64) if decimal else cells


class _Group:
    """A row group of Parquet, or a batch of Arrow: `rows` is how many it should have, if known."""

    def __init__(self, called: str, first: int, rows: int | None, batches: Any) -> None:
        self.called, self.first, self.rows, self.batches = called, first, rows, batches

    @property
    def place(self) -> str:
        """Which rows they are."""
        if not self.rows:
            return self.called
        return f"{self.called}, rows {self.first} to {self.first + self.rows - 1}"

    def wrong(self) -> str | None:
        """Why it cannot be read, None where it can.

        It is read once for that: a page that is skipped without a word moves the cells of its
        column to other rows, and shows only in how many rows there are at the end.
        """
        arrow, count = arrow_module("pyarrow"), 0
        try:
            for batch in self.batches():
                batch.validate(full=True)
                count += len(batch)
        except (arrow.ArrowException, OSError) as error:
            return " ".join(str(error).split())
        if self.rows in (None, count):
            return None
        return f"it gives {count:,} rows where the file says {self.rows:,}"


def _groups(file: IO[bytes], form: str, name: str, size: int) -> tuple[Iterator[_Group], Any]:
    """The groups of a file, in batches of `size` rows, and a table of its columns without rows."""
    source = file if file.seekable() else io.BytesIO(file.read())
    with whole(form, name):
        return _parquet(source, size) if form == "parquet" else _batches(source)


def _readable(group: _Group, name: str) -> Iterator[Any]:
    """The batches of a group that is whole, or what is wrong with it."""
    wrong = group.wrong()
    if wrong is None:
        yield from group.batches()
    else:
        yield RowFault(f"{name} {group.place}", wrong, group.rows or 0)


def _parquet(source: IO[bytes], size: int) -> tuple[Iterator[_Group], Any]:
    file = arrow_module("pyarrow.parquet").ParquetFile(source)

    def groups() -> Iterator[_Group]:
        first = 0
        for at in range(file.num_row_groups):
            rows = file.metadata.row_group(at).num_rows
            yield _Group(
                f"row group {at}",
                first,
                rows,
                lambda at=at: file.iter_batches(batch_size=size, row_groups=[at]),
            )
            first += rows

    return groups(), file.schema_arrow.empty_table()


def _batches(source: IO[bytes]) -> tuple[Iterator[_Group], Any]:
    file = arrow_module("pyarrow.ipc").open_file(source)
    groups = (
        _Group(f"batch {at}", 0, None, lambda at=at: [file.get_batch(at)])
        for at in range(file.num_record_batches)
    )
    return groups, file.schema.empty_table()
