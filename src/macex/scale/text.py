"""CSV and JSON lines: rows in frames, each with the line it stands on, and their cells as values.

Cells of text are what they look like, or what training says they are.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any, TypeVar

import numpy as np
import pandas as pd

from macex.errors import DataError
from macex.scale.sources import SourceRows
from macex.schema import Column
from macex.schema.columns import EXACT

MISSING_WORDS = frozenset(
    {"", "NA", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "<NA>", "NULL", "null", "None"}
    | {"NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
)
TRUTH = {"True": True, "TRUE": True, "true": True, "False": False, "FALSE": False, "false": False}
Place = Callable[[int], str]


def inferred(cells: pd.Series) -> pd.Series:
    """Text as whole numbers, numbers, truth values or words, whichever fits every cell.

    >>> inferred(pd.Series(["1", "2", ""])).tolist(), inferred(pd.Series(["1", "b"])).tolist()
    ([1.0, 2.0, nan], ['1', 'b'])
    """
    there = ~cells.isin(MISSING_WORDS)
    words = cells.to_numpy(dtype=object)[there]
    if not len(words):
        return pd.Series(np.nan, index=cells.index)
    for kind in (np.int64, np.float64):
        try:
            return _spread(words.astype(kind), there)
        except (ValueError, OverflowError):
            continue
    if set(words) <= TRUTH.keys():
        return _spread(np.array([TRUTH[word] for word in words]), there)
    return cells.where(there)


def as_trained(cells: pd.Series, column: Column, place: Place, *, strict: bool = True) -> pd.Series:
    """Text as the values that a column has in training; `place` says where a row stands.

    Text that is not such a value is an error, or stays text where not `strict`.
    """
    try:
        return _trained(cells, column, place)
    except DataError:
        if strict:
            raise
    values = [_trained_cell(cell, column) for cell in cells]
    return pd.Series(values, index=cells.index, dtype=object)


def _trained_cell(cell: object, column: Column) -> object:
    try:
        return _trained(pd.Series([cell]), column, lambda _: "").iloc[0]
    except DataError:
        return cell


def _trained(cells: pd.Series, column: Column, place: Place) -> pd.Series:
    there = ~cells.isin(MISSING_WORDS)
    words = cells.to_numpy(dtype=object)[there]
    family = column.storage.numbers.kind
    if family in "iuf":
        numbers = _numbers(words, np.flatnonzero(there), column, place)
        return _whole(numbers, there) if numbers.dtype.kind == "i" else _spread(numbers, there)
    if family in "mM":
        return _times(cells.where(there), column, place)
    known: Mapping[str, object] = TRUTH if family == "b" else {}
    if family not in "bmMiuf" and not column.types <= {str}:
        known = {str(value): value for value in column.table}
    if not known:
        return cells.where(there)
    values = [known.get(word, word) for word in words]
    return _spread(np.array(values, dtype=object), there).infer_objects()


def parsed_times(cells: pd.Series, column: str, place: Place, *, utc: bool = False) -> pd.Series:
    """Text as points in time; with `utc` they may be of several time zones."""
    try:
        return pd.to_datetime(cells, format="ISO8601", utc=utc)
    except (ValueError, TypeError):
        read = pd.to_datetime(cells, format="ISO8601", errors="coerce", utc=True)
        raise _misread(
            cells, read, f"column {column!r}", place, "date such as 2024-02-01"
        ) from None


def _misread(cells: pd.Series, read: Any, name: str, place: Place, what: str) -> DataError:
    """The error for the first cell that could not be read."""
    bad = np.flatnonzero(read.isna() & cells.notna())
    if not len(bad):
        return DataError(f"{place(0)}: {name} has times of several time zones; write them in one")
    at = int(bad[0])
    return DataError(f"{place(at)}: {name} holds {cells.iloc[at]!r}, which is not a {what}")


def _times(cells: pd.Series, column: Column, place: Place) -> pd.Series:
    zone, name = column.storage.zone, f"column {column.name!r}"
    if column.storage.numbers.kind == "m":
        try:
            return pd.to_timedelta(cells)
        except ValueError:
            read = pd.to_timedelta(cells, errors="coerce")
            raise _misread(cells, read, name, place, "duration such as 2 days") from None
    moments = parsed_times(cells, column.name, place, utc=bool(zone))
    return moments.dt.tz_convert(zone) if zone else moments


def _numbers(words: Any, rows: Any, column: Column, place: Place) -> Any:
    if column.integer:
        try:
            return words.astype(np.int64)
        except (ValueError, OverflowError):
            pass
    try:
        numbers = words.astype(np.float64)
    except ValueError:
        at = next(at for at, word in enumerate(words) if not _is_number(word))
        raise DataError(
            f"{place(int(rows[at]))}: column {column.name!r} holds {words[at]!r}, "
            "which is not a number"
        ) from None
    if not column.integer:
        return numbers
    whole = _are_whole(numbers)
    if whole.all():
        return numbers.astype(np.int64)
    return np.array([int(n) if w else n for n, w in zip(numbers, whole, strict=True)], object)


def _are_whole(numbers: Any) -> Any:
    return (np.abs(numbers) < EXACT) & (np.floor(numbers) == numbers)


def as_numbers(cells: pd.Series, column: Column) -> pd.Series:
    """Numbers of a JSON file as training has them, so that no cell changes another's look."""
    wanted, held = column.storage.numbers.kind, cells.dtype.kind
    if wanted == "f" and held in "iuf":
        return cells.astype(np.float64)
    if wanted not in "iuf" or (wanted in "iu" and held in "iu"):
        return cells
    turned = _as_fraction if wanted == "f" else _as_whole
    values = [turned(cell) for cell in cells]
    plain = all(type(value) is (float if wanted == "f" else int) for value in values)
    return pd.Series(values, index=cells.index, dtype=None if plain else object)


def _as_fraction(cell: object) -> object:
    try:
        return float(cell) if type(cell) is int else cell
    except OverflowError:
        return cell


def _as_whole(cell: object) -> object:
    return int(cell) if isinstance(cell, float) and _are_whole(cell) else cell


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _whole(values: Any, there: pd.Series) -> pd.Series:
    """Whole numbers, which stay whole beside a missing one."""
    if there.all():
        return pd.Series(values, index=there.index)
    return pd.Series(values, index=there.index[there], dtype="Int64").reindex(there.index)


def _spread(values: Any, there: pd.Series) -> pd.Series:
    """Values of the cells that are there, and missing ones for the rest."""
    if there.all():
        return pd.Series(values, index=there.index)
    blank = values.astype(np.float64) if values.dtype.kind in "iu" else values
    kept = pd.Series(blank, index=there.index[there])
    if values.dtype.kind in "bO":
        kept = kept.astype(object)
    return kept.reindex(there.index)


Cells = TypeVar("Cells")
NUMBERS = {int, float, type(None)}


def csv_frames(file: IO[bytes], name: str, size: int, *, keep: bool) -> Generator[SourceRows]:
    """Rows of text, `size` at a time; with `keep`, those before a broken line come before it."""
    with _text(file) as text:
        first = text.readline()
        mark = max(",;\t", key=first.count)
        records = csv.reader(chain([first], text), delimiter=mark, strict=True)
        try:
            head = next(records)
            rows = _csv_rows(records, len(head), name)
            yield from _frames(rows, size, lambda part: _texts(part, head), keep=keep)
        except csv.Error as error:
            raise DataError(
                f"{name} line {records.line_num}: the file was cut off, or a quote is open: {error}"
            ) from error


def json_frames(file: IO[bytes], name: str, size: int, *, keep: bool) -> Generator[SourceRows]:
    """Rows of values, likewise."""
    with _text(file) as text:
        rows = _json_rows(text, name)
        yield from _frames(rows, size, _values, keep=keep)


@contextmanager
def _text(file: IO[bytes]) -> Iterator[io.TextIOWrapper]:
    """The bytes of a file as text; closing them stays with who opened them."""
    text = io.TextIOWrapper(file, encoding="utf-8-sig", newline="")
    try:
        yield text
    finally:
        text.detach()


def _frames(
    rows: Iterator[tuple[int, Cells]],
    size: int,
    framed: Callable[[list[Cells]], pd.DataFrame],
    *,
    keep: bool,
) -> Iterator[SourceRows]:
    """Rows in frames of `size`, one at least; with `keep`, those before an error come before it."""
    some, part, at = False, [], []
    try:
        for line, row in rows:
            part.append(row)
            at.append(line)
            if len(part) == size:
                yield SourceRows(framed(part), at)
                some, part, at = True, [], []
    except Exception:
        if keep and part:
            yield SourceRows(framed(part), at)
        raise
    if part or not some:
        yield SourceRows(framed(part), at)


def _csv_rows(records: Any, width: int, name: str) -> Iterator[tuple[int, list[str]]]:
    """A line with too few cells is a file cut off, not a row of missing values."""
    line = records.line_num + 1
    for cells in records:
        if cells and len(cells) != width:
            raise DataError(
                f"{name} line {line} has {len(cells)} cells, the header has {width}: "
                "the file was cut off, or the line is broken"
            )
        if cells:
            yield line, cells
        line = records.line_num + 1


def _texts(rows: list[list[str]], head: list[str]) -> pd.DataFrame:
    columns = [pd.Series(cells, dtype=str) for cells in zip(*rows, strict=True)] if rows else []
    columns = columns or [pd.Series(dtype=str) for _ in head]
    return pd.concat(columns, axis=1, keys=head) if columns else pd.DataFrame()


def _json_rows(text: io.TextIOWrapper, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every line has the cells of the first."""
    first = None
    for at, line in enumerate(text, 1):
        if line.strip():
            record = _record(line, f"{name} line {at}")
            if first is None:
                first = record
            if record.keys() != first.keys():
                other = min(record.keys() ^ first.keys())
                has = "has a cell" if other in record else "has no cell"
                raise DataError(f"{name} line {at} {has} {other!r}, unlike the first line")
            yield at, record


def _record(line: str, place: str) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except ValueError as error:
        raise DataError(f"{place} is not whole JSON: {error}") from error
    if not isinstance(record, dict):
        raise DataError(f'{place} is not an object such as {{"age": 40}}')
    return record


def _values(records: list[dict[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame({key: _cells([record[key] for record in records]) for key in records[0]})


def _cells(values: list[Any]) -> Any:
    """Whole numbers stay whole beside a missing one, and beside a fraction."""
    kinds = set(map(type, values))
    if int not in kinds or len(kinds) == 1 or not kinds <= NUMBERS:
        return values
    try:
        return pd.array(values, dtype="object" if float in kinds else "Int64")
    except OverflowError:
        return values
