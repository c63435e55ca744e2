"""No more threads than cores: what a model starts by itself is held back in workers."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from macex.explainer import Explainer

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
