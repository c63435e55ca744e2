"""No more threads than cores: what a model starts by itself is held back in workers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from macex.explainer import Explainer


@contextmanager
def limited_threads(threads: int) -> Iterator[None]:
    """Limit the threads of a call in the libraries that compute with arrays."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(threads):
        yield


def restrain(explainer: Explainer, threads: int) -> None:
    """Limit the threads of this process for good, and the jobs of the model.

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
