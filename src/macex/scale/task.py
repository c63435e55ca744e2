"""What becomes of one chunk of a file: its part of the output, a note of it, and its records."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from macex.audit import append, read_records
from macex.errors import DataError, OptionError, SchemaError, closest
from macex.explainer import Explainer
from macex.explanation import Explanations
from macex.scale.chunks import ChunkExplainer
from macex.scale.forms import Form
from macex.scale.readers import Chunk, require

NOTED = 20
Records = list[dict[str, Any]]


class Todo(NamedTuple):
    """A chunk, and the number of the part it becomes."""

    at: int
    chunk: Chunk


class Done(NamedTuple):
    """A part: the bytes of its files by folder, what it holds, and what is to be recorded of it."""

    at: int
    content: dict[str, bytes]
    note: dict[str, Any]
    records: Records


@dataclass(frozen=True)
class FileTask:
    """How the chunks of a run are read, asked and written."""

    chunks: ChunkExplainer
    form: Form
    drop: Sequence[str] = ()
    index: tuple[str, ...] = ()
    progress: Callable[[int], Any] | None = field(default=None, compare=False)

    @property
    def explainer(self) -> Explainer:
        """Who is asked."""
        return self.chunks.explainer

    def part(self, todo: Todo) -> Done:
        """The part of the output that a chunk becomes."""
        quiet, records = collecting(self.explainer)
        found, note = self.explained(todo.chunk, replace(self.chunks, explainer=quiet))
        content = self.form.files(found, todo.chunk.numbers, head=todo.at == 0)
        return Done(todo.at, content, {**note, "sha256": digests(content)}, records)

    def explained(
        self, chunk: Chunk, chunks: ChunkExplainer | None = None
    ) -> tuple[Explanations, dict[str, Any]]:
        """The explanations of a chunk, and a note of them."""
        asked = chunks or self.chunks
        frame = framed(asked.explainer, chunk, self.drop, self.index, strict=not asked.keeps)
        report = self.progress
        shown = None if report is None else lambda done, _: report(chunk.start + done)
        try:
            found, faults = asked.answered(frame, shown)
        except SchemaError as error:
            raise SchemaError(f"{chunk.name}, counting rows from {chunk.first}: {error}") from error
        said = [f"{chunk.place(at)}: {reason}" for at, reason in sorted(faults.items())]
        note = {
            "rows": len(found),
            "statuses": dict(Counter(item.status for item in found)),
            "unreadable": len(faults),
            "faults": said[:NOTED],
        }
        return found, note


def digests(content: Mapping[str, bytes]) -> dict[str, str]:
    """What tells the files of a part from any other, and from themselves when damaged."""
    return {within: hashlib.sha256(held).hexdigest() for within, held in content.items()}


def explained_part(task: FileTask, todo: Todo) -> Done:
    """`FileTask.part` as a function of what workers share."""
    return task.part(todo)


def refuse_index(index: Sequence[str], explainer: Explainer, form: Form | None) -> None:
    """Raise for a column that names the rows and is something else as well."""
    fields = () if form is None or form.layout is None else form.layout.fields
    for at, name in enumerate(index):
        if name in explainer.columns:
            raise OptionError(
                f"--id (index=) names {name!r}, which the model needs: give the file a column of "
                "its own for the names of the rows, or leave it out: cf.row counts them"
            )
        if name in {field.name for field in fields}:
            raise OptionError(
                f"--id (index=) names {name!r}, as a column of the answers is called: rename it"
            )
        if name in index[:at]:
            raise OptionError(f"--id (index=) names {name!r} twice")


def framed(
    explainer: Explainer, chunk: Chunk, drop: Sequence[str], index: Sequence[str], *, strict: bool
) -> pd.DataFrame:
    """The rows of a chunk as they are asked about, named by the columns that name them."""
    dropped = [column for column in drop if column not in index]
    frame = chunk.typed(explainer.schema.frame_columns, drop=dropped, strict=strict)
    for name in index:
        require(frame, name, chunk.name, "--id (index=)")
    if index:
        frame = frame.set_index(list(index))
    refuse_columns(list(frame.columns), explainer.columns, chunk.name)
    return frame


def refuse_columns(given: Sequence[str], wanted: Sequence[str], name: str) -> None:
    """Raise unless a file has the columns of the training data and no other."""
    for column in wanted:
        if column not in given:
            raise DataError(
                f"{name} has no column {column!r}, which the training data has: if it is the "
                f"label, drop it there or pass --label {column}{closest(column, given)}"
            )
    for column in given:
        if column not in wanted:
            raise DataError(
                f"{name} has a column {column!r}, which the training data does not have: pass "
                f"--drop {column}, or --id {column} to keep it as the name of the rows"
            )


def audit_path(explainer: Explainer) -> Path | None:
    """The file to which an explainer records, if it does."""
    recorder = explainer.recorder
    return None if recorder is None else Path(recorder.path)


def collecting(explainer: Explainer) -> tuple[Explainer, Records]:
    """The explainer as one that puts its records into a list instead of its audit."""
    records: Records = []
    recorder = explainer.recorder
    if recorder is None:
        return explainer, records
    return Explainer.of(explainer.engine, recorder.into(records.extend)), records


def intention(path: Path, note: dict[str, Any], records: Records) -> bytes:
    """What is about to be recorded: a run that dies while it does can tell how far it came."""
    before = path.stat().st_size if path.exists() else 0
    return json.dumps({"note": note, "before": before, "records": records}).encode()


def completed(path: Path, intended: bytes) -> dict[str, Any]:
    """Record what was intended and is not there yet; the note of the part it belongs to."""
    meant = json.loads(intended)
    there = (
        {record["id"] for record in read_records(path, meant["before"])} if path.exists() else ()
    )
    append(path, [record for record in meant["records"] if record["id"] not in there])
    note: dict[str, Any] = meant["note"]
    return note
