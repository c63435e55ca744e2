"""Mechanisms are fitted and asked on one thread: the tables are small, and threads would wait."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache

from threadpoolctl import ThreadpoolController


def one_thread() -> AbstractContextManager[object]:
    """A span in which OpenMP and BLAS have one thread."""
    limits: AbstractContextManager[object] = _controller().limit(limits=1)
    return limits


@cache
def _controller() -> ThreadpoolController:
    import sklearn.ensemble  # noqa: F401 - libraries that are loaded later are not known

    return ThreadpoolController()
