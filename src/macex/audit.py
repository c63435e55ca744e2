"""The audit file: one JSON line per explanation, appended by any number of processes.

A line is written at once, behind a lock, so that lines never mix. A line that was torn when a
process died is closed before the next one and skipped by readers. What the records of a call have
in common, such as columns and options, stands once before them, under its SHA-256.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # where there are no such locks, one process may write at a time
    fcntl = None  # type: ignore[assignment]

COMMON = (
    *("files", "fingerprint", "columns", "library", "classes", "options", "versions"),
    *("channels", "layout", "times", "relations"),
)
"""The parts of a record that others of the same explainer have, too."""


@dataclass(frozen=True)
class Audit:
    """Where explanations are recorded, and the files that the model and the data came from.

    A model or data without a file is recorded as such, and a replay asks for it.

    Parameters
    ----------
    path : the file that lines are appended to.
    model : the file the model was loaded from.
    data : the file of the training rows.
    explainer : the file the explainer was saved to, or loaded from.
    """

    path: str | Path
    model: str | Path | None = None
    data: str | Path | None = None
    explainer: str | Path | None = None

    def files(self) -> dict[str, dict[str, str | None]]:
        """The path and the SHA-256 of each file; null for what has none."""
        given = {"model": self.model, "data": self.data, "explainer": self.explainer}
        return {
            name: {"path": None, "sha256": None}
            if path is None
            else {"path": str(Path(path).resolve()), "sha256": file_hash(path)}
            for name, path in given.items()
        }

    def write(self, records: Sequence[dict[str, Any]]) -> None:
        """Record explanations."""
        append(self.path, records)


def file_hash(path: str | Path) -> str:
    """The SHA-256 of a file."""
    made = sha256()
    with Path(path).open("rb") as file:
        while block := file.read(1 << 20):
            made.update(block)
    return made.hexdigest()


def append(path: str | Path, records: Sequence[dict[str, Any]]) -> None:
    """Add records to an audit file, each as one line in one write."""
    lines = [
        json.dumps(line, allow_nan=False, ensure_ascii=False) + "\n" for line in _shared(records)
    ]
    try:
        with _locked(path) as file:
            whole = os.fstat(file).st_size
            if whole and os.pread(file, 1, whole - 1) != b"\n":
                _write(file, b"\n")
            for line in lines:
                _write(file, line.encode())
            os.fsync(file)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error


def read_records(path: str | Path, start: int = 0) -> Iterator[dict[str, Any]]:
    """The records of an audit file from byte `start` on, oldest first; torn lines are skipped."""
    common: dict[str, dict[str, Any]] = {}
    with Path(path).open(encoding="utf-8", errors="replace") as file:
        file.seek(start)
        for line in file:
            try:
                record = json.loads(line)
            except ValueError:
                continue
            if not isinstance(record, dict):
                continue
            if "id" in record:
                yield record | common.get(record.pop("common", ""), {})
            elif "parts" in record:
                common[record["common"]] = record["parts"]


def common_parts(record: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """What a record has in common with others of its explainer, and the SHA-256 of that."""
    parts = {part: record[part] for part in COMMON if part in record}
    return sha256(json.dumps(parts, allow_nan=False).encode()).hexdigest(), parts


def _shared(records: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines of some records: what several have in common once, before them."""
    digests = [common_parts(record) for record in records]
    told: set[str] = set()
    for record, (digest, parts) in zip(records, digests, strict=True):
        if not parts or len(records) == 1:
            yield record
            continue
        if digest not in told:
            told.add(digest)
            yield {"common": digest, "parts": parts}
        yield {k: v for k, v in record.items() if k not in parts} | {"common": digest}


@contextmanager
def _locked(path: str | Path) -> Iterator[int]:
    file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield file
    finally:
        os.close(file)


def _write(file: int, line: bytes) -> None:
    """One line whole, or none of it."""
    before = os.fstat(file).st_size
    try:
        written = os.write(file, line)
        while written < len(line):
            written += os.write(file, line[written:])
    except OSError:
        os.ftruncate(file, before)
        raise
