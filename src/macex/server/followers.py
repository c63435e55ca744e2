"""Who follows a job hears of its progress: one look at the job for all who follow it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

from anyio import to_thread

from macex.server.problems import ProblemError

LOOK_S = 0.3
STREAMS = 50  # of one key
Look = Callable[[str], tuple[str, bool] | None]


class Following:
    """Looks at jobs for those who follow them.

    `look` gives a job as text and whether it has ended; None where there is no such job.
    """

    def __init__(self, look: Look) -> None:
        self._look = look
        self._streams: Counter[str] = Counter()
        self._looks: dict[str, tuple[float, asyncio.Task[tuple[str, bool] | None]]] = {}

    @contextmanager
    def seat(self, key: str) -> Iterator[None]:
        """A place for one more stream of a key; their number is limited."""
        if self._streams[key] >= STREAMS:
            said = f"a key may follow {STREAMS} jobs at a time"
            raise ProblemError(429, said, headers={"Retry-After": "5"}, code="too_many_streams")
        self._streams[key] += 1
        try:
            yield
        finally:
            self._streams[key] -= 1
            if not self._streams[key]:
                del self._streams[key]

    async def of(self, job: str) -> AsyncIterator[str]:
        """The job whenever there is news of it, until it is at its end."""
        told = ""
        while (seen := await self._seen(job)) is not None:
            text, ended = seen
            if text != told:
                yield text
            if ended:
                return
            told = text
            await asyncio.sleep(LOOK_S)

    async def _seen(self, job: str) -> tuple[str, bool] | None:
        """The latest look, or a new one where that is old."""
        now = asyncio.get_running_loop().time()
        began, look = self._looks.get(job, (0.0, None))
        if look is None or (look.done() and now - began >= LOOK_S):
            look = asyncio.create_task(to_thread.run_sync(self._look, job))
            self._looks[job] = now, look
            look.add_done_callback(lambda _: self._forget_old(now))
        return await asyncio.shield(look)

    def _forget_old(self, now: float) -> None:
        """Looks that nobody came back for."""
        old = [job for job, (began, _) in self._looks.items() if now - began > 10 * LOOK_S]
        for job in old:
            del self._looks[job]
