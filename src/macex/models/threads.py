"""One OpenMP thread for small calls: threads that wait for each other cost more than they save.

Gradient boosting starts its threads anew for every call. On a busy machine a call of a few hundred
rows then takes ten times as long as on one thread. The limit concerns the calling thread alone.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

SMALL = 1_000  # rows of a call


@contextmanager
def few_threads(rows: int) -> Iterator[None]:
    """OpenMP has one thread within, if the call is of few rows."""
    libraries = _openmp(len(sys.modules)) if rows <= SMALL else ()
    before = [library.num_threads for library in libraries]
    try:
        for library in libraries:
            library.set_num_threads(1)
        yield
    finally:
        for library, threads in zip(libraries, before, strict=True):
            library.set_num_threads(threads)


@lru_cache(maxsize=1)
def _openmp(_modules: int) -> tuple[Any, ...]:
    """The OpenMP libraries of this process, looked for again when more modules are imported."""
    from threadpoolctl import ThreadpoolController

    return tuple(ThreadpoolController().select(user_api="openmp").lib_controllers)
