"""Time and memory of an explainer on made-up tables: what cardinality, width and length cost."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from statistics import mean, median
from typing import Any, NamedTuple

import pandas as pd

from macex.bench import synthetic
from macex.explainer import Explainer

MEGABYTE = 2**20


class Size(NamedTuple):
    """What a table costs: to build the explainer, then per query, and peaks of memory."""

    build: float  # seconds, the first answer included
    alone: float  # ms per query, one at a time, median
    batch: float  # ms per query, all at once
    rows: float  # scored per query
    calls: float
    peak: float  # MB allocated at most while explaining the batch


def measure(train: pd.DataFrame, queries: int) -> Size:
    """Explain rows made like the training rows, one at a time and all at once."""
    asked = train.sample(queries, random_state=0)
    began = time.perf_counter()
    explainer = build(train)
    explainer.explain(asked.head(1))
    built = time.perf_counter() - began
    batch, found = _timed(partial(explainer.explain, asked))
    single = [_timed(partial(explainer.explain, asked.iloc[[at]]))[0] for at in range(queries)]
    return Size(
        build=built,
        alone=1000 * median(single),
        batch=1000 * batch / queries,
        rows=mean(item.cost.rows for item in found),
        calls=mean(item.cost.calls for item in found),
        peak=peak(partial(explainer.explain, asked)),
    )


def build(train: pd.DataFrame) -> Explainer:
    """The explainer of the cheap model."""
    return Explainer(synthetic.model, train, classes=("no", "yes"))


def peak(work: Callable[[], Any]) -> float:
    """The most memory, in MB, that the work allocates at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()


def _timed(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    done = work()
    return time.perf_counter() - began, done
