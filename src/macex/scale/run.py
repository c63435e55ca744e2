"""A run over files: what it has read and answered so far, and what it came to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from macex.errors import DataError
from macex.scale.partition import CHUNK
from macex.scale.progress import Progress
from macex.scale.readers import Chunk, dropped, raw_chunks, require
from macex.scale.samples import drawn_numbers, picked
from macex.scale.sources import Origin, RowFault, files_of
from macex.scale.task import FileTask, refuse_columns
from macex.schema import Array


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
