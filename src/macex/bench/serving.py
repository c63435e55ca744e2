"""Load on a real server: many clients ask for single rows, with shared calls and one by one.

    python -m macex.bench.serving --clients 50 --clients 200 --seconds 60

A server process is started on a free port, with Adult and XGBoost as its project. The clients speak
HTTP over kept connections and send their next row when they have the answer to the last one. The
last run has company: a project whose model hangs, and one that is slow, with 45 pages open. The
command fails where that costs the clients an answer, or half of their time (95 % of the answers),
or keeps `/health` or `/ready` waiting for a tenth of a second (99 % of them).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import typer

from macex.bench.company import Company, add_projects, bother, opened
from macex.datasets import load

ROUTE = "/api/v1/projects/adult/explain"
READY_S = 120
MODEL_S = 20  # for one call of a model
CLIENTS = (50, 200)
BEARABLE = 1.5  # times as long as alone, in company
PROMPT_S = 0.1  # for a probe, whatever others ask


@dataclass(frozen=True)
class Load:
    """What a run saw: answers, errors, how long each took, and the server's CPU time."""

    seconds: float
    took: Sequence[float]
    errors: int
    busy_s: float = float("nan")

    @property
    def throughput(self) -> float:
        """Answers a second."""
        return len(self.took) / self.seconds

    @property
    def late_s(self) -> float:
        """How long 95 % of the answers took at most."""
        return float(np.quantile(self.took, 0.95))

    def line(self, name: str) -> str:
        """The run in a line of the table."""
        middle, late = 1000 * np.quantile(self.took, 0.5), 1000 * self.late_s
        return (
            f"{name:<14} {len(self.took):>8,} {self.errors:>7} {self.throughput:>10.1f} "
            f"{middle:>9.0f} {late:>9.0f} {1000 * self.busy_s / len(self.took):>7.1f}"
        )


def make_project(folder: Path) -> Path:
    """Adult as a project: an XGBoost model on categories as whole numbers."""
    from xgboost import XGBClassifier

    adult = load("adult")
    frame = adult.frame.copy()
    for column in adult.categorical:
        frame[column] = pd.factorize(frame[column], sort=True)[0]
    train, test = adult.split()
    model = XGBClassifier(n_estimators=100, max_depth=6, random_state=0, n_jobs=1)
    model.fit(frame.iloc[train], adult.label[train])
    model.get_booster().save_model(folder / "model.ubj")
    frame.iloc[train].to_csv(folder / "train.csv", index=False)
    frame.iloc[test].to_csv(folder / "rows.csv", index=False)
    kinds = [f'[{column}]\nkind = "categorical"\n' for column in adult.categorical]
    (folder / "schema.toml").write_text("\n".join(kinds), encoding="utf-8")
    command = ["project", "new", "adult", "--model", "model.ubj", "--data", "train.csv"]
    command += ["--rows", "rows.csv", "--schema", "schema.toml", "--classes", "<=50K,>50K", "-q"]
    subprocess.run([sys.executable, "-m", "macex.cli", *command], cwd=folder, check=True)  # noqa: S603
    return folder / "adult"


@contextmanager
def serving(project: Path, state: Path, *, share: bool) -> Iterator[tuple[int, int]]:
    """A server in a process of its own; its port and its process."""
    command = [sys.executable, "-m", "macex.cli", "serve", "--port", "0", "--no-token"]
    command += ["--project", str(project), "--state", str(state)]
    surroundings = {**os.environ, "MACEX_SHARE": str(share).lower(), "OMP_NUM_THREADS": "1"}
    surroundings["MACEX_MODEL_SECONDS"] = str(MODEL_S)
    with (state.parent / f"{state.name}.log").open("w+") as log:
        server = subprocess.Popen(command, stderr=log, env=surroundings)  # noqa: S603
        try:
            yield port_of(Path(log.name), server), server.pid
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)


def port_of(log: Path, server: subprocess.Popen[bytes], every_s: float = 0.1) -> int:
    """Wait until a server says where it listens."""
    until = time.monotonic() + READY_S
    while time.monotonic() < until and server.poll() is None:
        for line in log.read_text(encoding="utf-8").splitlines():
            if line.startswith("macex listens on"):
                return int(line.rpartition(":")[2])
        time.sleep(every_s)
    raise TimeoutError(f"the server did not start:\n{log.read_text(encoding='utf-8')[-2000:]}")


def _cpu_s(process: int) -> float:
    """The CPU seconds of a process so far; not known elsewhere than on Linux."""
    try:
        said = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(said[11]) + int(said[12])) / os.sysconf("SC_CLK_TCK")


async def put_under_load(port: int, process: int, clients: int, seconds: float, rows: int) -> Load:
    """So many clients, each asking for one row after the other."""
    await _asked(port, [_request(port, 0)])  # the first one opens the project
    before = _cpu_s(process)
    until = time.monotonic() + seconds
    began = time.perf_counter()
    tasks = [_client(port, client, rows, until) for client in range(clients)]
    found = await asyncio.gather(*tasks)
    took = [one for times, _ in found for one in times]
    errors = sum(wrong for _, wrong in found)
    return Load(time.perf_counter() - began, took, errors, _cpu_s(process) - before)


async def _client(port: int, client: int, rows: int, until: float) -> tuple[list[float], int]:
    took: list[float] = []
    errors, place = 0, client * 197
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while time.monotonic() < until:
        place = (place + 1) % rows
        began = time.perf_counter()
        status, body = await _exchange(reader, writer, _request(port, place))
        whole = status == 200 and len(json.loads(body)["explanations"]) == 1
        errors += not whole
        took += [time.perf_counter() - began] if whole else []
    writer.close()
    return took, errors


async def _asked(port: int, requests: Sequence[bytes]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for request in requests:
        status, body = await _exchange(reader, writer, request)
        if status != 200:
            raise RuntimeError(f"the server answered {status}: {body.decode()[:500]}")
    writer.close()


async def _exchange(reader: Any, writer: Any, request: bytes) -> tuple[int, bytes]:
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = int(head.partition("content-length:")[2].partition("\r\n")[0])
    return int(head.split(" ", 2)[1]), await reader.readexactly(length)


def _request(port: int, place: int) -> bytes:
    body = json.dumps({"places": [place]}).encode()
    head = f"POST {ROUTE} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def beside(
    project: Path, state: Path, clients: int, seconds: float, rows: int, *, others: bool
) -> tuple[Load, Company]:
    """The run with shared calls once more, alone or beside projects that hang and are slow."""
    if others:
        add_projects(state)

    async def both(port: int, process: int) -> tuple[Load, Company]:
        await _asked(port, [_request(port, 0)])
        if others:
            await opened(port)
        until = time.monotonic() + seconds
        load = put_under_load(port, process, clients, seconds, rows)
        return await asyncio.gather(load, bother(port, until, others=others))

    with serving(project, state, share=True) as (port, process):
        load, company = asyncio.run(both(port, process))
    print(load.line("in company" if others else "alone"))
    return load, company


def verdict(clients: int, alone: Load, beside: Load, probed_s: float) -> tuple[str, bool]:
    """What company costs so many clients, in a line, and whether that is bearable."""
    times = beside.late_s / alone.late_s
    said = f"{clients} clients in company: p95 {times:.2f} times as long as alone"
    errors = alone.errors + beside.errors
    bearable = times <= BEARABLE and not errors and probed_s <= PROMPT_S
    return f"{said}, {errors} errors, probes {1000 * probed_s:.0f} ms", bearable


def main(
    clients: Annotated[list[int] | None, typer.Option(help="Clients at the same time.")] = None,
    seconds: Annotated[float, typer.Option(help="How long each of the four runs takes.")] = 60,
) -> None:
    """Throughput and waiting times, with shared calls, one by one, and in bad company."""
    verdicts = [measured(count, seconds) for count in clients or CLIENTS]
    print("", *[said for said, _ in verdicts], sep="\n")
    if not all(bearable for _, bearable in verdicts):
        raise typer.Exit(1)


def measured(clients: int, seconds: float) -> tuple[str, bool]:
    """The four runs with so many clients, printed, and the verdict."""
    rows = len(load("adult").split()[1])
    print(f"{clients} clients, single rows of Adult / XGBoost, {seconds:g} s each\n")
    print(
        f"{'':<14} {'answers':>8} {'errors':>7} {'per second':>10} {'median ms':>9} {'p95 ms':>9} "
        f"{'CPU ms':>7}"
    )
    found: dict[bool, Load] = {}
    with tempfile.TemporaryDirectory() as name:
        project = make_project(Path(name))
        for share in (False, True):
            with serving(project, Path(name) / f"state-{share}", share=share) as (port, process):
                run = put_under_load(port, process, clients, seconds, rows)
                found[share] = asyncio.run(run)
            print(found[share].line("shared" if share else "one at a time"))
        state = Path(name)
        alone, health = beside(project, state / "alone", clients, seconds, rows, others=False)
        harmed, company = beside(project, state / "company", clients, seconds, rows, others=True)
    times = found[True].throughput / found[False].throughput
    print(f"\nShared calls answer {times:.1f} times as many.")
    print("Alone:", *health.lines(), sep="\n  ")
    print("In company:", *company.lines(), sep="\n  ")
    return verdict(clients, alone, harmed, company.late_s)


if __name__ == "__main__":
    typer.run(main)
