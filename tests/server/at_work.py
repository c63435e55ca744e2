"""How many threads are at work on the same thing."""

from __future__ import annotations

import threading


class AtWork:
    """Entered by a thread while it works; `most` is how many did so at the same time."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self.now -= 1
