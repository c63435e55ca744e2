"""How often one caller may ask: a bucket of tokens that fills by itself."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from threading import Lock

MOST_CALLERS = 10_000


class Rates:
    """A bucket for each caller.

    >>> clock = iter([0.0, 0.0, 0.0, 1.0])
    >>> rates = Rates(per_second=1, at_once=2, clock=lambda: next(clock))
    >>> [rates.wait("me") for _ in range(4)]
    [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(
        self, per_second: float, at_once: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._most, self._clock = per_second, float(at_once), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def wait(self, caller: str) -> float:
        """Take a token; 0 if there was one, else the seconds until there is."""
        return self.take(caller)[0]

    def take(self, caller: str) -> tuple[float, float]:
        """Take a token; how long to wait for one, 0 if there was one, and how many are left."""
        with self._lock:
            now = self._clock()
            tokens, since = self._buckets.pop(caller, (self._most, now))
            tokens = min(self._most, tokens + (now - since) * self._rate)
            taken = tokens >= 1
            self._buckets[caller] = (tokens - taken, now)
            if len(self._buckets) > MOST_CALLERS:
                self._buckets.popitem(last=False)
        return (0.0, tokens - 1) if taken else ((1 - tokens) / self._rate, 0.0)
