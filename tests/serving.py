"""Real servers on free ports, with a small project of loans and the demo."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

skops = pytest.importorskip("skops.io")


from lending import lender, loans, outcomes  # noqa: E402
from macex.server import Settings, create_app  # noqa: E402
from macex.server.listener import config_for  # noqa: E402
from macex.server.projects.parts import described  # noqa: E402


@pytest.fixture(scope="session")
def loan_files(tmp_path_factory) -> Path:
    """A folder with model.skops, train.csv (with `outcome`) and rows.csv."""
    folder = tmp_path_factory.mktemp("loan-files")
    rows = loans(400, seed=1)
    skops.dump(lender(rows), folder / "model.skops")
    rows.assign(outcome=outcomes(rows)).to_csv(folder / "train.csv", index=False)
    loans(300, seed=2).to_csv(folder / "rows.csv", index=False)
    return folder


@pytest.fixture(scope="session")
def loan_project(loan_files, tmp_path_factory) -> Path:
    """The loans as a project's folder."""
    folder = tmp_path_factory.mktemp("loans")
    for name in ("model.skops", "train.csv", "rows.csv"):
        (folder / name).write_bytes((loan_files / name).read_bytes())
    parts = {"title": "Loans", "model": "model.skops", "data": "train.csv", "rows": "rows.csv"}
    parts |= {"label": "outcome", "constraints": {"fixed": ["age"]}}
    described(parts).write(folder)
    return folder


@dataclass(frozen=True)
class Served:
    """A server that runs."""

    url: str
    app: Any

    @property
    def server(self) -> Any:
        return self.app.state.server


@contextmanager
def serving(settings: Settings) -> Iterator[Served]:
    """A real uvicorn on a free port, in a thread of this process."""
    app = create_app(settings)
    server = uvicorn.Server(config_for(app, settings.model_copy(update={"port": 0})))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    until = time.monotonic() + 60
    while not server.started and thread.is_alive() and time.monotonic() < until:
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield Served(f"http://127.0.0.1:{port}", app)
    finally:
        server.should_exit = True
        thread.join(30)


@pytest.fixture(scope="session")
def served(loan_project, tmp_path_factory) -> Iterator[Served]:
    """A server with the loans, open to this machine."""
    state = tmp_path_factory.mktemp("state")
    with serving(Settings(state=state, project=loan_project, sync_rows=20, job_chunk=16)) as one:
        yield one


@pytest.fixture
def http(served) -> Iterator[httpx.Client]:
    """A client of that server."""
    with httpx.Client(base_url=f"{served.url}/api/v1", timeout=60) as client:
        yield client


@pytest.fixture(scope="session")
def row() -> dict[str, Any]:
    """Somebody who is refused."""
    return {"income": 30, "debt": 40.5, "age": 33, "job": "none"}


@pytest.fixture(scope="session")
def start():
    """A function that starts a server with settings of its own."""
    return serving
