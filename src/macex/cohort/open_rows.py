"""Deciding rows that a search left open: by trying everything, or by the cells of trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from macex.engine.training import grid_of
from macex.schema import Array
from macex.stages.arrays import rank_within
from macex.stages.candidates import Both
from macex.stages.search.combinations import Singles, all_of, combinations
from macex.stages.search.protocol import by_levels
from macex.stages.shapes import Candidates, Found, Pool, Task
from macex.stages.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from macex.engine.engine import Engine
    from macex.engine.fitted import Fitted
    from macex.engine.options import Options
    from macex.models.oracle import Oracle
    from macex.stages.thresholds import CellGrid

BATCH_ROWS = 100_000  # combinations in memory at a time
KEPT = 64  # of a row's examples, how many are kept: the nearest
OWN_ROWS = 8  # rows that a query costs beside its combinations


@dataclass(frozen=True, slots=True)
class Everything:
    """Every allowed combination of the values seen in training, fewest changes first.

    A query with more than `most` of them is left open; of any other, nothing is cut.
    """

    name: ClassVar[str] = "everything"
    proves: ClassVar[bool] = True
    offered: ClassVar[Literal["all", "few"]] = "all"

    most: int

    @property
    def max_rows(self) -> int:
        """The most rows a query may cost."""
        return self.most + OWN_ROWS

    def __call__(self, task: Task, candidates: Candidates) -> Found:
        """Examples of the fewest changes that reach the goal, and what failed entirely.

        The candidates on offer may have been thinned, so every value is fetched again.
        """
        del candidates
        open_ = task.max_changes > 0
        nothing = replace(Candidates.empty(len(open_)), exact=True)
        offered, complete = task.rest(open_, nothing)
        singles = _unscored(offered)
        levels = int(task.max_changes.max(initial=0))
        rows = np.arange(len(open_))
        sizes = [combinations(singles, rows, task.space.width, n + 1) for n in range(levels)]
        allowed = np.arange(1, levels + 1)[:, None] <= task.max_changes
        total = (np.array(sizes).reshape(levels, -1) * allowed).sum(axis=0)
        open_ &= complete & (total <= self.most)
        pools, proved = [Pool.empty(task.space.width)], np.zeros(len(open_), int)
        for size in range(1, levels + 1):
            open_ &= (task.max_changes >= size) & ~task.judge.finished
            found = self._level(task, singles, np.flatnonzero(open_), sizes[size - 1], size)
            pools.append(found)
            open_[found.at] = False
            open_ &= ~task.judge.ran_out
            proved[open_] = size
        found = Pool.join(pools, task.space.width)
        return replace(Found.unproved(found, offered), proved=proved, tried=proved)

    @staticmethod
    def _level(task: Task, singles: Singles, queries: Array, rows: Array, size: int) -> Pool:
        """The nearest examples with a number of changes."""
        pools = []
        for part in _parts(queries, rows):
            codes, at = all_of(task, singles, part, size)
            verdict = task.judge(codes, at)
            hit = np.flatnonzero(verdict.reached)
            far = task.measure(codes[hit], at[hit])
            hit = hit[rank_within(at[hit], far, np.arange(len(hit))) < KEPT]
            pools.append(Pool(at[hit], codes[hit], verdict.progress[hit]))
        return Pool.join(pools, task.space.width)


def _unscored(offered: Candidates) -> Singles:
    shape = offered.value.shape
    return Singles(offered, np.zeros(shape, bool), np.zeros(shape))


def _parts(queries: Array, rows: Array) -> Iterator[Array]:
    """Queries in parts whose combinations fit into memory."""
    part = (np.cumsum(rows[queries]) / BATCH_ROWS).astype(int)
    for number in np.unique(part):
        yield queries[part == number]


def by_cells(engine: Engine, most: int | None) -> Engine | None:
    """The engine with the cells of its trees as candidates; None where it has no trees.

    An engine whose candidates or search the caller has chosen is left as it is.
    """
    fitted = engine.fitted
    options = fitted.options
    chosen = not isinstance(options.candidates, Both) or not by_levels(options.method)
    if chosen or fitted.grid is not None:
        return None
    for trees in _models(fitted.oracle):
        cells = Thresholds(trees) if most is None else Thresholds(trees, proof_rows=most)
        exact = replace(options, candidates=cells, prefer="fewest")
        grid = _grid(fitted, trees, exact)
        if grid is not None:
            other = fitted.with_options(exact)
            other.grid = grid
            return replace(engine, fitted=other)
    return None


def _grid(fitted: Fitted, trees: Any, options: Options) -> CellGrid | None:
    try:
        return grid_of(trees, fitted.oracle, fitted.ground, fitted.answers, options)
    except Exception:  # noqa: BLE001 - what cannot be read as trees is asked as any other model
        return None


def _models(oracle: Oracle) -> list[Any]:
    """The objects behind an oracle that may be trees."""
    known = [
        None if oracle.quick is None else oracle.quick.original,
        None if oracle.file is None else oracle.file.live_model,
        getattr(oracle.ask, "__self__", None),
    ]
    return [model for model in known if model is not None]
