"""The forms in which explanations are written to a file, part by part.

A form turns the explanations of one chunk into bytes and joins the bytes of all chunks to one
file. Nothing that differs from run to run is written: no time and no cost, so that a run that was
interrupted ends in the same bytes as one that was not.
"""

from __future__ import annotations

import gzip
import io
import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar
from urllib.parse import quote

import numpy as np
import pandas as pd

from macex.errors import DataError, OptionError, closest
from macex.explanation import Explanations
from macex.explanation.json import BATCH_FORMAT, explanations_document, plain
from macex.render.exports import csv_text
from macex.scale.binary import arrow_module
from macex.scale.layout import AnswerField, Layout
from macex.scale.places import Place
from macex.scale.readers import Chunk, declared_type, raw_chunks
from macex.scale.sources import MISSING_VALUE, Origin, files_of, folder_values

Numbers = Sequence[int]  # of the rows of a part among all rows
LABEL = "cf.label"  # whole numbers stay whole beside a row without a label
ALL = "*"


@dataclass(frozen=True)
class Form(ABC):
    """How explanations are written; `changes` asks for one line per change.

    `index` is what the columns are called that name the rows; `layout` is needed by forms with
    typed columns, and `names` has the Arrow types of those columns, where they are known.
    `formula_safe` keeps spreadsheets from running the text of a CSV file. `compression` is how the
    bytes are packed. `divided` names columns whose values are folders instead.
    """

    changes: bool = False
    index: tuple[str, ...] = ()
    layout: Layout | None = None
    names: Mapping[str, Any] = field(default_factory=dict)
    formula_safe: bool = True
    compression: str | None = None
    divided: tuple[str, ...] = ()
    tail: ClassVar[bytes] = b""
    streams: ClassVar[bool] = True
    codecs: ClassVar[tuple[str, ...]] = ("gzip",)

    def __post_init__(self) -> None:
        """Refuse what the form cannot do."""
        kind = type(self).__name__.upper()
        if self.compression not in (None, *self.codecs):
            raise OptionError(
                f"compression of {kind} is {' or '.join(self.codecs)}, not {self.compression!r}"
            )
        if self.divided and kind != "PARQUET":
            raise OptionError(
                "partition_by= is for a folder of Parquet: name out without an ending"
            )
        known = {
            *self.index,
            *(() if self.layout is None else (f.name for f in self.layout.fields)),
        }
        for name in self.divided:
            if name not in known:
                raise OptionError(
                    f"partition_by= names {name!r}, which the answers do not have"
                    f"{closest(name, sorted(known))}"
                )

    @property
    def end(self) -> bytes:
        """What stands behind the last part."""
        return self._packed(self.tail)

    def files(self, found: Explanations, rows: Numbers, *, head: bool = True) -> dict[str, bytes]:
        """The files that a part is written to, by the folder they go to."""
        return {"": self._packed(self.part(found, rows, head=head))}

    def _packed(self, content: bytes) -> bytes:
        """Bytes packed by themselves: packed ones behind each other unpack to all of them."""
        packs = self.compression == "gzip" and content
        return gzip.compress(content, mtime=0) if packs else content

    @abstractmethod
    def part(self, found: Explanations, rows: Numbers, *, head: bool = True) -> bytes:
        """The explanations of rows by their numbers; the first part comes with the head."""

    def join(self, parts: Sequence[Place], out: IO[bytes]) -> None:
        """All parts in one file."""
        for place in parts:
            with place.opened() as part:
                shutil.copyfileobj(part, out, 1 << 20)
        out.write(self.end)

    def table(self, found: Explanations, rows: Numbers) -> pd.DataFrame:
        """The explanations as a frame whose `cf.row` counts the rows of the whole file."""
        frame = found.to_changes() if self.changes else found.to_frame()
        table = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
        if self.index:
            table = table.reset_index(drop=True)
            for at, (name, names) in enumerate(self.named(found).items()):
                table.insert(at, name, [names[row] for row in table["cf.row"]])
        table["cf.row"] = np.asarray(rows, int)[table["cf.row"]]
        if self.layout is not None and LABEL in table:
            table[LABEL] = self.layout.column(table, LABEL)
        return table

    def named(self, found: Explanations) -> dict[str, list[Any]]:
        """What the rows are called, by the columns that name them."""
        names: list[Any] = [explanation.source.id for explanation in found]
        if len(self.index) == 1:
            return {self.index[0]: names}
        return {name: [one[at] for one in names] for at, name in enumerate(self.index)}


class Csv(Form):
    """One line per counterfactual, or per change, with a header."""

    def part(self, found: Explanations, rows: Numbers, *, head: bool = True) -> bytes:
        """Lines; the first part begins with the header."""
        table = self.table(found, rows)
        for one in self.layout.fields if self.layout else ():
            if one.kind in ("time", "span"):
                table[one.name] = _times(table[one.name], days=one.days)
        text = csv_text(table, formula_safe=self.formula_safe, head=head)
        return text.encode(errors="backslashreplace")


def _times(cells: pd.Series[Any], *, days: bool) -> list[str | None]:
    """Points and spans of time as text, each by itself and not like the others of its part."""
    texts = [
        None if missing else str(cell) for cell, missing in zip(cells, cells.isna(), strict=True)
    ]
    return [text and text.removesuffix(" 00:00:00") for text in texts] if days else texts


class Jsonl(Form):
    """One explanation a line."""

    def part(self, found: Explanations, rows: Numbers, *, head: bool = True) -> bytes:
        """Lines."""
        del rows, head
        return "".join(f"{text}\n" for text in self.texts(found)).encode(errors="backslashreplace")

    def texts(self, found: Explanations) -> list[str]:
        """Each explanation as JSON: the answer, and what the row is called."""
        document = explanations_document(found, {}, {}, canonical=True)
        named = self.named(found)
        for at, written in enumerate(document["explanations"] if named else ()):
            one = {name: plain(names[at]) for name, names in named.items()}
            written["id"] = one if len(one) > 1 else next(iter(one.values()))
        return [json.dumps(written, ensure_ascii=False) for written in document["explanations"]]


class Json(Jsonl):
    """One document of all explanations."""

    tail: ClassVar[bytes] = b"\n]}\n"

    def part(self, found: Explanations, rows: Numbers, *, head: bool = True) -> bytes:
        """Explanations, the first part with what stands before them all."""
        del rows
        texts = ",\n".join(self.texts(found))
        if not head:
            return f",\n{texts}".encode(errors="backslashreplace")
        around = {"format": BATCH_FORMAT, "meta": plain(found.meta), "names": plain(found.names)}
        before = json.dumps(around, ensure_ascii=False).removesuffix("}")
        return f'{before}, "explanations": [\n{texts}'.encode(errors="backslashreplace")


class Parquet(Form):
    """One line per counterfactual, or per change, typed."""

    streams: ClassVar[bool] = False
    codecs: ClassVar[tuple[str, ...]] = ("snappy", "zstd", "gzip", "lz4", "brotli", "none")

    def part(self, found: Explanations, rows: Numbers, *, head: bool = True) -> bytes:
        """A Parquet file of its own, with the columns of the layout."""
        del head
        return self._file(self._content(found, rows))

    def files(self, found: Explanations, rows: Numbers, *, head: bool = True) -> dict[str, bytes]:
        """One file for each combination of values that are folders."""
        del head
        content = self._content(found, rows)
        if not self.divided:
            return {"": self._file(content)}
        kept = content.drop_columns(list(self.divided))
        if not len(kept):
            return {"": self._file(kept)}
        values = [map(folder_value, content[name].to_pylist()) for name in self.divided]
        places: dict[str, list[int]] = {}
        for row, parts in enumerate(zip(*values, strict=True)):
            within = "/".join(f"{n}={v}" for n, v in zip(self.divided, parts, strict=True))
            places.setdefault(within, []).append(row)
        return {within: self._file(kept.take(rows)) for within, rows in places.items()}

    def _file(self, content: Any) -> bytes:
        """A table as the bytes of a file."""
        packed, (_, parquet) = io.BytesIO(), _arrow()
        parquet.write_table(content, packed, compression=self.compression or "snappy")
        return packed.getvalue()

    def _content(self, found: Explanations, rows: Numbers) -> Any:
        """The typed table."""
        arrow, _ = _arrow()
        table = self.table(found, rows)
        if self.layout is None:
            raise TypeError("typed columns need a layout")
        typed = self.layout.typed(table)
        fields = [arrow.field(field.name, _type(arrow, field)) for field in self.layout.fields]
        for at, name in enumerate(self.index):
            known = self.names.get(name)
            typed.insert(at, name, table[name] if known is None else table[name].astype(object))
            fields.insert(at, arrow.field(name, self._names_type(typed[name], known)))
        content = arrow.Table.from_pandas(typed, arrow.schema(fields), preserve_index=False)
        return content.replace_schema_metadata(None)

    def _names_type(self, names: pd.Series[Any], known: Any) -> Any:
        """The type of all names, or of those of a part that do not fit it."""
        arrow, _ = _arrow()
        try:
            return arrow.Array.from_pandas(names, type=known).type
        except (arrow.ArrowException, TypeError, ValueError, OverflowError):
            return arrow.Array.from_pandas(names).type

    def join(self, parts: Sequence[Place], out: IO[bytes]) -> None:
        """One row group a part; a name may be of another type in another part."""
        _, parquet = _arrow()
        schemas = []
        for part in parts:
            with part.opened() as file:
                schemas.append(parquet.read_schema(file).remove_metadata())
        schema = self._joined(schemas)
        with parquet.ParquetWriter(out, schema, compression=self.compression or "snappy") as writer:
            for part in parts:
                with part.opened() as file:
                    writer.write_table(parquet.ParquetFile(file).read().cast(schema))

    def _joined(self, schemas: list[Any]) -> Any:
        """The columns of all parts; names of types that do not go together are text."""
        arrow, _ = _arrow()
        try:
            return arrow.unify_schemas(schemas, promote_options="permissive")
        except arrow.ArrowException:
            text = [arrow.field(name, arrow.string()) for name in self.index]
            for at, field_ in enumerate(text):
                if len({schema.field(at).type for schema in schemas}) > 1:
                    schemas = [schema.set(at, field_) for schema in schemas]
            return schemas[0]


def folder_value(value: object) -> str:
    """A value as the name of a folder says it, as in Hive.

    >>> folder_value("north/west"), folder_value(None)
    ('north%2Fwest', '__HIVE_DEFAULT_PARTITION__')
    """
    return MISSING_VALUE if value is None else quote(str(value), safe=" ")


def _type(arrow: Any, field: AnswerField) -> Any:
    kinds = {
        "whole": arrow.int64(),
        "number": arrow.float64(),
        "truth": arrow.bool_(),
        "text": arrow.string(),
        "time": arrow.timestamp(field.unit, field.zone or None),
        "span": arrow.duration(field.unit),
    }
    return kinds[field.kind]


FORMS: dict[str, type[Form]] = {"csv": Csv, "json": Json, "jsonl": Jsonl, "parquet": Parquet}


def form_named(name: str) -> type[Form]:
    """The form that the ending of a file means."""
    if name not in FORMS:
        raise OptionError(
            f"there is no output form {name!r}: end the name of the file in "
            f".csv, .json, .jsonl, .parquet or .html{closest(name, FORMS)}"
        )
    return FORMS[name]


def _arrow() -> tuple[Any, Any]:
    try:
        import pyarrow as pa
        from pyarrow import parquet
    except ImportError as error:
        raise OptionError("Parquet files need pyarrow: pip install macex[files]") from error
    return pa, parquet


def index_named(
    index: str | Sequence[str] | None, origin: Origin, other: Collection[str]
) -> tuple[str, ...]:
    """The columns that name the rows; `"*"` is all that are none of the `other` ones."""
    if index is None:
        return ()
    if index not in (ALL, (ALL,), [ALL]):
        return (index,) if isinstance(index, str) else tuple(index)
    file = files_of(origin)[0]
    if not isinstance(file, str | Path):
        raise OptionError("--id '*' (index=) needs files: a stream is read once, so name columns")
    found = next(raw_chunks(file, 1))
    told = folder_values(file)
    columns = [*map(str, found.frame.columns), *told] if isinstance(found, Chunk) else [*told]
    return tuple(dict.fromkeys(name for name in columns if name not in other))


def names_types(origin: Origin, index: Sequence[str]) -> dict[str, Any]:
    """The Arrow types of the columns that name the rows, where files declare them."""
    known = {name: names_type(origin, name) for name in index}
    return {name: kind for name, kind in known.items() if kind is not None}


def names_type(origin: Origin, column: str) -> Any:
    """The Arrow type that holds a column of all files; None where they declare none, or several.

    A file that cannot be read, or lacks the column, is said when its rows are read.
    """
    arrow, found = arrow_module("pyarrow"), []
    for file in files_of(origin):
        if not isinstance(file, str | Path):
            return None
        try:
            kind = declared_type(file, column)
        except (DataError, OSError):
            continue
        if kind is None:
            return None
        found.append(
            arrow.schema([(column, kind.value_type if arrow.types.is_dictionary(kind) else kind)])
        )
    try:
        joined = arrow.unify_schemas(found, promote_options="permissive").types
    except arrow.ArrowException:
        return None
    return joined[0] if joined and not arrow.types.is_null(joined[0]) else None
