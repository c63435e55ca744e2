"""Tables from files: CSV, Parquet, Arrow and JSON lines, told apart by their content.

A table is read whole (the training rows) or in chunks (the rows to explain). What is broken is said
with its line; a row group that is broken is left out, and one file of several. A stream, such as
standard input, is read once.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import IO, Any, Literal, TypeVar, cast

import numpy as np
import pandas as pd

from macex.errors import DataError, closest
from macex.scale.binary import arrow_module, binary_chunks, column_type, whole
from macex.scale.sources import Fault, Origin, Single, files_of, named
from macex.scale.text import Place, as_numbers, as_trained, inferred, parsed_times
from macex.schema import Column

Form = Literal["csv", "parquet", "arrow", "jsonl"]

MAGIC: dict[bytes, Form] = {b"PAR1": "parquet", b"ARRO": "arrow"}
Part = TypeVar("Part")
GZIP = b"\x1f\x8b"
READ_WHOLE = 65_536


@dataclass(frozen=True)
class Chunk:
    """Some rows as they stand in a file; `start` counts rows of the origin, `first` of the file."""

    frame: pd.DataFrame
    form: Form
    name: str
    start: int
    first: int

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.frame)

    def typed(
        self, columns: Sequence[Column], *, drop: Sequence[str] = (), strict: bool = True
    ) -> pd.DataFrame:
        """The rows with the types of `columns`; the index counts the rows of the origin.

        A cell of a text file that is no such value is an error, or is left as text.
        """
        kept = dropped(self.frame, drop, self.name)
        if self.form in ("csv", "jsonl"):
            kept = _typed(kept, columns, self.form, self.place, strict=strict)
        else:
            kept = _numbered(kept, columns)
        kept.index = pd.RangeIndex(self.start, self.start + len(kept))
        return kept

    def place(self, at: int) -> str:
        """Where a row of the chunk stands."""
        if self.form in ("csv", "jsonl"):
            return f"{self.name} line {self.first + at + (2 if self.form == 'csv' else 1)}"
        return f"{self.name} row {self.first + at}"


def read_table(
    origin: Single, *, drop: Sequence[str] = (), dates: Sequence[str] = ()
) -> pd.DataFrame:
    """A whole table, each column as its cells look; `dates` are columns of points in time."""
    name = named(origin)
    with _frames(origin, READ_WHOLE) as (frames, form):
        table = dropped(pd.concat([_sound(part) for part in frames], ignore_index=True), drop, name)
    for column in dates:
        if column in table:
            table[column] = parsed_times(table[column], column, lines_of(name, 0))
    if form == "csv":
        cells = {column: table[column] for column in table.columns}
        table = pd.DataFrame(
            {name: held if name in dates else inferred(held) for name, held in cells.items()}
        )
    return table


def read_chunks(
    origin: Origin, columns: Sequence[Column], size: int, *, drop: Sequence[str] = ()
) -> Iterator[pd.DataFrame]:
    """The rows of a table in frames of `size`, typed like `columns`; at least one frame.

    The index counts the rows of the table from 0.
    """
    for chunk in raw_chunks(origin, size, strict=True):
        if isinstance(chunk, Chunk):
            yield chunk.typed(columns, drop=drop)


def raw_chunks(origin: Origin, size: int, *, strict: bool = False) -> Iterator[Chunk | Fault]:
    """The rows of all files of an origin, at most `size` at a time, and what cannot be read.

    A file that is no table is an error if it is the only one, or if `strict`. Of one of several,
    the rows before the line that is broken are read.
    """
    files = files_of(origin)
    start, keep = 0, not strict and len(files) > 1
    for file in files:
        try:
            for part in _file_chunks(file, size, start, keep=keep):
                yield _sound(part) if strict else part
                start += part.rows
        except (DataError, FileNotFoundError, PermissionError) as error:
            if not keep:
                raise
            yield Fault(named(file), f"{error}; what follows in this file is left out")


def _file_chunks(file: Single, size: int, start: int, *, keep: bool) -> Iterator[Chunk | Fault]:
    name, first = named(file), 0
    if keep:
        _refuse_damaged(file)
    with _frames(file, size, keep=keep) as (frames, form):
        for part in frames:
            if isinstance(part, Fault):
                yield part
                first += part.rows
            else:
                yield Chunk(part, form, name, start + first, first)
                first += len(part)


def _sound(part: Part | Fault) -> Part:
    if isinstance(part, Fault):
        raise DataError(str(part))
    return part


def count_rows(origin: Origin) -> int | None:
    """About how many rows there are, for a progress bar; None where that is not easily said."""
    files = files_of(origin)
    try:
        counts = [_count(file) for file in files]
    except (DataError, OSError):
        if len(files) == 1:
            raise
        return None
    return None if None in counts else sum(count or 0 for count in counts)


def _count(origin: Single) -> int | None:
    if not isinstance(origin, str | Path):
        return None
    name = named(origin)
    with _broken(name), _opened(origin) as (file, form):
        if form == "parquet":
            with whole(form, name):
                return int(arrow_module("pyarrow.parquet").ParquetFile(file).metadata.num_rows)
        if form == "arrow":
            return None
        breaks = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
        return max(breaks - (form == "csv"), 0)


def declared_type(file: Single, column: str) -> Any:
    """The Arrow type of a column; cells of CSV are text, those of JSON lines declare none."""
    name = named(file)
    with _broken(name), _opened(file) as (opened, form):
        if form in ("csv", "jsonl"):
            return arrow_module("pyarrow").string() if form == "csv" else None
        return column_type(opened, form, name, column)


def dropped(table: pd.DataFrame, drop: Sequence[str], name: str) -> pd.DataFrame:
    """The table without some columns; a column of two copies is refused."""
    for column in table.columns[table.columns.duplicated()]:
        raise DataError(f"{name} has two columns {column!r}; keep one of them")
    return table.drop(columns=[column for column in drop if column in table.columns])


def require(table: pd.DataFrame, column: str, name: str, option: str) -> None:
    """Raise unless a table has a column that an option names."""
    if column not in table.columns:
        hint = closest(column, table.columns)
        raise DataError(f"{option} names {column!r}, but {name} has no such column{hint}")


def lines_of(name: str, start: int) -> Place:
    """Where row `at` of a chunk stands in its file."""
    return lambda at: f"{name} line {start + at + 2}"


@contextmanager
def _frames(
    origin: Single, size: int, *, keep: bool = False
) -> Iterator[tuple[Iterator[pd.DataFrame | Fault], Form]]:
    """The rows of a table, `size` at a time, and the form they were in.

    With `keep`, the rows before a broken line come before its error, also if they are fewer.
    """
    name = named(origin)
    with _broken(name), _opened(origin) as (file, form):
        frames: Generator[pd.DataFrame | Fault]
        if form in ("parquet", "arrow"):
            frames = binary_chunks(file, form, name, size)
        else:
            frames = (_csv if form == "csv" else _jsonl)(file, name, size, keep=keep)
        with closing(frames):
            yield frames, form


@contextmanager
def _opened(origin: Single) -> Iterator[tuple[IO[bytes], Form]]:
    """The bytes of a table, unpacked, and the form they are in."""
    if isinstance(origin, str | Path):
        with Path(origin).open("rb") as file:
            yield from _unpacked(file, named(origin))
    else:
        yield from _unpacked(origin, named(origin))


def _unpacked(file: IO[bytes], name: str) -> Iterator[tuple[IO[bytes], Form]]:
    buffered = file if hasattr(file, "peek") else io.BufferedReader(cast("Any", file))
    if cast("Any", buffered).peek(4)[:2] == GZIP:
        buffered = cast("IO[bytes]", gzip.GzipFile(fileobj=buffered))
    head = cast("Any", buffered).peek(4)[:4]
    if not head:
        raise DataError(f"{name} is empty")
    form = MAGIC.get(head)
    if form is None:
        form = "jsonl" if head.lstrip()[:1] == b"{" else "csv"
    yield buffered, form


@contextmanager
def _broken(name: str) -> Iterator[None]:
    """Says what is wrong with a file that cannot be read."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise DataError(
            f"{name} is neither UTF-8 text nor a Parquet or Arrow file: {error}"
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataError(f"{name} is not a whole gzip file: {error}") from error


def _refuse_damaged(file: Single) -> None:
    """Raise for a gzip file with wrong bytes: its checksum stands behind the rows they are in."""
    with _broken(named(file)), suppress(EOFError), _opened(file) as (unpacked, _):
        packed = isinstance(cast("Any", unpacked), gzip.GzipFile)
        while packed and unpacked.read(1 << 20):
            pass


@contextmanager
def _text(file: IO[bytes]) -> Iterator[io.TextIOWrapper]:
    """The bytes of a file as text; closing them stays with who opened them."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        yield text
    finally:
        text.detach()


def _parts(rows: Iterator[Part], size: int, *, keep: bool) -> Iterator[list[Part]]:
    """Rows in lists of `size`; with `keep`, those before an error come before it."""
    part: list[Part] = []
    try:
        for row in rows:
            part.append(row)
            if len(part) == size:
                yield part
                part = []
    except Exception:
        if keep and part:
            yield part
        raise
    if part:
        yield part


def _csv(file: IO[bytes], name: str, size: int, *, keep: bool) -> Generator[pd.DataFrame | Fault]:
    with _text(file) as text:
        yield from _csv_lines(text, name, size, keep=keep)


def _csv_lines(
    text: io.TextIOWrapper, name: str, size: int, *, keep: bool
) -> Iterator[pd.DataFrame]:
    first = text.readline()
    mark = max(",;\t", key=first.count)
    records = csv.reader(chain([first], text), delimiter=mark, strict=True)
    try:
        head = next(records)
        rows = (
            _as_wide(cells, head, f"{name} line {records.line_num}") for cells in records if cells
        )
        parts = _parts(rows, size, keep=keep)
        yield _texts(next(parts, []), head)
        for part in parts:
            yield _texts(part, head)
    except csv.Error as error:
        raise DataError(
            f"{name} line {records.line_num}: the file was cut off, or a quote is open: {error}"
        ) from error


def _as_wide(cells: list[str], head: list[str], place: str) -> list[str]:
    """A line with too few cells is a file cut off, not a row of missing values."""
    if len(cells) != len(head):
        raise DataError(
            f"{place} has {len(cells)} cells, the header has {len(head)}: "
            "the file was cut off, or the line is broken"
        )
    return cells


def _texts(rows: list[list[str]], head: list[str]) -> pd.DataFrame:
    columns = [pd.Series(cells, dtype=str) for cells in zip(*rows, strict=True)] if rows else []
    columns = columns or [pd.Series(dtype=str) for _ in head]
    return pd.concat(columns, axis=1, keys=head) if columns else pd.DataFrame()


def _jsonl(file: IO[bytes], name: str, size: int, *, keep: bool) -> Generator[pd.DataFrame | Fault]:
    with _text(file) as text:
        yield from _json_lines(text, name, size, keep=keep)


def _json_lines(
    text: io.TextIOWrapper, name: str, size: int, *, keep: bool
) -> Iterator[pd.DataFrame]:
    lines = enumerate(text, 1)
    records = (_record(line, f"{name} line {at}") for at, line in lines if line.strip())
    first = next(records)
    checked = (_same_keys(record, first[1], place) for place, record in records)
    for part in _parts(chain([first[1]], checked), size, keep=keep):
        yield pd.DataFrame({key: _cells([record[key] for record in part]) for key in first[1]})


def _cells(values: list[Any]) -> Any:
    """Whole numbers stay whole beside a missing one."""
    if set(map(type, values)) != {int, type(None)}:
        return values
    try:
        return pd.array(values, dtype="Int64")
    except OverflowError:
        return values


def _record(line: str, place: str) -> tuple[str, dict[str, Any]]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise DataError(f"{place} is not whole JSON: {error}") from error
    if not isinstance(record, dict):
        raise DataError(f'{place} is no object such as {{"age": 40}}')
    return place, record


def _same_keys(record: dict[str, Any], first: dict[str, Any], place: str) -> dict[str, Any]:
    if record.keys() != first.keys():
        other = min(record.keys() ^ first.keys())
        has = "has a cell" if other in record else "has no cell"
        raise DataError(f"{place} {has} {other!r}, unlike the first line")
    return record


def _typed(
    frame: pd.DataFrame, columns: Sequence[Column], form: Form, place: Place, *, strict: bool
) -> pd.DataFrame:
    """The columns known from training in their types; others as they are."""
    known = [(frame[column.name], column) for column in columns if column.name in frame]
    if form == "jsonl":
        typed = {c.name: as_numbers(cells, c) for cells, c in known if cells.dtype.kind in "iuf"}
        known = [(cells, column) for cells, column in known if column.kind == "datetime"]
    else:
        typed = {}
    read = {c.name: as_trained(cells, c, place, strict=strict) for cells, c in known}
    return frame.assign(**typed, **read)


def _numbered(frame: pd.DataFrame, columns: Sequence[Column]) -> pd.DataFrame:
    """Decimals of columns that were trained on numbers as numbers."""
    plain = [c.name for c in columns if c.storage.numbers.kind in "iuf" and c.name in frame]
    loose = [name for name in plain if frame[name].dtype == object]
    decimal = [name for name in loose if set(map(type, frame[name].dropna())) == {Decimal}]
    return frame.assign(**{name: frame[name].astype(np.float64) for name in decimal})
