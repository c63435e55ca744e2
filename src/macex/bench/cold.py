"""How long a cold `macex serve` takes to its first page and its first answer.

    python -m macex.bench.cold --runs 5

Each run starts a server in a process of its own, with an empty state folder and the demo, and asks
as a browser does: the first page, the row until it is no longer loading, and its answer. Before the
first run no module is compiled, neither of this package nor of a library; installers compile them.
"""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from macex.bench.serving import port_of

ROW = "/projects/adult/rows/0"
ANSWER, LOADING = b"mx-lead", b"is being loaded"
PATIENCE_S = 120


class Cold(NamedTuple):
    """Seconds to the first page, from there to the first answer, and of the server's CPU."""

    page: float
    answer: float
    cpu: float
    loading: bool  # whether it was seen


def run(folder: Path, bytecode: Path) -> Cold:
    """One start, and its end; what is compiled is kept in the folder `bytecode`."""
    log, before = folder / "log", _cpu()
    surroundings = {**os.environ, "PYTHONPYCACHEPREFIX": str(bytecode)}
    surroundings.pop("PYTHONDONTWRITEBYTECODE", None)
    command = [sys.executable, "-m", "macex.cli", "serve", "--port", "0", "--no-token"]
    began = time.perf_counter()
    with log.open("w") as out:
        command += ["--state", str(folder / "state")]
        server = subprocess.Popen(command, stderr=out, env=surroundings)  # noqa: S603
    try:
        port = port_of(log, server, 0.005)
        _page(port, "/")
        first, seen = time.perf_counter(), False
        while ANSWER not in (page := _page(port, ROW)):
            seen = seen or LOADING in page
            time.sleep(0.02)
        answered = time.perf_counter()
    finally:
        server.terminate()
        server.wait(30)
    return Cold(first - began, answered - first, _cpu() - before, seen)


def _cpu() -> float:
    """Seconds of CPU that processes took which were started here and have ended."""
    took = os.times()
    return took.children_user + took.children_system


def _page(port: int, path: str) -> bytes:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("GET", path, headers={"Sec-Fetch-Mode": "navigate"})
    try:
        return connection.getresponse().read()
    finally:
        connection.close()


def main(runs: Annotated[int, typer.Option(min=1)] = 5) -> None:
    """Print a line for the first start of all, and for each run after it."""
    head = f"{'first page, s':>14} {'then answer, s':>15} {'CPU, s':>8} {'loading shown':>14}"
    print(f"{'start':<10} {head}")
    with tempfile.TemporaryDirectory() as bytecode:
        for place in range(runs + 1):
            with tempfile.TemporaryDirectory() as folder:
                cold = run(Path(folder), Path(bytecode))
            name, shown = place or "first ever", "yes" if cold.loading else "not needed"
            said = f"{cold.page:>14.2f} {cold.answer:>15.2f} {cold.cpu:>8.2f} {shown:>14}"
            print(f"{name:<10} {said}")


if __name__ == "__main__":
    typer.run(main)
