"""Few threads at a time for a project: more of them would only take turns, before all others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar
from weakref import WeakValueDictionary

from anyio import to_thread

from macex.server.projects.project import WAIT_S, Project

AT_ONCE = 2
Result = TypeVar("Result")


class Turns:
    """What a project is asked waits here, so that many questions to one leave room for others."""

    def __init__(self) -> None:
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def run(self, project: Project, work: Callable[[], Result]) -> Result:
        """What some work on a thread gives, when it is its turn."""
        async with self._turn(project):
            return await to_thread.run_sync(work)

    @asynccontextmanager
    async def _turn(self, project: Project) -> AsyncIterator[None]:
        turn = self._turns.get(project.name)
        if turn is None:
            turn = self._turns[project.name] = asyncio.Semaphore(AT_ONCE)
        try:
            await asyncio.wait_for(turn.acquire(), WAIT_S)
        except TimeoutError:
            raise project.busy() from None
        try:
            yield
        finally:
            turn.release()
