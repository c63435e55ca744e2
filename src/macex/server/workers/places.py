"""How many models may run at once: together they take so many times what one may take."""

from __future__ import annotations

import time
from threading import RLock
from typing import TYPE_CHECKING

from macex.errors import UnavailableError

if TYPE_CHECKING:
    from macex.server.workers.process import Worker

RESTS_S = 1.0  # how long a worker was not asked when it may be ended for another


class Places:
    """So many processes; where all are taken, the one that was asked longest ago is ended."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = RLock()
        self._taken: set[Worker] = set()

    def take(self, worker: Worker) -> None:
        """A place for a worker that is about to start, or an error that says to come back."""
        with self._lock:
            if worker not in self._taken and len(self._taken) >= self.most:
                self._end_one()
            self._taken.add(worker)

    def leave(self, worker: Worker) -> None:
        """The process of a worker has ended."""
        with self._lock:
            self._taken.discard(worker)

    def _end_one(self) -> None:
        now = time.monotonic()
        for other in sorted(self._taken, key=lambda one: one.asked):
            if now - other.asked > RESTS_S and other.rest():
                return
        raise UnavailableError(
            f"{self.most} models are being asked, and no more may run at once", retry_s=2
        )
