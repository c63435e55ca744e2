"""A job whose model goes away while it is asked: put off, tried again, and at last row by row.

A process that was lost costs a job nothing at first: what is finished stays, and the rest is asked
about later. The chunk at which it was lost is then asked about row by row, so that a row on which
the model always hangs or crashes gets that as its reason, and the others their answers.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from macex.errors import UnavailableError
from macex.server.storage.audit import AuditLines, held

if TYPE_CHECKING:
    from macex.server.jobs.work import JobWork, Lines

TRIES = 6  # losses in a row, with nothing finished between them, that end a job
ROW_TRIES = 3  # losses of a row by itself, after which it is given up
Part = tuple[bytes, Mapping[str, int], Sequence[AuditLines]]


@dataclass
class Trial:
    """How far a job has come with its present chunk, and how often it was tried in vain."""

    job: str
    again: float = 0.0  # when it may be tried again
    losses: int = 0  # in a row, with nothing finished between them
    why: str = ""
    _apart: bool = False  # whether the chunk is asked about row by row
    _at: int = -1  # the row that is asked about
    _lost: Counter[int] = field(default_factory=Counter)
    _rows: dict[int, Part] = field(default_factory=dict)

    def part(self, work: JobWork, start: int, stop: int, ended: Callable[[], bool]) -> Part | None:
        """The answers to a chunk; None where the job ends in the middle of it."""
        if not self._apart:
            return self._finished(lambda: work.part(start, stop))
        left = [row for row in range(start, stop) if row not in self._rows]
        for row in sorted(left, key=lambda row: self._lost[row] > 0):
            if ended():
                return None
            self._rows[row] = self._row(work, row)
        parts = [self._rows.pop(row) for row in range(start, stop)]
        self._apart, self._at = False, -1
        return _joined(parts)

    def failed(self, error: UnavailableError) -> None:
        """The model cannot be asked now: wait, and count it where this job's question was lost."""
        self.again = time.monotonic() + error.retry_s
        if error.lost:
            self.losses, self.why, self._apart = self.losses + 1, error.lost, True
            self._lost[self._at] += 1

    def _row(self, work: JobWork, row: int) -> Part:
        self._at = row
        if self._lost[row] < ROW_TRIES:
            return self._finished(lambda: work.part(row, row + 1))
        return self._finished(lambda: work.given_up(row, self.why))

    def _finished(self, ask: Callable[[], Lines]) -> Part:
        with held() as records:
            content, statuses = ask()
        self.losses = 0
        return content, statuses, records


def _joined(parts: Sequence[Part]) -> Part:
    statuses: Counter[str] = Counter()
    for _, counted, _ in parts:
        statuses.update(counted)
    records = [one for _, _, some in parts for one in some]
    return b"".join(content for content, _, _ in parts), statuses, records
