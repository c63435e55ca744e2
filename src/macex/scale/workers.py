"""Chunks on all cores: results in order, a bounded number of chunks at a time.

A model that lets go of the interpreter's lock is asked by threads, which share it; any other gets
processes, each with a copy of the explainer. Which of the two is found by watching the lock while
the first chunk is explained in this process (`lock.py`). A search on a GPU stays in this process,
which lends it to processes that do the rest.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import partial
from itertools import chain, islice
from multiprocessing import active_children
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Thread
from typing import Any, TypeVar

from macex.errors import RunError, require_count
from macex.scale.lock import watched_lock
from macex.scale.threads import limited_threads, restrain

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
Work = Callable[[Any, Any], Any]  # of what is shared and of a chunk

WATCH_S = 0.5  # how often a worker looks whether it is still wanted
AHEAD = 2  # chunks a worker may be given before the first is done


def job_count(jobs: Any) -> int:
    """How many workers `jobs` means; -1 is one for each core that this process may use.

    >>> job_count(3)
    3
    """
    if not isinstance(jobs, float) and jobs == -1:
        return cores()
    return require_count("jobs (-1 for all cores)", jobs)


def cores() -> int:
    """The cores that this process may use."""
    from joblib import cpu_count

    return int(cpu_count())


def worked(
    work: Callable[[Any, Chunk], Result], shared: Any, chunks: Iterable[Chunk], jobs: int
) -> Iterator[Result]:
    """`work(shared, chunk)` for every chunk, in order, by several workers.

    What is `shared` has an `explainer`.
    """
    left = iter(chunks)
    if jobs == 1:
        yield from (work(shared, chunk) for chunk in left)
        return
    lent = getattr(getattr(shared.explainer.engine, "answer", None), "lent", None)
    if lent is not None:
        with lent(), _pool(shared, jobs, 0.0) as (pool, ask):
            yield from _in_order(pool, partial(ask, work), left, AHEAD * jobs)
        return
    with watched_lock() as lock:
        first = [work(shared, chunk) for chunk in islice(left, 1)]
    yield from first
    second = list(islice(left, 1))
    if not second:
        return
    left = chain(second, left)
    with _pool(shared, jobs, lock.free) as (pool, ask):
        yield from _in_order(pool, partial(ask, work), left, AHEAD * jobs)


def _in_order(
    pool: Executor, work: Callable[[Chunk], Result], chunks: Iterable[Chunk], ahead: int
) -> Iterator[Result]:
    waiting: deque[Future[Result]] = deque()
    try:
        for chunk in chunks:
            waiting.append(pool.submit(work, chunk))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise RunError(
            "a worker process died: it was killed, ran out of memory, could not open the model, or "
            "the model ended it. Take fewer jobs if memory is short, one if the model cannot "
            "travel. What a run has written to a file is whole: go on with --resume (resume=True)"
        ) from error


@contextmanager
def _pool(shared: Any, jobs: int, free: float) -> Iterator[tuple[Executor, Work]]:
    """The workers, and what they run: `ask(work, chunk)`."""
    packed = None if threads_pay(free, jobs) else _packed(shared)
    if packed is None:
        pool = ThreadPoolExecutor(jobs)
        try:
            yield pool, partial(_ask_here, shared, max(1, cores() // jobs))
        finally:
            pool.shutdown(cancel_futures=True)
    else:
        with _processes(packed, jobs) as processes:
            yield processes, _ask_there


def threads_pay(free: float, jobs: int) -> bool:
    """Whether threads would be nearly as fast as processes.

    `free` is the share of the time for which the lock was free; the rest is done one by one.

    >>> threads_pay(0.97, 2), threads_pay(0.5, 2)
    (True, False)
    """
    held = 1 - free
    return 1 / (held + free / jobs) >= 0.9 * jobs


def _packed(shared: Any) -> bytes | None:
    """What is shared as bytes; None where it cannot leave this process."""
    from joblib.externals.loky.backend.reduction import dumps

    try:
        packed: bytes = dumps(shared)
    except Exception:  # noqa: BLE001 - whatever a model holds that cannot travel
        return None
    return packed


@contextmanager
def _processes(packed: bytes, jobs: int) -> Iterator[Executor]:
    from joblib.externals.loky import ProcessPoolExecutor
    from joblib.externals.loky.backend.process import LokyProcess
    from joblib.externals.loky.backend.utils import kill_process_tree

    threads, others = max(1, cores() // jobs), active_children()
    # A worker reads what it is started with only when Python and its imports are there, and until
    # then the next one waits. So that is little: the name of a file that holds what is shared.
    with NamedTemporaryFile(prefix="macex-", delete=False) as shared:
        shared.write(packed)
    held = Path(shared.name)
    pool = ProcessPoolExecutor(jobs, initializer=_open, initargs=(held, threads, os.getpid()))
    try:
        yield pool
    finally:
        broken = sys.exc_info()[0] is not None
        pool.shutdown(wait=True, kill_workers=broken)
        held.unlink()
        for process in active_children() if broken else ():  # the pool may not know them yet
            if process not in others and isinstance(process, LokyProcess):
                kill_process_tree(process)


_OPENED: dict[str, Any] = {}  # in a worker process: what it shares with the others


def _open(held: Path, threads: int, parent: int) -> None:
    from joblib.externals.loky.backend.reduction import loads

    Thread(target=_end_with, args=(parent, held), daemon=True).start()
    _OPENED["shared"] = loads(held.read_bytes())
    restrain(_OPENED["shared"].explainer, threads)
    gc.freeze()  # it all stays until the end: no collection need look at it again


def _end_with(parent: int, held: Path) -> None:
    """End this worker when the process that started it has ended, however that came."""
    while os.getppid() == parent:
        time.sleep(WATCH_S)
    with suppress(OSError):
        held.unlink()
    os._exit(1)


def _ask_there(work: Work, chunk: Any) -> Any:
    return work(_OPENED["shared"], chunk)


def _ask_here(shared: Any, threads: int, work: Work, chunk: Any) -> Any:
    """Work in a thread of this process; between chunks the caller has all its threads."""
    with limited_threads(threads):
        return work(shared, chunk)
