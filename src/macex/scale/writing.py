"""The forms in which explanations are written to a file, part by part.

A form turns the explanations of one chunk into bytes and joins the bytes of all chunks to one
file. Nothing that differs from run to run is written: no time and no cost, so that a run that was
interrupted ends in the same bytes as one that was not.
"""

from __future__ import annotations

import io
import json
import shutil
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, ClassVar

import pandas as pd

from macex.errors import OptionError, closest
from macex.explanation import Explanations
from macex.explanation.json import BATCH_FORMAT, explanations_document, plain
from macex.render.exports import csv_text
from macex.scale.layout import AnswerField, Layout

LABEL = "cf.label"  # whole numbers stay whole beside a row without a label


@dataclass(frozen=True)
class Form(ABC):
    """How explanations are written; `changes` asks for one line per change.

    `index` is what the column is called that names the rows, None where they have no names;
    `layout` is needed by forms with typed columns, and `names` is the Arrow type of that column,
    where it is known. `formula_safe` keeps spreadsheets from running the text of a CSV file.
    """

    changes: bool = False
    index: str | None = None
    layout: Layout | None = None
    names: Any = None
    formula_safe: bool = True
    tail: ClassVar[bytes] = b""
    streams: ClassVar[bool] = True

    @abstractmethod
    def part(self, found: Explanations, start: int, *, head: bool = True) -> bytes:
        """The explanations of the rows from `start` on; the first part comes with the head."""

    def join(self, parts: Sequence[Path], out: IO[bytes]) -> None:
        """All parts in one file."""
        for path in parts:
            with path.open("rb") as part:
                shutil.copyfileobj(part, out, 1 << 20)
        out.write(self.tail)

    def table(self, found: Explanations, start: int) -> pd.DataFrame:
        """The explanations as a frame whose `cf.row` counts the rows of the whole file."""
        frame = found.to_changes() if self.changes else found.to_frame()
        table = frame if isinstance(frame, pd.DataFrame) else frame.to_pandas()
        if self.index is not None:
            names = [explanation.source.id for explanation in found]
            table = table.reset_index(drop=True)
            table.insert(0, self.index, [names[row] for row in table["cf.row"]])
        table["cf.row"] += start
        if self.layout is not None and LABEL in table:
            table[LABEL] = self.layout.column(table, LABEL)
        return table


class Csv(Form):
    """One line per counterfactual, or per change, with a header."""

    def part(self, found: Explanations, start: int, *, head: bool = True) -> bytes:
        """Lines; the first part begins with the header."""
        table = self.table(found, start)
        for field in self.layout.fields if self.layout else ():
            if field.kind in ("time", "span"):
                table[field.name] = _times(table[field.name], days=field.days)
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

    def part(self, found: Explanations, start: int, *, head: bool = True) -> bytes:
        """Lines."""
        del start, head
        return "".join(f"{text}\n" for text in self.texts(found)).encode(errors="backslashreplace")

    def texts(self, found: Explanations) -> list[str]:
        """Each explanation as JSON: the answer, and what the row is called."""
        document = explanations_document(found, {}, {}, canonical=True)
        if self.index is not None:
            for explanation, written in zip(found, document["explanations"], strict=True):
                written["id"] = plain(explanation.source.id)
        return [json.dumps(written, ensure_ascii=False) for written in document["explanations"]]


class Json(Jsonl):
    """One document of all explanations."""

    tail: ClassVar[bytes] = b"\n]}\n"

    def part(self, found: Explanations, start: int, *, head: bool = True) -> bytes:
        """Explanations, the first part with what stands before them all."""
        del start
        texts = ",\n".join(self.texts(found))
        if not head:
            return f",\n{texts}".encode(errors="backslashreplace")
        around = {"format": BATCH_FORMAT, "meta": plain(found.meta), "names": plain(found.names)}
        before = json.dumps(around, ensure_ascii=False).removesuffix("}")
        return f'{before}, "explanations": [\n{texts}'.encode(errors="backslashreplace")


class Parquet(Form):
    """One line per counterfactual, or per change, typed."""

    streams: ClassVar[bool] = False

    def part(self, found: Explanations, start: int, *, head: bool = True) -> bytes:
        """A Parquet file of its own, with the columns of the layout."""
        del head
        arrow, parquet = _arrow()
        table = self.table(found, start)
        if self.layout is None:
            raise TypeError("typed columns need a layout")
        typed = self.layout.typed(table)
        if self.index is not None:
            names = table[self.index]
            typed.insert(0, self.index, names if self.names is None else names.astype(object))
        fields = [arrow.field(field.name, _type(arrow, field)) for field in self.layout.fields]
        if self.index is not None:
            fields.insert(0, arrow.field(self.index, self._names_type(typed[self.index])))
        packed = io.BytesIO()
        content = arrow.Table.from_pandas(typed, arrow.schema(fields), preserve_index=False)
        parquet.write_table(content.replace_schema_metadata(None), packed)
        return packed.getvalue()

    def _names_type(self, names: pd.Series[Any]) -> Any:
        """The type of all names, or of those of a part that do not fit it."""
        arrow, _ = _arrow()
        try:
            return arrow.Array.from_pandas(names, type=self.names).type
        except (arrow.ArrowException, TypeError, ValueError, OverflowError):
            return arrow.Array.from_pandas(names).type

    def join(self, parts: Sequence[Path], out: IO[bytes]) -> None:
        """One row group a part; a name may be of another type in another part."""
        _, parquet = _arrow()
        schema = self._joined([parquet.read_schema(part).remove_metadata() for part in parts])
        with parquet.ParquetWriter(out, schema) as writer:
            for part in parts:
                writer.write_table(parquet.read_table(part).cast(schema))

    def _joined(self, schemas: list[Any]) -> Any:
        """The columns of all parts; names of types that do not go together are text."""
        arrow, _ = _arrow()
        try:
            return arrow.unify_schemas(schemas, promote_options="permissive")
        except arrow.ArrowException:
            return schemas[0].set(0, arrow.field(str(self.index), arrow.string()))


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
