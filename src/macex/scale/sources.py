"""Where rows come from: a file, a stream, several files, a folder of them, or a pattern.

A file is named by its path, or by a URL that fsspec reaches. A folder may be a table of Delta Lake
or Iceberg, which also holds files of older versions: its files are those of the newest one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from glob import glob
from hashlib import sha256
from importlib import import_module
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, NamedTuple
from urllib.parse import unquote

import pandas as pd

from macex.errors import DataError, OptionError
from macex.scale.places import (
    PATTERN,
    Local,
    Place,
    Remote,
    content_mark,
    is_pattern,
    place_of,
    reaching,
)

MISSING_VALUE = "__HIVE_DEFAULT_PARTITION__"  # as Hive says it of a missing one
Single = str | Path | IO[bytes]
Origin = Single | Sequence[str | Path]
READ = ("timestampNtz", "v2Checkpoint", "vacuumProtocolCheck")  # features that change no file


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


def _named_files(given: str | Path) -> list[str | Path]:
    place = place_of("source", given)
    if place.is_folder():
        return list(_inside(place).values())
    if isinstance(place, Remote):
        matching: list[str | Path] = [*place.matching()] if is_pattern(place.url) else [place.url]
    elif not (path := Path(str(place))).exists() and any(mark in str(given) for mark in PATTERN):
        matching = [Path(name) for name in sorted(glob(str(given), recursive=True))]  # noqa: PTH207
    else:
        return [path]
    if not matching:
        raise DataError(f"no file matches {given}")
    return matching


def _inside(place: Place) -> dict[str, str | Path]:
    """The files of a folder by their names in it."""
    listed = table_files(place)
    names = place.files() if listed is None else listed
    kept = [name for name in names if listed is not None or not hidden(PurePosixPath(name))]
    if not kept:
        raise DataError(f"{place} is a folder without files of rows")
    return {name: named_file(place.within(name)) for name in kept}


def named_file(place: Place) -> str | Path:
    """What a place is read by."""
    return str(place) if isinstance(place, Remote) else Path(str(place))


def names_of(origin: Origin) -> dict[str, str | Path]:
    """The files of an origin by what they are called: in a folder, by their names within it."""
    if isinstance(origin, str | Path) and (place := place_of("source", origin)).is_folder():
        return _inside(place)
    return {str(file): file for file in files_of(origin) if isinstance(file, str | Path)}


def folder_values(file: object) -> dict[str, str]:
    """What the folders of a file say of all its rows, as `column=value`; missing ones are empty.

    >>> folder_values("s3://night/day=2024-02-01/region=north%2Fwest/part.parquet")
    {'day': '2024-02-01', 'region': 'north/west'}
    """
    parts = str(file).replace("\\", "/").split("/")[:-1] if isinstance(file, str | Path) else []
    pairs = [part.split("=", 1) for part in parts if part.find("=") > 0]
    return {name: "" if value == MISSING_VALUE else unquote(value) for name, value in pairs}


def refuse_source(origin: Origin, out: Place) -> None:
    """Raise for an output that would stand in the place of the rows, or among them."""
    given = origin if isinstance(origin, list | tuple) else [origin]
    named = [place_of("source", part) for part in given if isinstance(part, str | Path)]
    folders = {_whole_name(place) for place in named if place.is_folder()}
    files = {
        _whole_name(place_of("source", file))
        for file in files_of(origin)
        if isinstance(file, str | Path)
    }
    target = _whole_name(out)
    if any(target == one or target.startswith(f"{one}/") for one in folders | files):
        raise OptionError(f"{out} is, or lies in, what is read: name an output elsewhere")
    if any(file.startswith(f"{target}/") for file in files):
        raise OptionError(f"{out} holds files that are read: name an output elsewhere")


def _whole_name(place: Place) -> str:
    """The same text for the same place."""
    if isinstance(place, Remote):
        return place.url.rstrip("/")
    return Path(str(place)).resolve().as_posix()


def hidden(path: PurePath) -> bool:
    """Whether a file or a folder on the way to it is one that readers of folders skip.

    A folder `_day=3` is the value of a column.
    """
    return any(part.startswith((".", "_")) and "=" not in part for part in path.parts)


def named(origin: Origin) -> str:
    """What messages call an origin."""
    if isinstance(origin, str | Path):
        return str(origin)
    return f"{len(origin)} files" if isinstance(origin, Sequence) else "standard input"


def content_marks(origin: Origin) -> dict[str, str]:
    """What tells the content of each file from any other; nothing for a stream."""
    return {name: content_mark(file) for name, file in names_of(origin).items()}


def marks_hash(marks: Mapping[str, str]) -> str | None:
    """What an origin holds, as a hash; None for a stream."""
    if len(marks) < 2:
        return next(iter(marks.values()), None)
    return sha256("".join(marks.values()).encode()).hexdigest()


def table_files(place: Place) -> list[str] | None:
    """The files of a table, by their names in its folder; None for a folder that is not a table."""
    if place.within("_delta_log").is_folder():
        return _delta_files(place)
    if place.within("metadata").is_folder():
        told = [name for name in place.within("metadata").files() if name.endswith("metadata.json")]
        if told:
            return _iceberg_files(place, max(told, key=_version))
    return None


def _delta_files(place: Place) -> list[str]:
    """The files that the log of the newest version names."""
    with reaching(str(place)):
        table = _module("deltalake").DeltaTable(str(place))
        protocol = table.protocol()
    more = [name for name in protocol.reader_features or () if name not in READ]
    if more or (protocol.min_reader_version > 1 and not protocol.reader_features):
        named = ", ".join(more) or f"reader version {protocol.min_reader_version}"
        raise DataError(
            f"{place} is a Delta table with {named}, so its files are not its rows: read it by its "
            "own library and pass the batches to explain_frames"
        )
    return _within(place, table.file_uris())


def _iceberg_files(place: Place, newest: str) -> list[str]:
    """The files that the newest snapshot names; one with rows marked as deleted is refused."""
    static = _module("pyiceberg.table").StaticTable
    with reaching(str(place)):
        table = static.from_metadata(str(place.within("metadata").within(newest)))
        tasks = list(table.scan().plan_files())
    if any(task.delete_files for task in tasks):
        raise DataError(
            f"{place} is an Iceberg table with files of deleted rows, so its files are not its "
            "rows: rewrite its data files, or read it by its own library and pass the batches to "
            "explain_frames"
        )
    return _within(place, [task.file.file_path for task in tasks])


def _version(name: str) -> tuple[int, str]:
    """What a file of metadata begins with: `00002-....metadata.json`, or `v2.metadata.json`."""
    number = name.removeprefix("v").partition("-")[0].partition(".")[0]
    return (int(number) if number.isdecimal() else -1, name)


def _within(place: Place, uris: list[str]) -> list[str]:
    """Files by their names in the folder; one elsewhere is an error."""
    root = place.absolute() if isinstance(place, Local) else str(place)
    found = []
    for uri in uris:
        path = uri if isinstance(place, Remote) else uri.removeprefix("file://")
        name = path.removeprefix(root.rstrip("/") + "/")
        if name == path:
            raise DataError(f"{place} has a file elsewhere, {uri}: name the files yourself")
        found.append(unquote(name) if place.within(unquote(name)).exists() else name)
    return sorted(found)


def _module(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        extra = "delta" if name == "deltalake" else "iceberg"
        raise OptionError(f"reading this table takes pip install macex[{extra}]") from error
