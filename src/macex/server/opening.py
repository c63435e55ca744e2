"""Projects opened in the background; their pages say meanwhile that they are loading."""

from __future__ import annotations

import asyncio
import gc
import logging
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock

from macex.server.projects.project import Project

LOG = logging.getLogger("macex.server")
AT_ONCE = 2
SOON_S = 0.3  # within which a page is worth waiting for


def settle() -> None:
    """Let the collector of garbage leave alone what is there now, which stays.

    A look at all objects of the libraries stops every thread for more than a tenth of a second.
    """
    gc.collect()
    gc.freeze()


class Opening:
    """Opens projects, each once at a time."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="open")
        self._lock = Lock()
        self._running: dict[str, Future[Project]] = {}

    def begin(self, project: Project) -> Future[Project]:
        """Open a project, unless that is being done already."""
        with self._lock:
            running = self._running.get(project.name)
            if running is None:
                running = self._running[project.name] = self._pool.submit(self._open, project)
        return running

    async def soon(self, project: Project) -> bool:
        """Whether a project is there within a moment; one that cannot be opened says so later."""
        if project.ready():
            return True
        running = asyncio.wrap_future(self.begin(project))
        done, _ = await asyncio.wait([running], timeout=SOON_S)
        if done:
            running.exception()  # which whoever opens it meets again, and shows
        return bool(done)

    def _open(self, project: Project) -> Project:
        try:
            opened = project.open()
            settle()
            return opened
        finally:
            with self._lock:
                self._running.pop(project.name, None)

    def close(self) -> None:
        """Begin nothing more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
