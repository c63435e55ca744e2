"""The audit of a run over files: written by one process, each record once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from macex.audit import append, read_records
from macex.explainer import Explainer

Records = list[dict[str, Any]]


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
