"""For how much of the time others could have had the interpreter's lock: while the model was asked.

A thread sleeps, and looks how late it wakes and whether the model is being asked. The engine's own
operations let go of the lock often but shortly, which helps nobody; so they count as holding it.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from macex.models.oracle import Oracle

TICK_S = 0.001
PROMPT_S = 0.001  # much less than the 5 ms after which the interpreter takes the lock away
ENOUGH_S = 0.05
ASKING = {Oracle.__call__.__code__, Oracle.of_codes.__code__}


@dataclass
class Lock:
    """Seconds watched, and those of them in which the lock was free while the model was asked."""

    seconds: float = 0.0
    free_seconds: float = 0.0

    @property
    def free(self) -> float:
        """The share of the time for which the lock was free; 0 where too little was seen."""
        return self.free_seconds / self.seconds if self.seconds >= ENOUGH_S else 0.0


@contextmanager
def watched_lock() -> Iterator[Lock]:
    """Watch the lock while this thread explains something."""
    seen, over, watched = Lock(), threading.Event(), threading.get_ident()

    def watch() -> None:
        while not over.is_set():
            began = time.perf_counter()
            time.sleep(TICK_S)
            took = time.perf_counter() - began
            seen.seconds += took
            if took < TICK_S + PROMPT_S and _asks(sys._current_frames().get(watched)):  # noqa: SLF001
                seen.free_seconds += took

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield seen
    finally:
        over.set()
        watcher.join()


def _asks(frame: FrameType | None) -> bool:
    """Whether a thread is just asking a model."""
    while frame is not None:
        if frame.f_code in ASKING:
            return True
        frame = frame.f_back
    return False
