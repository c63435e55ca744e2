"""Few threads at a time for a project: more of them would only take turns, before all others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import to_thread

from macex.errors import UnavailableError
from macex.server.projects.project import WAIT_S, Project

AT_ONCE = 2
Result = TypeVar("Result")


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
