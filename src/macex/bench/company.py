"""Bad company for a server under load: a project whose model hangs, and one that is slow.

Both are ONNX models of a loop. The slow one takes 1.2 s a call; the other goes on without end for a
row that no trial asks about.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

CALL_S = 1.2
PAGES = 45  # open pages of the slow project
ASKERS = 5  # of the one that hangs
PROBES, PROBE_S = ("health", "ready"), 0.05
OPENING = 30  # times that a project is asked for until it is there
ENDLESS = 10**12
TURNS = 200_000  # to measure a turn by
HANGING = {"x": 5000.0, "z": 0.0}


@dataclass
class Company:
    """What the others saw meanwhile: how often each status came, and the waits for the probes."""

    statuses: dict[str, dict[int, int]] = field(default_factory=dict)
    probes_s: dict[str, list[float]] = field(default_factory=lambda: {one: [] for one in PROBES})

    @property
    def late_s(self) -> float:
        """How long 99 % of the answers of the slower probe took at most."""
        return float(max(np.quantile(took, 0.99) for took in self.probes_s.values()))

    def lines(self) -> list[str]:
        """A line for each project, and one for each probe."""
        said = [
            f"{name}: " + ", ".join(f"{count} x {status}" for status, count in sorted(seen.items()))
            for name, seen in self.statuses.items()
        ]
        for probe, took in self.probes_s.items():
            late, worst = 1000 * np.quantile(took, 0.99), 1000 * max(took)
            said.append(f"/{probe}: p99 {late:.0f} ms, worst {worst:.0f} ms")
        return said


def add_projects(state: Path) -> None:
    """The two projects, where a server looks for those that were uploaded."""
    turns = int(CALL_S / _turn_s())
    for name, content in (("hanging", looping(ENDLESS, 1000.0)), ("slow", looping(turns))):
        folder = state / "projects" / name
        folder.mkdir(parents=True)
        (folder / "model.bin").write_bytes(content)
        rows = "".join(f"{place / 10 - 2},{2 - place / 10}\n" for place in range(40))
        (folder / "train.csv").write_text(f"x,z\n{rows}", encoding="utf-8")
        said = (
            f'title = "{name}"\nmodel = "model.bin"\ndata = "train.csv"\nclasses = ["no", "yes"]\n'
        )
        (folder / "project.toml").write_text(said, encoding="utf-8")


async def opened(port: int) -> None:
    """Wait until both projects answer, so that what is measured is not their start."""
    for name in ("hanging", "slow"):
        for _ in range(OPENING):
            if await _status(port, f"/api/v1/projects/{name}", b"") == 200:
                break
            await asyncio.sleep(1)


async def bother(port: int, until: float, *, others: bool = True) -> Company:
    """Look at the probes, and ask both projects, until the time is over."""
    company = Company()
    if not others:
        await _probing(port, until, company)
        return company
    explain = "/api/v1/projects/hanging/explain"
    body = json.dumps({"rows": [HANGING]}).encode()
    tasks = [_asking(port, "hanging", explain, body, until, company) for _ in range(ASKERS)]
    for place in range(PAGES):
        path = f"/projects/slow/rows/{place % 40}"
        tasks.append(_asking(port, "slow", path, b"", until, company))
    await asyncio.gather(*tasks, _probing(port, until, company))
    return company


async def _asking(
    port: int, name: str, path: str, body: bytes, until: float, company: Company
) -> None:
    seen = company.statuses.setdefault(name, {})
    while (left := until - time.monotonic()) > 0:
        try:
            status = await asyncio.wait_for(_status(port, path, body), left)
        except (TimeoutError, OSError, EOFError):
            status = 0  # no answer before the end
        seen[status] = seen.get(status, 0) + 1
        if status != 200:
            await asyncio.sleep(0.5)


async def _probing(port: int, until: float, company: Company) -> None:
    while time.monotonic() < until:
        for probe, took in company.probes_s.items():
            began = time.perf_counter()
            await _status(port, f"/api/v1/{probe}", b"")
            took.append(time.perf_counter() - began)
        await asyncio.sleep(PROBE_S)


async def _status(port: int, path: str, body: bytes) -> int:
    """The status of one request, on a connection of its own."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        head = f"{'POST' if body else 'GET'} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        head += "Connection: close\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        line = await reader.readline()
        await reader.read()
        return int(line.split()[1])
    finally:
        writer.close()


def looping(turns: int, above: float | None = None) -> bytes:
    """A model that takes so many turns, for all rows or for those above a number."""
    from onnx import TensorProto as Tensor
    from onnx import helper

    table = [None, 2]
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["on"]), _node("Add", "sum", "little", "more")],
        "body",
        [_value("turn", Tensor.INT64, []), _value("go", Tensor.BOOL, []), _value("sum", 1, table)],
        [_value("on", Tensor.BOOL, []), _value("more", 1, table)],
    )
    low, high = (-1e38, 3e38) if above is None else (above, 1e6)
    constants = [
        *[helper.make_tensor(name, 1, [], [at]) for name, at in (("low", low), ("high", high))],
        helper.make_tensor("many", Tensor.INT64, [], [turns]),
        helper.make_tensor("once", Tensor.INT64, [], [1]),
        helper.make_tensor("yes", Tensor.BOOL, [], [True]),
        helper.make_tensor("little", 1, [1], [1e-9]),
        helper.make_tensor("weights", 1, [2, 1], [1.0, 0.125]),
    ]
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["most"], keepdims=0),
        _node("Greater", "most", "low", "above"),
        _node("Less", "most", "high", "below"),
        _node("And", "above", "below", "long"),
        helper.make_node("Where", ["long", "many", "once"], ["turns"]),
        helper.make_node("Loop", ["turns", "yes", "x"], ["after"], body=body),
        _node("MatMul", "after", "weights", "total"),
        helper.make_node("Sigmoid", ["total"], ["y"]),
    ]
    ends = [_value("x", 1, table)], [_value("y", 1, [None, 1])]
    graph = helper.make_graph(nodes, "looping", *ends, constants)
    opsets = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def _node(operator: str, left: str, right: str, out: str) -> Any:
    from onnx import helper

    return helper.make_node(operator, [left, right], [out])


def _value(name: str, kind: int, shape: list[int | None]) -> Any:
    from onnx import helper

    return helper.make_tensor_value_info(name, kind, shape)


def _turn_s() -> float:
    """How long a turn of the loop takes here."""
    from macex.models.kinds.onnx import session_of

    session, rows = session_of(looping(TURNS)), np.zeros((1, 2), np.float32)
    began = time.perf_counter()
    session.run(None, {"x": rows})
    return (time.perf_counter() - began) / TURNS
