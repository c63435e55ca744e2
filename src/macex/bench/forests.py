"""A fitted forest handed to programs that solve for it: OCEAN and treecf, in their processes.

They get XGBoost's own trees and the inputs that each column has: one-hot inputs of a category, or
one number. What comes back is a row of inputs, which is read as a row of the frame.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import finalize

import numpy as np
import pandas as pd

from macex.baselines.peers.process import Process, Program
from macex.bench.cells import Cell
from macex.schema import Array, Schema
from macex.stages.distance import learn_scales

OCEAN = Program("ocean", "OCEAN", room="ocean")
TREECF = Program("treecf", "treecf")


class ForestColumn(NamedTuple):
    """A column and its inputs; `step` is the grid of a number (0: none), None of a category."""

    name: str
    inputs: list[int]
    step: float | None
    values: Array | None  # of a category, in the order of its inputs


class BenchForest:
    """The forest of a cell whose model is a pipeline of one-hot categories, numbers and XGBoost."""

    def __init__(self, cell: Cell) -> None:
        self.cell, self._encode = cell, cell.model[0]
        self.schema = Schema.infer(cell.train)
        steps = {column.name: getattr(column, "step", None) for column in self.schema.columns}
        self.columns = _columns(self._encode, steps)
        table = self.inputs(cell.train)
        self.low, self.high = table.min(axis=0), table.max(axis=0)

    def inputs(self, rows: pd.DataFrame) -> Array:
        """Rows as the trees see them."""
        return np.asarray(self._encode.transform(rows), dtype=float)

    @property
    def trees(self) -> Array:
        """XGBoost's own JSON, as bytes."""
        return np.frombuffer(self.cell.model[-1].get_booster().save_raw("json"), dtype=np.uint8)

    @property
    def scale(self) -> Array:
        """What one unit of distance is for each input."""
        codes = self.schema.read(self.cell.train).codes
        by_name = dict(zip(self.schema.names, learn_scales(self.schema, codes).scale, strict=True))
        found = np.ones(len(self.low))
        for column in self.columns:
            if column.step is not None:
                found[column.inputs[0]] = by_name[column.name]
        return found

    def row(self, query: pd.DataFrame, inputs: Array) -> pd.DataFrame:
        """A row of inputs as a row of the frame; what did not change is the query's own.

        A number between two points of its grid becomes the one farther from the query, which lies
        on the same side of all splits.
        """
        before, found = self.inputs(query)[0], query.copy()
        for column in self.columns:
            was, now = before[column.inputs], inputs[column.inputs]
            if np.allclose(was, now, rtol=0, atol=1e-9):
                continue
            if column.values is not None:
                found[column.name] = column.values[int(now.argmax())]
            else:
                found[column.name] = _outward(float(was[0]), float(now[0]), column.step or 0.0)
        return found.astype(self.cell.train.dtypes.to_dict())


def _columns(encode: Any, steps: dict[str, Any]) -> list[ForestColumn]:
    found: list[ForestColumn] = []
    start = 0
    for _, step, names in encode.transformers_:
        for place, name in enumerate(names):
            values = step.categories_[place] if hasattr(step, "categories_") else None
            width = 1 if values is None else len(values)
            inputs = list(range(start, start + width))
            grid = float(steps[name] or 0.0) if values is None else None
            found.append(ForestColumn(str(name), inputs, grid, values))
            start += width
    return found


def _outward(before: float, after: float, step: float) -> float:
    """The next point of the grid at or beyond `after`, seen from `before`.

    >>> _outward(40, 36.99999, 1.0), _outward(40, 42.0, 1.0), _outward(40, 41.3, 0.0)
    (36.0, 42.0, 41.3)
    """
    if not step:
        return after
    steps = after / step
    return float((np.ceil(steps - 1e-9) if after > before else np.floor(steps + 1e-9)) * step)


class Solver:
    """A program that has been told of a forest and answers for it, row by row."""

    def __init__(self, program: Program, forest: BenchForest, seconds: int) -> None:
        self.forest, self.seconds = forest, seconds
        self._process = Process(program.python(), program, {})
        finalize(self, self._process.close)
        self._process.warm()
        groups = [(column.name, column.inputs, column.step) for column in forest.columns]
        arrays = [forest.trees, forest.low, forest.high]
        more = [forest.scale] if program is TREECF else []
        head = {"do": "open", "groups": groups}
        self._process.request(head, *arrays, *more, answer=_unasked, seconds=None)

    @property
    def spent(self) -> tuple[float, float]:
        """What explaining has taken inside the process: seconds by the clock, and of the CPU."""
        return self._process.seconds, self._process.cpu

    @property
    def setup(self) -> float:
        """The CPU seconds that reading the forest took inside the process."""
        return self._process.setup

    def explain(self, query: pd.DataFrame) -> tuple[pd.DataFrame, bool]:
        """A row of the other class, or none, and whether it is proved to be the best."""
        own = int(self.forest.cell.model.predict(query)[0])
        head = {"do": "explain", "want": 1 - own, "seconds": self.seconds, "seed": 0}
        inputs = self.forest.inputs(query)[0]
        rows, proved = self._process.request(head, inputs, answer=_unasked, seconds=None)
        if not len(rows):
            return query.head(0), bool(proved[0])
        return self.forest.row(query, rows[0]), bool(proved[0])


def _unasked(rows: Array) -> Array:
    raise RuntimeError(f"a program that has the forest asks for {len(rows)} predictions")
