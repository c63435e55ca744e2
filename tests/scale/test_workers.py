"""Worker processes end with the process that started them, however that ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

PROGRAM = """
import numpy as np
import pandas as pd

import macex as mx

data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
weight = np.random.default_rng(0).random(1_000_000)  # more than a pipe holds
model = lambda rows: 1 / (1 + np.exp(44.5 + 0 * weight[0] - rows["hours"]))
explainer = mx.Explainer(model, data, classes=("no", "yes"))
frames = (data.iloc[at % 30 : at % 30 + 5] for at in range(100_000))
for _ in mx.explain_frames(explainer, frames, jobs=2):
    print("answered", flush=True)
"""


def processes(*fields: str) -> list[list[str]]:
    """What there is to say about every process, the last field whole."""
    line = ["ps", "-e", "-ww", "-o", ",".join(f"{field}=" for field in fields)]
    said = subprocess.run(line, capture_output=True, text=True, check=True).stdout
    return [line.split(None, len(fields) - 1) for line in said.splitlines()]


def children(parent: int) -> set[int]:
    """The workers that a process has started."""
    lines = processes("pid", "ppid", "args")
    return {int(pid) for pid, ppid, args in lines if int(ppid) == parent and "popen_loky" in args}


def until(holds, seconds: float = 60.0):
    """Wait for something that is true."""
    end = time.monotonic() + seconds
    while not (found := holds()):
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.05)
    return found


def gone(pids: set[int]) -> bool:
    return not pids & {int(pid) for pid, stat in processes("pid", "stat") if stat[0] != "Z"}


@pytest.fixture
def started(tmp_path):
    running = subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    yield running
    if running.poll() is None:
        for worker in children(running.pid):
            os.kill(worker, signal.SIGKILL)
        running.kill()
    running.communicate()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_when_their_parent_is_killed(started, how, tmp_path):
    workers = until(lambda: len(found := children(started.pid)) == 2 and found)
    for _ in range(20):
        assert started.stdout.readline() == b"answered\n"
    started.send_signal(how)
    started.wait(60)
    until(lambda: gone(workers))
    assert not list(tmp_path.glob("macex-*"))  # what workers are started with


@pytest.mark.parametrize("after", [0.0, 0.3, 1.0])
def test_an_interrupt_while_workers_start_ends_the_run(started, after):
    workers = until(lambda: len(found := children(started.pid)) == 2 and found)
    time.sleep(after)
    started.send_signal(signal.SIGINT)
    assert started.wait(60) != 0
    until(lambda: gone(workers))
