"""`macex replay`: is a recorded explanation still what the model says?"""

from __future__ import annotations

import json
from collections import deque
from pathlib import Path
from typing import Annotated, Any

import typer

from macex.audit import read_records
from macex.cli import options
from macex.cli.inputs import open_model
from macex.errors import OptionError
from macex.replays import find_record
from macex.replays import replay as replayed
from macex.scale.readers import read_table
from macex.schema.schema import frame_names

LISTED = 20
TOLD = ("id", "time", "row", "name", "status")  # of each record that is listed


def replay(
    *,
    audit: Annotated[Path, typer.Option(metavar="FILE", help="The audit file.")],
    record: Annotated[
        str | None, typer.Argument(metavar="ID", help="The id of a record, or its beginning.")
    ] = None,
    model: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The model, if it lies elsewhere now.")
    ] = None,
    data: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The training rows, if elsewhere now.")
    ] = None,
    also: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Each model that had to agree, if elsewhere now."),
    ] = None,
    allow_pickle: options.AllowPickle = False,
    trusted: options.Trusted = None,
    as_json: options.Json = False,
) -> int:
    """Make a recorded explanation again and compare every byte.

    The exit code is 0 if all agree and 1 if not.

        macex explain ... --audit audit.jsonl

        macex replay --audit audit.jsonl             # the last records and their ids

        macex replay 3f2a --audit audit.jsonl        # the record whose id begins so
    """
    if record is None:
        _list(audit, as_json=as_json)
        return 0
    known = find_record(record, audit)
    path = model or known["files"]["model"]["path"]
    if path is None:
        raise OptionError(f"record {known['id']} was made by a live model: pass --model FILE")
    reading: dict[str, Any] = {"allow_pickle": allow_pickle, "trusted": trusted or ()}
    again = replayed(
        known["id"],
        audit,
        model=open_model(Path(path), **reading),
        data=None if data is None else read_table(data)[frame_names(known["columns"])],
        also=[open_model(one, **reading) for one in also or ()],
    )
    if as_json:
        told = {"id": again.id, "agrees": again.agrees, "difference": again.difference}
        print(json.dumps({**told, "notes": again.notes}, ensure_ascii=False))
    else:
        print(again)
    return 0 if again.agrees else 1


def _list(audit: Path, *, as_json: bool) -> None:
    last = deque(read_records(audit), LISTED)
    if as_json:
        told = [{key: record[key] for key in TOLD} for record in last]
        print(json.dumps(told, ensure_ascii=False, default=str))
        return
    for record in last:
        name = record["row"] if record["name"] is None else record["name"]
        print(f"{record['id']}  {record['time']}  row {name}  {record['status']}")
