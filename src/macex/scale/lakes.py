"""Tables of Delta Lake and Iceberg: which Parquet files they are made of now.

Such a folder also holds files of older versions, whose rows no longer count.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any
from urllib.parse import unquote

from macex.errors import DataError, OptionError
from macex.scale.places import Local, Place, Remote, reaching

READ = ("timestampNtz", "v2Checkpoint", "vacuumProtocolCheck")  # features that change no file


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
