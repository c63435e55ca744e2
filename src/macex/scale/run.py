"""A run over files: how far it has come, which rows it draws, and what it came to."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from macex.errors import DataError, OptionError, require_count
from macex.scale.partition import CHUNK
from macex.scale.readers import Chunk, dropped, raw_chunks, require
from macex.scale.sources import Origin, RowFault, files_of
from macex.scale.task import FileTask, refuse_columns
from macex.schema import Array
from macex.stages.draws import row_keys

Progress = Callable[[int, int | None], Any]


@dataclass(frozen=True)
class FileRun:
    """What a run over files did: how many rows, by status, in how many seconds.

    `faults` says where rows could not be read and why; `unreadable` rows have a line in the output
    and no answer, `lost` rows are not in it.
    """

    rows: int
    statuses: Mapping[str, int]
    resumed: int
    seconds: float
    unreadable: int = 0
    lost: int = 0
    faults: tuple[str, ...] = ()

    def __str__(self) -> str:
        statuses = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        kept = f", {self.resumed:,} of them before" if self.resumed else ""
        pace = (
            f", {(self.rows - self.resumed) / self.seconds:,.0f} a second" if self.seconds else ""
        )
        return f"{self.rows:,} rows ({statuses or 'none'}{kept}) in {self.seconds:.1f} s{pace}"


@dataclass
class Run:
    """What a run has read and answered so far."""

    task: FileTask
    origin: Origin
    report: Progress
    total: int | None
    jobs: int
    statuses: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    rows: int = 0
    resumed: int = 0
    unreadable: int = 0
    lost: int = 0
    end: int = 0  # the row of the output behind the last one that was read
    sample: Array | None = None  # the numbers of the rows to explain; all without it

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The chunks with rows and the columns they should have; one at least, if without rows."""
        empty, some, found = None, False, self._sound(size)
        if self.sample is not None:
            found = picked(found, self.sample, size)
        for part in found:
            if part.rows:
                some, self.end = True, part.numbers[-1] + 1
                yield part
            else:
                empty = part
        if empty is not None and not some:
            yield empty

    def sampled(self, most: int | None) -> Run:
        """The same run over a sample of the rows that can be read, drawn in a pass over them."""
        if most is None:
            return self
        before = replace(self, faults=[])  # what cannot be read is noted when rows are explained
        seed = self.task.explainer.engine.options.random_state
        drawn = drawn_numbers(before.chunks(CHUNK), most, seed)
        task = replace(self.task, progress=None)  # it counts all rows
        return replace(self, task=task, sample=drawn, total=len(drawn))

    def _sound(self, size: int) -> Iterator[Chunk]:
        """The chunks that have the columns they should; what cannot be read is noted."""
        strict = not self.task.chunks.keeps
        alone, other = len(files_of(self.origin)) == 1, set()
        wanted = {*self.task.explainer.columns, *self.task.index}
        read = raw_chunks(self.origin, size, strict=strict, wanted=wanted, start=self.end)
        for part in read:
            if isinstance(part, RowFault):
                self.faults.append(str(part))
                self.lost += part.rows
                continue
            try:
                self._check_columns(part)
            except DataError as error:
                if strict or alone:
                    raise
                self.lost += part.rows
                self.faults += [] if part.name in other else [f"{error} (the file is left out)"]
                other.add(part.name)
                continue
            yield part

    def _check_columns(self, chunk: Chunk) -> None:
        task = self.task
        kept = dropped(chunk.frame, task.drop, chunk.name)
        for name in task.index:
            require(chunk.frame, name, chunk.name, "--id (index=)")
        given = [str(column) for column in kept if column not in task.index]
        refuse_columns(given, task.explainer.columns, chunk.name)

    def count(self, note: Mapping[str, Any], *, resumed: bool = False) -> None:
        """Add up what a part holds."""
        self.statuses.update(note["statuses"])
        self.rows += note["rows"]
        self.resumed += note["rows"] if resumed else 0
        self.unreadable += note["unreadable"]
        self.faults += note["faults"]
        self.report(self.rows, self.total)

    def done(self, seconds: float) -> FileRun:
        """The run as it ended."""
        statuses = dict(sorted(self.statuses.items()))
        found = (self.unreadable, self.lost, tuple(self.faults))
        return FileRun(self.rows, statuses, self.resumed, seconds, *found)


@contextmanager
def reporting(progress: Any, what: str = "explaining") -> Iterator[Progress]:
    """A function of (rows done, rows in all or None): silent, the caller's own, or a bar.

    The bar says `what` is done.
    """
    if progress is None or progress is False:
        yield lambda _done, _total: None
    elif callable(progress):
        yield progress
    elif progress is True:
        with _bar(what) as report:
            yield report
    else:
        raise OptionError(
            f"progress is True, None or a function of (done, total), not {progress!r}"
        )


def lines(
    write: Callable[[str], Any], every: float = 30.0, clock: Callable[[], float] = time.monotonic
) -> Progress:
    """A report in lines for a log: rows, rows a second and the time left, at most so often.

    >>> told, now = [], iter([0.0, 40.0, 50.0, 75.0])
    >>> report = lines(told.append, clock=lambda: next(now))
    >>> for done in (1000, 1200, 2000):
    ...     report(done, 4000)
    >>> told
    ['1,000 of 4,000 rows, 25 a second, 120 s left', '2,000 of 4,000 rows, 27 a second, 75 s left']
    """
    began = last = clock()

    def report(done: int, total: int | None) -> None:
        nonlocal last
        now = clock()
        if now - last < every or not done:
            return
        last, pace = now, done / (now - began)
        of = f" of {total:,}" if total else ""
        left = f", {(total - done) / pace:,.0f} s left" if total else ""
        write(f"{done:,}{of} rows, {pace:,.0f} a second{left}")

    return report


@contextmanager
def _bar(what: str) -> Iterator[Progress]:
    """A bar on standard error."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    pace = TextColumn("{task.fields[pace]}")
    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), pace)
    with Bar(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, pace="")

        def report(done: int, total: int | None) -> None:
            speed = bar.tasks[0].speed
            said = "" if speed is None else f"{speed:,.0f} rows/s"
            bar.update(task, completed=done, total=total, pace=said)

        yield report


def drawn_numbers(chunks: Iterable[Chunk], most: int, seed: int) -> Array:
    """The numbers of at most `most` rows, each as likely as any other, in order.

    A row is drawn by its number and the seed. Memory does not grow with the rows.
    """
    kept, keys = np.zeros(0, int), np.zeros(0, np.uint64)
    for chunk in chunks:
        numbers = np.asarray(chunk.numbers, int)
        own = row_keys(seed, ["number"], numbers[:, None].astype(float))
        kept, keys = np.concatenate([kept, numbers]), np.concatenate([keys, own])
        if len(keys) > most:
            lowest = np.argpartition(keys, most)[:most]
            kept, keys = kept[lowest], keys[lowest]
    return np.sort(kept)


def picked(chunks: Iterable[Chunk], numbers: Array, size: int) -> Iterator[Chunk]:
    """The rows with these numbers, `size` of a file at a time; chunks without rows are let pass."""
    held: Chunk | None = None
    for chunk in chunks:
        first, last = np.searchsorted(numbers, [chunk.start, chunk.start + chunk.rows])
        if chunk.rows and first == last:
            continue
        few = chunk.take((numbers[first:last] - chunk.start).tolist())
        if held is not None and held.goes_before(few):
            few, held = held.joined(few), None
        if held is not None:
            yield held
        while few.rows > size:
            yield few.take(range(size))
            few = few.take(range(size, few.rows))
        held = few
    if held is not None:
        yield held


def refuse_sample(origin: Origin, most: int | None, *, add: bool) -> None:
    """Raise where no sample can be drawn."""
    if most is None:
        return
    require_count("sample", most)
    if add:
        raise OptionError(
            "sample= is drawn from all rows, and add=True explains the files that are new: take one"
        )
    if any(hasattr(file, "read") for file in files_of(origin)):
        raise OptionError("sample= reads the rows twice, and a stream is read once: give a file")
