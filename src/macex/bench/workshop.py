"""What a process needs to measure: cells, methods, judges, and the clock around a question."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import pandas as pd

from macex.bench.cells import BenchCells, Cell
from macex.bench.judge import Referee
from macex.bench.metered import PlainModel
from macex.bench.methods import method
from macex.bench.tasks import BenchTask
from macex.explainer import Explainer
from macex.explanation import Explanations
from macex.explanation.tables import REMARKS

Done = TypeVar("Done")


def timed(
    work: Callable[[], Done], clock: Callable[[], float] = time.process_time
) -> tuple[float, Done]:
    """The seconds that some work took, and what came of it."""
    began = clock()
    done = work()
    return clock() - began, done


@dataclass
class Built:
    """A method built on a cell, and the seconds that took."""

    explainer: Any
    seconds: float


@dataclass(eq=False)
class Workshop:
    """Keeps what several tasks share: fitted models, judges, and the method built last."""

    cells: BenchCells
    _judges: dict[str, Referee] = field(default_factory=dict)
    _built: tuple[tuple[object, ...], Built] | None = None

    def cell(self, task: BenchTask) -> Cell:
        """The cell of a task."""
        return self.cells.get(task.dataset, task.model, task.seed)

    def judge(self, task: BenchTask) -> Referee:
        """The judge of a task's cell."""
        key = repr(task.group)
        if key not in self._judges:
            self._judges[key] = Referee(self.cell(task))
        return self._judges[key]

    def built(self, task: BenchTask, build: Callable[[Any, Any, int], Any] | None = None) -> Built:
        """The task's method, built on its cell once for all tasks that follow each other."""
        key = (task.group, task.kind, task.method)
        if self._built is None or self._built[0] != key:
            self._close()
            cell = self.cell(task)
            make = build or method(task.method).build
            train = cell.train
            began = time.perf_counter()
            explainer = make(cell.model, train, task.seed)
            self._built = (key, Built(explainer, time.perf_counter() - began))
        return self._built[1]

    def _close(self) -> None:
        """End what the method built last holds, such as a process."""
        close = None if self._built is None else getattr(self._built[1].explainer, "close", None)
        self._built = None
        if close is not None:
            close()


@dataclass
class BenchClock:
    """Seconds and CPU seconds of questions, in all and in the model.

    A method that works in another process (`spent`) says what it took in there; with what the model
    took that is its time. Neither the pipe between the two nor the door they share is part of it.
    """

    cell: Cell
    cost: dict[str, float] = field(
        default_factory=lambda: dict.fromkeys(
            ("queries", "seconds", "cpu", "model_seconds", "model_cpu", "calls", "rows"), 0.0
        )
    )

    def ask(self, explainer: Any, rows: pd.DataFrame, n: int) -> Any:
        """Put a question, and add up what it took."""
        return self.asked(explainer, rows, lambda: explainer.explain(rows, n=n))

    def asked(self, explainer: Any, rows: pd.DataFrame, question: Callable[[], Any]) -> Any:
        """The same, however the question is put."""
        meter = self.cell.meter
        meter.reset()
        before = _clocks(explainer)
        try:
            return question()
        finally:
            after = _clocks(explainer)
            apart = hasattr(explainer, "spent")
            spent = {
                "queries": len(rows),
                "seconds": after[0] - before[0] + apart * meter.seconds,
                "cpu": after[1] - before[1] + apart * meter.cpu,
                "model_seconds": meter.seconds,
                "model_cpu": meter.cpu,
                "calls": meter.calls,
                "rows": meter.rows,
            }
            for name, amount in spent.items():
                self.cost[name] += amount


def _clocks(explainer: Any) -> tuple[float, float]:
    """Seconds by the clock and of the CPU, of the process in which a method works."""
    spent: tuple[float, float] | None = getattr(explainer, "spent", None)
    return (time.perf_counter(), time.process_time()) if spent is None else spent


def alone(cell: Cell, parts: Sequence[pd.DataFrame]) -> float:
    """CPU seconds of the model for the rows that the default asks about, asked with frames."""
    explainer = Explainer(PlainModel(cell.model), cell.train)
    clock = BenchClock(cell)
    for rows in parts:
        clock.ask(explainer, rows, 1)
    return clock.cost["model_cpu"]


def own_cpu(cost: Mapping[str, float]) -> tuple[float, float]:
    """The engine's own CPU seconds, and these over the model's for the same rows as frames."""
    own = cost["cpu"] - cost["model_cpu"]
    return own, own / cost["alone_cpu"]


def frames(found: Any, count: int) -> list[pd.DataFrame]:
    """A frame of counterfactuals for each row, whatever shape the method gives them."""
    if isinstance(found, Explanations):
        table = found.to_frame()
        answered = table[table["cf.rank"] > 0]
        features = list(table.columns[: -len(REMARKS)])
        by_row = dict(iter(answered.groupby("cf.row")))
        return [by_row.get(row, answered.head(0))[features] for row in range(count)]
    if not isinstance(found, Sequence) or len(found) != count:
        raise TypeError(
            f"explain() returned {type(found).__name__} for {count} rows: Explanations or a list "
            "with one frame of counterfactuals for each row was expected"
        )
    if wrong := [one for one in found if isinstance(one, str | bytes | float | int)]:
        raise TypeError(
            f"explain() returned {wrong[0]!r} for a row: a frame of counterfactuals, "
            "with the columns of the training rows, was expected"
        )
    return [pd.DataFrame(frame) for frame in found]


def remarks(found: Any, count: int) -> list[dict[str, bool]]:
    """What only the method can say of each row.

    `own`: the method itself answered, not what stood in for it. `proved`: no answer with fewer
    changes exists over the values seen in training at least.
    """
    if not isinstance(found, Explanations):
        return [{"own": True, "proved": False}] * count
    name = found.meta.get("method")
    return [
        {
            "own": name is None or item.method == name,
            "proved": item.minimal and item.minimal_over in ("seen values", "all values"),
        }
        for item in found
    ]
