"""Tables from files: CSV, Parquet, Arrow and JSON lines, told apart by their content.

A table is read whole (the training rows) or in chunks (the rows to explain). What is broken is said
with its line. A stream, such as standard input, is read once.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Literal, cast

import pandas as pd

from macex.errors import DataError, closest
from macex.scale.text import Place, as_trained, inferred, parsed_times
from macex.schema import Column

Form = Literal["csv", "parquet", "arrow", "jsonl"]
Origin = str | Path | IO[bytes]

MAGIC: dict[bytes, Form] = {b"PAR1": "parquet", b"ARRO": "arrow"}
GZIP = b"\x1f\x8b"
READ_WHOLE = 65_536


def read_table(
    origin: Origin, *, drop: Sequence[str] = (), dates: Sequence[str] = ()
) -> pd.DataFrame:
    """A whole table, each column as its cells look; `dates` are columns of points in time."""
    name = named(origin)
    with _frames(origin, READ_WHOLE) as (frames, form):
        table = dropped(pd.concat(list(frames), ignore_index=True), drop, name)
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
    name = named(origin)
    with _frames(origin, size) as (frames, form):
        start = 0
        for frame in frames:
            kept = dropped(frame, drop, name)
            if form in ("csv", "jsonl"):
                kept = _typed(kept, columns, form, lines_of(name, start))
            kept.index = pd.RangeIndex(start, start + len(kept))
            start += len(kept)
            yield kept


def count_rows(origin: Origin) -> int | None:
    """About how many rows a file has, for a progress bar; None for a stream."""
    if not isinstance(origin, str | Path):
        return None
    name = named(origin)
    with _broken(name), _opened(origin) as (file, form):
        if form == "parquet":
            with _whole(form, name):
                return int(_arrow("pyarrow.parquet").ParquetFile(file).metadata.num_rows)
        if form == "arrow":
            return None
        breaks = sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))
        return max(breaks - (form == "csv"), 0)


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


def named(origin: Origin) -> str:
    """What messages call a file."""
    return str(origin) if isinstance(origin, str | Path) else "standard input"


def lines_of(name: str, start: int) -> Place:
    """Where row `at` of a chunk stands in its file."""
    return lambda at: f"{name} line {start + at + 2}"


@contextmanager
def _frames(origin: Origin, size: int) -> Iterator[tuple[Iterator[pd.DataFrame], Form]]:
    """The rows of a table, `size` at a time, and the form they were in."""
    name = named(origin)
    with _broken(name), _opened(origin) as (file, form):
        if form in ("parquet", "arrow"):
            frames = _binary_chunks(file, form, name, size)
        else:
            frames = _csv(file, name, size) if form == "csv" else _jsonl(file, name, size)
        with closing(frames):
            yield frames, form


@contextmanager
def _opened(origin: Origin) -> Iterator[tuple[IO[bytes], Form]]:
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
    except (EOFError, gzip.BadGzipFile) as error:
        raise DataError(f"{name} is not a whole gzip file: {error}") from error


@contextmanager
def _text(file: IO[bytes]) -> Iterator[io.TextIOWrapper]:
    """The bytes of a file as text; closing them stays with who opened them."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        yield text
    finally:
        text.detach()


def _csv(file: IO[bytes], name: str, size: int) -> Generator[pd.DataFrame]:
    with _text(file) as text:
        yield from _csv_lines(text, name, size)


def _csv_lines(text: io.TextIOWrapper, name: str, size: int) -> Iterator[pd.DataFrame]:
    first = text.readline()
    mark = max(",;\t", key=first.count)
    records = csv.reader(chain([first], text), delimiter=mark, strict=True)
    try:
        head = next(records)
        rows = (
            _as_wide(cells, head, f"{name} line {records.line_num}") for cells in records if cells
        )
        part = list(islice(rows, size))
        yield _texts(part, head)
        while part := list(islice(rows, size)):
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


def _jsonl(file: IO[bytes], name: str, size: int) -> Generator[pd.DataFrame]:
    with _text(file) as text:
        yield from _json_lines(text, name, size)


def _json_lines(text: io.TextIOWrapper, name: str, size: int) -> Iterator[pd.DataFrame]:
    lines = enumerate(text, 1)
    records = (_record(line, f"{name} line {at}") for at, line in lines if line.strip())
    first = next(records)
    checked = (_same_keys(record, first[1], place) for place, record in records)
    left = chain([first[1]], checked)
    while part := list(islice(left, size)):
        yield pd.DataFrame({key: [record[key] for record in part] for key in first[1]})


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
    frame: pd.DataFrame, columns: Sequence[Column], form: Form, place: Place
) -> pd.DataFrame:
    """The columns known from training in their types; others as they are."""
    for column in columns:
        textual = form == "csv" or column.kind == "datetime"
        if textual and column.name in frame:
            frame[column.name] = as_trained(frame[column.name], column, place)
    return frame


def _arrow(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise DataError("Parquet and Arrow files need pyarrow: pip install macex[files]") from error


def _binary_chunks(file: IO[bytes], form: Form, name: str, size: int) -> Generator[pd.DataFrame]:
    source = file if file.seekable() else io.BytesIO(file.read())
    with _whole(form, name):
        batches, schema = _parquet(source, size) if form == "parquet" else _ipc(source)
        empty = True
        for batch in batches:
            for at in range(0, len(batch), size):
                empty = False
                yield batch.slice(at, size).to_pandas()
        if empty:
            yield schema.empty_table().to_pandas()


@contextmanager
def _whole(form: Form, name: str) -> Iterator[None]:
    """Says that a Parquet or Arrow file is broken."""
    arrow = _arrow("pyarrow")
    try:
        yield
    except (arrow.ArrowException, OSError) as error:
        raise DataError(f"{name} is not a whole {form.title()} file: {error}") from error


def _parquet(source: IO[bytes], size: int) -> tuple[Iterable[Any], Any]:
    file = _arrow("pyarrow.parquet").ParquetFile(source)
    return file.iter_batches(batch_size=size), file.schema_arrow


def _ipc(source: IO[bytes]) -> tuple[Iterable[Any], Any]:
    file = _arrow("pyarrow.ipc").open_file(source)
    return (file.get_batch(at) for at in range(file.num_record_batches)), file.schema
