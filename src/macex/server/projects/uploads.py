"""Projects from files of strangers: read in child processes, never a pickle."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import BoundedSemaphore
from typing import IO, Any

from macex.errors import DataError, ModelFileError, UnavailableError
from macex.scale.intake import IntakeLimits, read_apart, take_in
from macex.scale.readers import date_columns, read_table, require
from macex.schema import Schema
from macex.schema.schema import kinds_stated, stated
from macex.server.projects.catalogue import Catalogue
from macex.server.projects.parts import described
from macex.server.projects.project import WAIT_S, Project
from macex.server.room import require_room
from macex.server.settings import Settings

MODEL, DATA, ROWS = "model.bin", "train.parquet", "rows.parquet"
CASES = {DATA: "train.npz", ROWS: "cases.npz"}
CASES_MODULE = "macex.server.projects.case_intake"
OF_TABLES = ("label", "drop", "schema", "structure", "causes")  # said of columns
OF_SERIES = ("channels", "times", "time_unit")
AT_ONCE = 4  # files that are read at the same time, each within its bounds
READING = BoundedSemaphore(AT_ONCE)


@dataclass(frozen=True)
class Upload:
    """The files that were sent, and their description."""

    title: str
    model: IO[bytes]
    data: IO[bytes]
    rows: IO[bytes] | None = None
    label: str | None = None
    drop: Sequence[str] = ()
    classes: Sequence[Any] | None = None
    schema: Mapping[str, Any] = field(default_factory=dict)
    constraints: Mapping[str, Any] = field(default_factory=dict)
    names: Mapping[str, Any] = field(default_factory=dict)
    structure: str | Sequence[Any] = ""
    causes: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "table"
    channels: Sequence[str] = ()
    times: Sequence[Any] = ()
    time_unit: str = ""

    @property
    def series(self) -> bool:
        """Whether the files hold cases of time series."""
        return self.kind == "series"

    def file(self, name: str) -> str:
        """What a file is called in the project's folder."""
        return CASES[name] if self.series else name

    def said(self) -> dict[str, Any]:
        """What `project.toml` says."""
        for part in OF_TABLES if self.series else OF_SERIES:
            if getattr(self, part):
                raise DataError(f"{part} is not for a project of {self.kind!r}")
        lists = {"drop": list(self.drop), "classes": list(self.classes or ())}
        lists |= {"channels": list(self.channels), "times": list(self.times)}
        tables = {"schema": self.schema, "constraints": self.constraints, "names": self.names}
        tables |= {"causes": self.causes}
        files = {"model": MODEL, "data": self.file(DATA)}
        files |= {"rows": self.file(ROWS)} if self.rows is not None else {}
        parts: dict[str, Any] = {"kind": self.kind, "label": self.label, **lists, **tables}
        parts |= {"structure": self.structure, "time_unit": self.time_unit}
        return {"title": self.title, **files, **{k: v for k, v in parts.items() if v}}


def made(catalogue: Catalogue, upload: Upload, settings: Settings) -> Project:
    """A project from uploaded files, opened; nothing is left of one that cannot be opened."""
    require_room(settings)
    if not upload.title.isprintable():
        raise DataError("a title has letters, digits and signs, and no control characters")
    description = described(upload.said())
    what = "cases" if upload.series else "rows"

    def fill(folder: Path) -> None:
        dates = None if upload.series else date_columns(kinds_stated(upload.schema))
        _taken(upload.data, folder / upload.file(DATA), f"the training {what}", settings, dates)
        if upload.rows is not None:
            _taken(upload.rows, folder / upload.file(ROWS), f"the {what}", settings, dates)
        with (folder / MODEL).open("wb") as file:
            shutil.copyfileobj(upload.model, file)
        description.write(folder)

    project = catalogue.add(upload.title, fill)
    try:
        return project.open()
    except BaseException as error:
        catalogue.remove(project.name)
        if (
            isinstance(error, UnavailableError) and error.lost
        ):  # the model hung or crashed when it was asked
            raise ModelFileError(str(error).partition(";")[0]) from None
        if isinstance(error, ModelFileError):  # whose file is none of the sender's business
            raise ModelFileError(str(error).partition(f"{MODEL}: ")[2] or str(error)) from None
        raise


def inspected(
    data: IO[bytes], label: str | None, drop: Sequence[str], settings: Settings
) -> tuple[int, dict[str, dict[str, Any]]]:
    """How many rows a table has, and what its columns are taken for, to be corrected."""
    require_room(settings)
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / DATA
        _taken(data, target, "the training rows", settings, [])
        table = read_table(target)
    for column in (*drop, *([label] if label else [])):
        require(table, column, "the table", "the request")
    features = table.drop(columns=[*drop, *([label] if label else [])])
    if not len(table):
        raise DataError("the table has no rows")
    return len(table), stated(Schema.infer(features))


def _taken(
    content: IO[bytes], target: Path, name: str, settings: Settings, dates: list[str] | None
) -> None:
    """Read a table, with its dates, or without them cases, into a file of the folder."""
    bounds = IntakeLimits(
        memory_mb=settings.upload_memory_mb,
        seconds=settings.upload_seconds,
        columns=settings.upload_columns,
        cells=settings.upload_cells,
    )
    with tempfile.NamedTemporaryFile() as file:
        shutil.copyfileobj(content, file)
        file.flush()
        with _place():
            if dates is None:
                read_apart(CASES_MODULE, Path(file.name), target, name, bounds, {})
            else:
                take_in(Path(file.name), target, name, bounds, dates)


@contextmanager
def _place() -> Iterator[None]:
    """One of the places for files that are read, for who gets it before the wait is over."""
    if not READING.acquire(timeout=WAIT_S):
        raise UnavailableError("other uploads are being read: send it again later", retry_s=5)
    try:
        yield
    finally:
        READING.release()
