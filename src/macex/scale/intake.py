"""A stranger's table, read in a child process that may run out of memory or time in our stead.

What the child could read it writes as Parquet, typed, and only that is opened here.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import pandas as pd

from macex.errors import DataError, MacexError
from macex.models.files.sandbox import confine, surroundings
from macex.scale.readers import GZIP, MAGIC, read_table

REFUSED = 3
FIRST_LINE = 2**20
PIECE = 2**20
BOMB_BYTES, BOMB_RATIO = 2**26, 200  # past so much, no table unpacks to so many times its file
CALLED = "standard input"  # what the child knows the table by


@dataclass(frozen=True)
class IntakeLimits:
    """How much reading a table may take, and how large a table may be."""

    memory_mb: int = 2048
    seconds: float = 120
    columns: int = 5_000
    cells: int = 100_000_000
    output_mb: int = 8192

    @property
    def cpu_seconds(self) -> float:
        """More than a process can take in that time; its own end, where nobody ends it."""
        return self.seconds * (os.cpu_count() or 1)


def take_in(source: Path, target: Path, name: str, bounds: IntakeLimits, dates: list[str]) -> None:
    """Read a table of any form and write it as Parquet; `name` is what messages call it."""
    read_apart("macex.scale.intake", source, target, name, bounds, {"dates": dates})


def read_apart(
    module: str,
    source: Path,
    target: Path,
    name: str,
    bounds: IntakeLimits,
    more: Mapping[str, Any],
) -> None:
    """Let a module of ours read a file and write another one, in a process of its own.

    The child gets both files open and knows no path.
    """
    order = json.dumps({"bounds": asdict(bounds), **more})
    try:
        with (
            tempfile.TemporaryDirectory(prefix="macex-") as empty,
            source.open("rb") as table,
            target.open("wb") as parquet,
        ):
            done = subprocess.run(  # noqa: S603 - our own module
                [sys.executable, "-m", module, order],
                stdin=table,
                stdout=parquet,
                stderr=subprocess.PIPE,
                timeout=bounds.seconds,
                check=False,
                cwd=empty,
                env=surroundings(),
            )
    except subprocess.TimeoutExpired:
        raise DataError(f"{name}: reading it took more than {bounds.seconds:g} s") from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or [""]
        known = done.returncode == REFUSED
        fault = said[0].replace(CALLED, name)
        raise DataError(fault if known else f"{name} cannot be read")


def main(order: dict[str, Any]) -> int:
    """Read and write, within bounds."""
    bounds, source = IntakeLimits(**order["bounds"]), sys.stdin.buffer
    for module in ("pyarrow.parquet", "pyarrow.ipc"):
        import_module(module)
    confine(bounds.memory_mb, output_mb=bounds.output_mb, cpu_s=bounds.cpu_seconds)
    try:
        _table(source, bounds, order["dates"]).to_parquet(sys.stdout.buffer, index=False)
    except MacexError as error:
        return refused(str(error))
    except MemoryError:
        return refused(f"{CALLED}: reading it takes more than {bounds.memory_mb:,} MB")
    except Exception as error:  # noqa: BLE001 - whatever a library says of a bad file
        return refused(f"{CALLED} cannot be read as a table: {error}")
    return 0


def _table(source: IO[bytes], bounds: IntakeLimits, dates: list[str]) -> pd.DataFrame:
    _refuse_wide(source, bounds)
    source.seek(0)
    _refuse_bomb(source)
    source.seek(0)
    table = read_table(source, dates=dates)
    if table.shape[1] > bounds.columns or table.size > bounds.cells:
        rows, columns = table.shape
        raise DataError(f"{CALLED} has {rows:,} rows and {columns:,} columns: too many")
    return table


def _refuse_wide(source: IO[bytes], bounds: IntakeLimits) -> None:
    """A line without end, or with cells without number, is refused before it is taken apart."""
    head = source.read(4)
    if head in MAGIC:
        return
    source.seek(0)
    text = gzip.GzipFile(fileobj=source) if head.startswith(GZIP) else source
    line = text.readline(FIRST_LINE)
    if len(line) == FIRST_LINE and not line.endswith(b"\n"):
        raise DataError(f"{CALLED}: the first line has no end within {FIRST_LINE:,} bytes")
    if max(line.count(mark) for mark in (b",", b";", b"\t")) >= bounds.columns:
        raise DataError(f"{CALLED} has more than {bounds.columns:,} columns")


def _refuse_bomb(source: IO[bytes]) -> None:
    """A gzip file that unpacks to far more than its length is refused on the way."""
    if not source.read(2).startswith(GZIP):
        return
    source.seek(0)
    unpacking, unpacked = zlib.decompressobj(wbits=31), 0
    pending = source.read(PIECE)
    while pending:
        try:
            unpacked += len(unpacking.decompress(pending, PIECE))
        except zlib.error:
            return  # which whoever reads the table says better
        pending = unpacking.unconsumed_tail
        if unpacking.eof:  # there may be another file behind it
            pending, unpacking = unpacking.unused_data, zlib.decompressobj(wbits=31)
        if unpacked > BOMB_BYTES and unpacked > BOMB_RATIO * (source.tell() - len(pending)):
            raise DataError(f"{CALLED} unpacks to more than {BOMB_RATIO} times its length")
        pending = pending or source.read(PIECE)


def refused(message: str) -> int:
    """Say in a line why a file is not read; the status that the child ends with."""
    sys.stderr.write("\n" + " ".join(message.split())[:500])
    return REFUSED


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
