"""CSV and JSON lines: rows in frames, each with the line it stands on."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import IO, Any, TypeVar

import pandas as pd

from macex.errors import DataError
from macex.scale.sources import SourceRows

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
