"""Requests that wait at the same time are answered together.

A model call has a fixed price, so fifty rows in one call cost little more than one. The answer for
a row does not depend on the rows beside it. So while one call runs, requests gather; when it is
done, all of them go into the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from macex.errors import MacexError, UnavailableError
from macex.explanation import Explanations
from macex.server.projects.project import Project
from macex.server.questions import Ask, CallOptions, answered

MOST_ROWS = 512
MOST_WAITS = 10
AT_ONCE = 8  # answers that are sent before anything else is looked at
THREADS = 64  # projects that are answered at the same time
Waiting = tuple[Ask, "asyncio.Future[Any]"]


@dataclass
class Queue:
    """Requests to one project with the same options."""

    project: Project
    waiting: list[Waiting] = field(default_factory=list)
    task: asyncio.Task[None] | None = None

    def take(self, most: int) -> list[Waiting]:
        """The oldest requests with at most `most` rows in total; at least one request."""
        rows = count = 0
        for ask, _ in self.waiting:
            rows += len(ask)
            if count and rows > most:
                break
            count += 1
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        return [one for one in taken if not one[1].done()]


class Sharing:
    """Gathers requests for a few milliseconds and answers them in one call.

    `together=False` answers them one by one.
    """

    def __init__(
        self,
        wait_s: float,
        *,
        together: bool = True,
        report: Callable[[int, int], None] = lambda _requests, _rows: None,
        finish: Callable[[Explanations], Any] = lambda found: found,
    ) -> None:
        """`finish` turns answers into what is returned, on the thread that made them."""
        self._wait, self._most = wait_s, MOST_ROWS if together else 0
        self._report, self._finish = report, finish
        self._pool = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="explain")
        self._queues: dict[tuple[str, CallOptions], Queue] = {}
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def explain(self, project: Project, ask: Ask) -> Any:
        """The answer to one request, finished."""
        key = (project.name, ask.options)
        queue = self._queues.setdefault(key, Queue(project))
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        queue.waiting.append((ask, future))
        if queue.task is None:
            queue.task = asyncio.create_task(self._serve(key, queue))
        return await future

    async def _serve(self, key: tuple[str, CallOptions], queue: Queue) -> None:
        """Answer until nobody waits; a project has one thread at a time."""
        loop = asyncio.get_running_loop()
        turn = self._turns.setdefault(queue.project.name, asyncio.Lock())
        while queue.waiting:
            await self._gather(queue)
            batch = queue.take(self._most)
            asks = [ask for ask, _ in batch]
            if not asks:
                continue
            try:
                async with turn:
                    outcomes = await loop.run_in_executor(
                        self._pool, _outcomes, queue.project, asks, self._finish
                    )
            except Exception as fault:  # noqa: BLE001 - whoever waits is told
                outcomes = [fault] * len(batch)
            for place, ((_, future), outcome) in enumerate(zip(batch, outcomes, strict=True), 1):
                _settle(future, outcome)
                if place % AT_ONCE == 0:
                    await asyncio.sleep(0)  # let others in between
            self._report(len(asks), sum(map(len, asks)))
        del self._queues[key]

    async def _gather(self, queue: Queue) -> None:
        """Wait as long as others keep coming, but not for ever."""
        for _ in range(MOST_WAITS if self._most else 0):
            before = len(queue.waiting)
            await asyncio.sleep(self._wait)
            if len(queue.waiting) == before:
                return

    def close(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _outcomes(
    project: Project, asks: list[Ask], finish: Callable[[Explanations], Any]
) -> list[Any]:
    """Answers, or for a wrong question its error: nobody suffers from a neighbour's mistake."""
    try:
        return [finish(found) for found in answered(project, asks)]
    except UnavailableError as error:
        return [error] * len(asks)
    except MacexError as error:
        if len(asks) == 1:
            return [error]
    return [outcome for ask in asks for outcome in _outcomes(project, [ask], finish)]


def _settle(future: asyncio.Future[Any], outcome: Any) -> None:
    if future.done():
        return
    if isinstance(outcome, Exception):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
