"""Where rows come from: a file, a stream, several files, a folder of them, or a pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from glob import glob
from hashlib import sha256
from pathlib import Path
from typing import IO, NamedTuple

import pandas as pd

from macex.audit import file_hash
from macex.errors import DataError, OptionError, require_path

Single = str | Path | IO[bytes]
Origin = Single | Sequence[str | Path]


class SourceRows(NamedTuple):
    """Some rows of a file, and in a file of text the line each begins on, the first being 1."""

    frame: pd.DataFrame
    lines: Sequence[int] | None = None


@dataclass(frozen=True)
class RowFault:
    """Rows that could not be read, where they stand, and how many there are if that is known."""

    place: str
    reason: str
    rows: int = 0

    def __str__(self) -> str:
        said = self.reason.startswith(self.place)  # the reason may say it, and where in it
        return self.reason if said else f"{self.place}: {self.reason}"


def files_of(origin: Origin) -> list[Single]:
    """The files of an origin, in the order of their names.

    In a folder, names that begin with `.` or `_` are left out, as Spark and Hive do.
    """
    if isinstance(origin, str | Path):
        return list(_named_files(origin))
    if isinstance(origin, Sequence):
        found: list[Single] = [file for part in origin for file in _named_files(part)]
        if not found:
            raise DataError("the list of files is empty")
        return found
    if not hasattr(origin, "read"):
        raise OptionError(
            f"source is a file, several, a folder, a pattern or an open file, not a "
            f"{type(origin).__name__}"
        )
    return [origin]


def _named_files(given: str | Path) -> list[Path]:
    path = require_path("source", given)
    if path.is_dir():
        inside = sorted(file for file in path.rglob("*") if file.is_file())
        kept = [file for file in inside if not hidden(file.relative_to(path))]
        if not kept:
            raise DataError(f"{path} is a folder without files of rows")
        return kept
    if not path.exists() and any(mark in str(given) for mark in "*?["):
        matching = [Path(name) for name in sorted(glob(str(given), recursive=True))]  # noqa: PTH207
        if not matching:
            raise DataError(f"no file is called like {given}")
        return matching
    return [path]


def refuse_source(origin: Origin, out: Path) -> None:
    """Raise for an output that would stand in the place of the rows, or among them."""
    given = origin if isinstance(origin, list | tuple) else [origin]
    named = [part for part in given if isinstance(part, str | Path)]
    folders = {require_path("source", part).resolve() for part in named}
    files = {Path(file).resolve() for file in files_of(origin) if isinstance(file, str | Path)}
    place = out.resolve()
    around = {place, *place.parents}
    if around & (files | {folder for folder in folders if folder.is_dir()}):
        raise OptionError(f"{out} is, or lies in, what is read: name an output elsewhere")
    if any(place in file.parents for file in files):
        raise OptionError(f"{out} holds files that are read: name an output elsewhere")


def hidden(path: Path) -> bool:
    """Whether a file or a folder on the way to it is no data to those who read folders."""
    return any(part.startswith((".", "_")) for part in path.parts)


def named(origin: Origin) -> str:
    """What messages call an origin."""
    if isinstance(origin, str | Path):
        return str(origin)
    return f"{len(origin)} files" if isinstance(origin, Sequence) else "standard input"


def content_hash(origin: Origin) -> str | None:
    """What an origin holds, as a hash; None for a stream."""
    files = [file for file in files_of(origin) if isinstance(file, str | Path)]
    if not files:
        return None
    if len(files) == 1:
        return file_hash(files[0])
    return sha256("".join(map(file_hash, files)).encode()).hexdigest()
