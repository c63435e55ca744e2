"""A night's work: rows from file to file by two workers, killed twice and gone on with.

`python -m macex.bench.experiments.scale.night ROWS OUT JOBS [FOLDER]` is the run that is killed.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from macex.ask.question import Question
from macex.bench.cells import BenchCells
from macex.bench.experiments.scale.crowd import write_crowd
from macex.bench.tasks import BenchTask, TaskOutcome
from macex.bench.workshop import Workshop
from macex.explainer import Explainer
from macex.scale.chunks import ChunkExplainer
from macex.scale.files import explain_file
from macex.scale.forms import Parquet
from macex.scale.layout import answers_layout
from macex.scale.partition import CHUNK
from macex.scale.readers import Chunk, raw_chunks
from macex.scale.task import FileTask, Todo

DATASET, MODEL = "adult", "XGBoost"
JOBS = 2
KILLED_AT = (0.3, 0.7)
COMPARED = 5
MEGABYTE = 1024  # kilobytes


def measure(task: BenchTask, workshop: Workshop) -> TaskOutcome:
    """Seconds at work, peak memory of all processes, and whether the bytes are the right ones."""
    cells = workshop.cells
    with tempfile.TemporaryDirectory() as folder:
        rows, out = Path(folder) / "rows.parquet", Path(folder) / "answers"
        write_crowd(cells.dataset(task.dataset), task.stop, rows)
        line = [sys.executable, "-m", __name__, str(rows), str(out), str(JOBS)]
        line += [] if cells.folder is None else [str(cells.folder)]
        parts = -(-task.stop // CHUNK)
        began, peak = time.perf_counter(), 0.0
        for share in (*KILLED_AT, None):
            stop = None if share is None else max(1, int(share * parts))
            peak = max(peak, _run(line, out, stop))
        record = {
            "seconds": time.perf_counter() - began,
            "peak_mb": peak,
            "same": _same(
                Explainer(workshop.cell(task).model, workshop.cell(task).train), rows, out
            ),
        }
    return TaskOutcome(task, [record])


def _run(line: list[str], out: Path, stop: int | None) -> float:
    """Run until so many parts are there, then kill; the most memory in megabytes."""
    peak = 0.0
    with subprocess.Popen(line) as running:  # noqa: S603 - our own program
        while running.poll() is None:
            peak = max(peak, memory(running.pid))
            if stop is not None and len(list(out.glob("part-*.parquet"))) >= stop:
                running.send_signal(signal.SIGKILL)
                break
            time.sleep(0.2)
    if stop is None and running.returncode:
        raise RuntimeError(f"the run ended with {running.returncode}")
    return peak


def memory(process: int) -> float:
    """Megabytes of a process and of all it has started."""
    table = subprocess.run(
        ["ps", "-e", "-o", "pid=,ppid=,rss="],  # noqa: S607 - wherever it is
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    lines = [tuple(map(int, line.split())) for line in table.splitlines()]
    family = {process}
    for _ in range(4):
        family |= {pid for pid, parent, _ in lines if parent in family}
    return sum(rss for pid, _, rss in lines if pid in family) / MEGABYTE


def _same(explainer: Explainer, rows: Path, out: Path) -> bool:
    """Whether every part is there and some, made again by one process, are the same bytes."""
    form = Parquet(False, ("number",), answers_layout(explainer))
    task = FileTask(ChunkExplainer(explainer, Question(on_error="keep")), form, index=("number",))
    parts = sorted(out.glob("part-*.parquet"))
    step = max(1, len(parts) // COMPARED)
    count = 0
    for at, chunk in enumerate(raw_chunks(rows, CHUNK)):
        count += 1
        if at % step == 0 and isinstance(chunk, Chunk):
            made = task.part(Todo(at, chunk)).content[""]
            if at >= len(parts) or parts[at].read_bytes() != made:
                return False
    return count == len(parts)


def main(rows: str, out: str, jobs: str, folder: str | None = None) -> None:
    """The run that is killed: begin, or go on."""
    cell = BenchCells(folder).get(DATASET, MODEL)
    explainer = Explainer(cell.model, cell.train)
    explain_file(explainer, rows, out, index="number", jobs=int(jobs), resume=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
