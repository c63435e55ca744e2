"""Tables from files: CSV, Parquet, Arrow and JSON lines, told apart by their content.

A table is read whole (the training rows) or in chunks (the rows to explain). What is broken is said
with its line; a row group that is broken is left out, and one file of several. A stream, such as
standard input, is read once.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any, Literal, TypeVar, cast

import pandas as pd

from macex.errors import DataError, closest
from macex.scale.binary import arrow_module, binary_chunks, column_type, undecimal, whole
from macex.scale.places import is_url, opened
from macex.scale.sources import Origin, RowFault, Single, SourceRows, files_of, folder_values, named
from macex.scale.text import as_numbers, as_trained, csv_frames, inferred, json_frames, parsed_times
from macex.schema import Column, Datetime, Kind

Form = Literal["csv", "parquet", "arrow", "jsonl"]

MAGIC: dict[bytes, Form] = {b"PAR1": "parquet", b"ARRO": "arrow"}
Part = TypeVar("Part")
GZIP = b"\x1f\x8b"
READ_WHOLE = 65_536


@dataclass(frozen=True)
class Chunk:
    """Some rows as they stand in a file; `start` counts rows of the origin, `first` of the file.

    `told` are columns that the folders of the file say. Rows that were taken out of others have
    `offsets`, which count from `start` and `first`.
    """

    frame: pd.DataFrame
    form: Form
    name: str
    start: int
    first: int
    lines: Sequence[int] | None = None
    told: frozenset[str] = frozenset()
    offsets: Sequence[int] | None = None

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return len(self.frame)

    @property
    def numbers(self) -> Sequence[int]:
        """The numbers of the rows in the origin."""
        if self.offsets is None:
            return range(self.start, self.start + self.rows)
        return [self.start + offset for offset in self.offsets]

    def take(self, places: Sequence[int]) -> Chunk:
        """Some of its rows."""
        lines = None if self.lines is None else [self.lines[at] for at in places]
        offsets = [number - self.start for number in map(self.numbers.__getitem__, places)]
        return replace(self, frame=self.frame.iloc[list(places)], lines=lines, offsets=offsets)

    def goes_before(self, other: Chunk) -> bool:
        """Whether another chunk has rows of the same file."""
        mine, others = (
            (one.name, one.form, one.told, one.start - one.first) for one in (self, other)
        )
        return mine == others

    def joined(self, other: Chunk) -> Chunk:
        """Its rows, and behind them those of another chunk of the file."""
        frame = pd.concat([self.frame, other.frame], ignore_index=True)
        lines = None if self.lines is None else [*self.lines, *(other.lines or ())]
        offsets = [number - self.start for number in (*self.numbers, *other.numbers)]
        return replace(self, frame=frame, lines=lines, offsets=offsets)

    def typed(
        self, columns: Sequence[Column], *, drop: Sequence[str] = (), strict: bool = True
    ) -> pd.DataFrame:
        """The rows with the types of `columns`; the index counts the rows of the origin.

        A cell of a text file that is not such a value is an error, or is left as text.
        """
        kept = dropped(self.frame, drop, self.name)
        for column in columns:
            if column.name in kept:
                kept[column.name] = self._typed(kept[column.name], column, strict=strict)
        kept.index = pd.Index(self.numbers)
        return kept

    def _typed(self, cells: pd.Series, column: Column, *, strict: bool) -> pd.Series:
        text = self.form == "csv" or column.name in self.told
        if text or (self.form == "jsonl" and column.kind == "datetime"):
            return as_trained(cells, column, self.place, strict=strict)
        if self.form == "jsonl":
            return as_numbers(cells, column)
        return undecimal(cells, column)

    def place(self, at: int) -> str:
        """Where a row of the chunk stands."""
        if self.lines is not None:
            return f"{self.name} line {self.lines[at]}"
        return f"{self.name} row {self.first + self.numbers[at] - self.start}"


def read_table(
    origin: Origin, *, drop: Sequence[str] = (), dates: Sequence[str] = ()
) -> pd.DataFrame:
    """A whole table, each column as its cells look; `dates` are columns of points in time.

    What the folders of its files say are columns, too.
    """
    name, chunks = named(origin), _all_chunks(origin)
    form, told = chunks[0].form, chunks[0].told
    joined = pd.concat([chunk.frame for chunk in chunks], ignore_index=True)
    table = dropped(joined, drop, name)
    if dates:
        lines = [line for chunk in chunks for line in chunk.lines or ()]
        place = Chunk(table, form, name, 0, 0, lines or None).place
        for column in [column for column in dates if column in table]:
            table[column] = parsed_times(table[column], column, place)
    if form in ("parquet", "arrow") and not told:
        return table
    looks = {"csv": inferred, "jsonl": _as_listed}
    cells = {column: table[column] for column in table.columns}
    for column, held in cells.items():
        look = inferred if column in told else looks.get(form)
        cells[column] = held if look is None or column in dates else look(held)
    return pd.DataFrame(cells)


def date_columns(kinds: Mapping[str, Kind]) -> list[str]:
    """The columns that are stated to be points in time."""
    return [name for name, kind in kinds.items() if isinstance(kind, Datetime)]


def _all_chunks(origin: Origin) -> list[Chunk]:
    """All rows of all files, which must be tables alike."""
    found: list[Chunk] = []
    files = files_of(origin)
    for file in files:
        told = folder_values(file) if len(files) > 1 else {}
        parts = _file_chunks(file, READ_WHOLE, 0, keep=False)
        found += [_with_told(_sound(part), told) for part in parts]
        first, last = found[0], found[-1]
        if (last.form, *last.frame.columns) != (first.form, *first.frame.columns):
            raise DataError(
                f"{last.name} has another form or other columns than {first.name}: "
                "files of one table are alike"
            )
    return found


def _as_listed(cells: pd.Series) -> pd.Series:
    """Whole numbers and fractions are one kind of number where all rows are known."""
    return pd.Series(list(cells)) if cells.dtype == object else cells


def read_chunks(
    origin: Origin, columns: Sequence[Column], size: int, *, drop: Sequence[str] = ()
) -> Iterator[pd.DataFrame]:
    """The rows of a table in frames of `size`, typed like `columns`; at least one frame.

    The index counts the rows of the table from 0.
    """
    for chunk in raw_chunks(origin, size, strict=True):
        if isinstance(chunk, Chunk):
            yield chunk.typed(columns, drop=drop)


def raw_chunks(
    origin: Origin,
    size: int,
    *,
    strict: bool = False,
    wanted: Collection[str] = (),
    start: int = 0,
) -> Iterator[Chunk | RowFault]:
    """The rows of all files of an origin, at most `size` at a time, and what cannot be read.

    A file that is not a table is an error if it is the only one, or if `strict`. Of one of several,
    the rows before the line that is broken are read. The columns `wanted` may be told by folders.
    """
    files = files_of(origin)
    keep = not strict and len(files) > 1
    for file in files:
        told = {name: value for name, value in folder_values(file).items() if name in wanted}
        try:
            for part in _file_chunks(file, size, start, keep=keep):
                whole = _sound(part) if strict else part
                yield whole if isinstance(whole, RowFault) else _with_told(whole, told)
                start += part.rows
        except (DataError, FileNotFoundError, PermissionError) as error:
            if not keep:
                raise
            said = error.strerror if isinstance(error, OSError) else error
            yield RowFault(named(file), f"{said}; what follows in this file is left out")


def _with_told(chunk: Chunk, told: Mapping[str, str]) -> Chunk:
    """A chunk with the columns that its folders tell; what stands in the file comes first."""
    new = {name: value for name, value in told.items() if name not in chunk.frame}
    if not new:
        return chunk
    cells = {name: pd.Series([value] * chunk.rows, dtype=str) for name, value in new.items()}
    beside = pd.DataFrame(cells, index=chunk.frame.index)
    frame = pd.concat([chunk.frame, beside], axis=1)
    return replace(chunk, frame=frame, told=frozenset(new))


def _file_chunks(file: Single, size: int, start: int, *, keep: bool) -> Iterator[Chunk | RowFault]:
    name, first = named(file), 0
    if keep:
        _refuse_damaged(file)
    with _frames(file, size, keep=keep) as (frames, form):
        for part in frames:
            if isinstance(part, RowFault):
                yield part
                first += part.rows
            else:
                yield Chunk(part.frame, form, name, start + first, first, part.lines)
                first += len(part.frame)


def _sound(part: Part | RowFault) -> Part:
    if isinstance(part, RowFault):
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
        if form == "arrow" or is_url(origin):
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


@contextmanager
def _frames(
    origin: Single, size: int, *, keep: bool = False
) -> Iterator[tuple[Iterator[SourceRows | RowFault], Form]]:
    """The rows of a table, `size` at a time, and the form they were in.

    With `keep`, the rows before a broken line come before its error, also if they are fewer.
    """
    name = named(origin)
    with _broken(name), _opened(origin) as (file, form):
        frames: Generator[SourceRows | RowFault]
        if form in ("parquet", "arrow"):
            frames = binary_chunks(file, form, name, size)
        else:
            frames = (csv_frames if form == "csv" else json_frames)(file, name, size, keep=keep)
        with closing(frames):
            yield frames, form


@contextmanager
def _opened(origin: Single) -> Iterator[tuple[IO[bytes], Form]]:
    """The bytes of a table, unpacked, and the form they are in."""
    if isinstance(origin, str | Path):
        with opened(origin) as file:
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
