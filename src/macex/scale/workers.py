"""Chunks on all cores: results in order, a bounded number of chunks at a time.

A model that lets go of the interpreter's lock is asked by threads, which share it; any other gets
processes, each with a copy of the explainer. Which of the two is found by watching the lock while
the first chunk is explained in this process: a thread sleeps, and looks how late it wakes and
whether the model is being asked. The engine's own operations let go of the lock often but shortly,
which helps nobody; so they count as holding it. A search on a GPU stays in this process, which
lends it to processes that do the rest.

There are no more threads than cores: what a model starts by itself is held back in workers.
"""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from multiprocessing import active_children
from pathlib import Path
from tempfile import NamedTemporaryFile
from threading import Thread
from types import FrameType
from typing import Any, TypeVar

from macex.errors import RunError, require_count
from macex.explainer import Explainer
from macex.models.oracle import Oracle

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")
Work = Callable[[Any, Any], Any]  # of what is shared and of a chunk

WATCH_S = 0.5  # how often a worker looks whether it is still wanted
AHEAD = 2  # chunks a worker may be given before the first is done
_OPENED: dict[str, Any] = {}  # in a worker process: what it shares with the others
TICK_S = 0.001
PROMPT_S = 0.001  # much less than the 5 ms after which the interpreter takes the lock away
ENOUGH_S = 0.05


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
    free = 0.0
    if lent is None:
        with watched_lock() as lock:
            first = [work(shared, chunk) for chunk in islice(left, 1)]
        yield from first
        free = lock.free
    begun = list(islice(left, 1))
    if not begun:
        return
    with (lent or nullcontext)(), _pool(shared, jobs, free) as (pool, ask):
        yield from _in_order(pool, partial(ask, work), chain(begun, left), AHEAD * jobs)


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


_LOCK = threading.Lock()


@dataclass
class _Shared:
    """The first of the calls that overlap, and how many they are."""

    first: Any = None
    calls: int = 0


_SHARED = _Shared()


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """Limit the threads of a call in the libraries that compute with arrays.

    Some libraries have one limit for the process, some one for each thread. So every call sets and
    puts back its own, and the last of several that overlap puts back what was before the first:
    by itself it would put back the limit of another.
    """
    from threadpoolctl import threadpool_limits

    with _LOCK:
        mine = threadpool_limits(threads)
        _SHARED.first = _SHARED.first or mine
        _SHARED.calls += 1
    try:
        yield
    finally:
        with _LOCK:
            mine.restore_original_limits()
            _SHARED.calls -= 1
            if not _SHARED.calls:
                _SHARED.first.restore_original_limits()
                _SHARED.first = None


def restrain(explainer: Explainer, threads: int) -> None:
    """Limit the threads of this process from now on, and the jobs of the model.

    This is for a worker, which has a copy of the explainer to itself.
    """
    from threadpoolctl import threadpool_limits

    threadpool_limits(threads)
    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(threads)
    ask = explainer.engine.fitted.oracle.ask
    model: Any = getattr(ask, "__self__", ask)
    if hasattr(model, "get_params"):
        wide = [name for name in model.get_params() if name.split("__")[-1] == "n_jobs"]
        model.set_params(**dict.fromkeys(wide, threads))
    _restrain_booster(getattr(model, "booster", None), threads)


def _restrain_booster(booster: Any, threads: int) -> None:
    """XGBoost's own number of threads; others follow the limit of the process."""
    if hasattr(booster, "set_param"):
        booster.set_param({"nthread": threads})
