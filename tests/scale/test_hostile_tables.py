"""A hostile table is refused with a sentence, or is plain cells: nothing is fetched or run."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("pyarrow")

import macex as mx
from macex.models.files.sandbox import surroundings
from macex.scale.intake import IntakeLimits, take_in
from macex.scale.readers import read_table
from scale.hostile_tables import ALL, HARMLESS, LISTENER, ODD, REFUSED


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """What became of each file, in one process of bounded memory that reads them all."""
    files, empty = tmp_path_factory.mktemp("tables"), tmp_path_factory.mktemp("empty")
    for place, make in enumerate(ALL.values()):
        (files / f"{place:03d}").write_bytes(make())
    tests = str(Path(__file__).parents[1])
    around = surroundings()
    around["PYTHONPATH"] = f"{around['PYTHONPATH']}:{tests}"
    done = subprocess.run(
        [sys.executable, "-m", "scale.hostile_tables", str(files)],
        capture_output=True,
        cwd=empty,
        env=around,
        check=False,
    )
    assert list(empty.iterdir()) == []
    lines = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert len(lines) == len(ALL), done.stderr.decode()[-2000:]
    return dict(zip(ALL, lines, strict=True))


def test_there_are_thirty_of_them_and_all_are_different():
    assert len({make() for make in ALL.values()}) == len(ALL) >= 30


@pytest.mark.parametrize("kind", REFUSED)
def test_a_hostile_table_is_refused_with_a_sentence(kind, outcomes):
    said = outcomes[kind]["refused"]
    assert len(said.split()) > 4
    assert "Traceback" not in said


@pytest.mark.parametrize("kind", HARMLESS)
def test_what_looks_like_an_address_or_code_is_a_cell(kind, outcomes):
    assert "cells" in outcomes[kind], outcomes[kind]
    assert "root:" not in str(outcomes[kind]["cells"])


@pytest.mark.parametrize("kind", ODD)
def test_what_a_file_says_of_itself_is_not_run(kind, outcomes):
    """The process may not do what it would do, and would have said so."""
    said = outcomes[kind]
    assert "cells" in said or "ermi" not in said["refused"], said


def test_the_addresses_in_cells_stay_text(outcomes):
    assert outcomes["web addresses in cells"]["cells"][0][1] == LISTENER


def read_path(address: str) -> object:
    """As the server and records read: a path, whatever it looks like."""
    return read_table(Path(address))


@pytest.mark.parametrize("read", [read_path, mx.load_model])
@pytest.mark.parametrize("scheme", ["http", "ftp", "file", "s3", "zip"])
def test_an_address_is_the_name_of_a_file_that_is_not_there(read, scheme, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(FileNotFoundError):
            read(f"{scheme}://127.0.0.1:{port}/etc/passwd")
        listener.settimeout(0.2)
        with pytest.raises(TimeoutError):
            listener.accept()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gzip of rows", "json of depth", "parquet of too many cells"])
def test_an_upload_is_bounded(kind, tmp_path):
    source = tmp_path / "source"
    source.write_bytes(REFUSED[kind]())
    bounds = IntakeLimits(memory_mb=700, seconds=60, cells=1_000_000)
    with pytest.raises(mx.MacexError, match="the rows"):
        take_in(source, tmp_path / "target", "the rows", bounds, [])
