"""How requests share a project: few threads at a time, and one call for those that wait.

A model call has a fixed price, so fifty rows in one call cost little more than one. The answer for
a row does not depend on the rows beside it. So while one call runs, requests gather; when it is
done, all of them go into the next one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from anyio import to_thread

from macex.errors import MacexError, UnavailableError
from macex.explanation import Explanations
from macex.server.projects.project import WAIT_S, Project
from macex.server.questions import Ask, CallOptions, answered

AT_ONCE = 2
Result = TypeVar("Result")
MOST_ROWS = 512
MOST_WAITS = 10
SETTLED_AT_ONCE = 8  # answers that are sent before anything else is looked at
THREADS = 64  # projects that are answered at the same time
Waiting = tuple[Ask, "asyncio.Future[Any]"]


def turn_name(project: str) -> str:
    """Who takes turns where a project is asked, or looked at."""
    return f"project {project!r}"


class Turns:
    """What a project is asked waits here, so that many questions to one leave room for others.

    Who waits takes no thread. Threads that compute hand the interpreter from one to the next, so
    with a hundred of them everything else waits for a hundred, the event loop first of all.
    """

    def __init__(self, at_once: int = AT_ONCE) -> None:
        self._at_once = at_once
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def run(self, project: Project, work: Callable[[], Result]) -> Result:
        """What some work on a thread gives, when it is its turn."""
        async with self.turn(turn_name(project.name)):
            return await to_thread.run_sync(work)

    @asynccontextmanager
    async def turn(self, whose: str, what: str = "") -> AsyncIterator[None]:
        """One of the places that a project, or whoever else is named, has for something."""
        turn = self._of(f"{whose} {what}")
        try:
            await asyncio.wait_for(turn.acquire(), WAIT_S)
        except TimeoutError:
            said = f"{whose} has been answering others for more than {WAIT_S:g} s"
            raise UnavailableError(said, retry_s=5) from None
        try:
            yield
        finally:
            turn.release()

    async def each(self, whose: str, pieces: Iterator[Result]) -> AsyncIterator[Result]:
        """The same pieces, each made on a thread when it is its turn, however long that takes."""
        while True:
            async with self._of(f"{whose} file"):
                piece = await to_thread.run_sync(next, pieces, None)
            if piece is None:
                return
            yield piece

    def _of(self, whose: str) -> asyncio.Semaphore:
        turn = self._turns.get(whose)
        if turn is None:
            turn = self._turns[whose] = asyncio.Semaphore(self._at_once)
        return turn


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
                if place % SETTLED_AT_ONCE == 0:
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
