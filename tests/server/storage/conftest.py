"""Storage on SQLite, and on a real PostgreSQL where its programs are installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from macex.server.storage.database import open_database
from macex.server.storage.tables import metadata

PLACES = sorted(Path("/usr/lib/postgresql").glob("*/bin")) if os.name == "posix" else []


def program(name: str) -> str:
    found = shutil.which(name, path=os.pathsep.join([*map(str, PLACES), os.environ["PATH"]]))
    if found is None:
        pytest.skip(f"PostgreSQL is not installed: there is no {name}")
    return found


def run(*command: str) -> None:
    """As the user postgres where this is root, whom PostgreSQL does not serve."""
    before = ["runuser", "-u", "postgres", "--"] if os.geteuid() == 0 else []
    subprocess.run([*before, *command], check=True, capture_output=True, cwd="/")


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL of our own, which listens on a socket in its folder alone."""
    pytest.importorskip("psycopg")
    initdb, control = program("initdb"), program("pg_ctl")
    folder = Path(tempfile.mkdtemp(prefix="macex-pg-", dir="/tmp"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    data = str(folder / "data")
    run(initdb, "-D", data, "-A", "trust", "-U", "macex", "--no-sync")
    options = f"-c listen_addresses='' -c fsync=off -k {folder}"
    run(control, "-D", data, "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        yield f"postgresql+psycopg://macex@/postgres?host={folder}"
    finally:
        run(control, "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["sqlite", "postgres"])
def engine(request, tmp_path):
    """An empty database."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path / 'server.db'}"
    else:
        url = request.getfixturevalue("postgres")
    made = open_database(url)
    yield made
    if request.param == "postgres":
        metadata.drop_all(made)
    made.dispose()
