"""Asking the model about codes: in few, large calls, each row once.

`Asker` turns codes by column into frames, drops rows it has already seen in the same call, keeps
calls to a bounded size, counts, watches the clock, and finds the row at fault when a model fails.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.answers import Answers
from macex.errors import ModelError
from macex.models.oracle import NotAScoreError, Oracle

if TYPE_CHECKING:
    from macex.schema import Rows, Schema

Array = np.ndarray[Any, np.dtype[Any]]

CHUNK_ROWS = 131_072
CHUNK_CELLS = 4_000_000
MOST_SPLITS = 64


@dataclass
class Cost:
    """What asking has cost so far."""

    calls: int = 0
    rows: int = 0
    seconds: float = 0.0


@dataclass
class Asker:
    """Asks one model for one batch of rows.

    `failed` collects, when `keep` is set, the queries whose rows the model could not answer, with
    the reason; otherwise the first failure is raised.
    """

    oracle: Oracle
    schema: Schema
    rows: Rows
    deadline: float | None = None
    keep: bool = False
    places: Array | None = None  # where the rows stand in the caller's call
    cost: Cost = field(default_factory=Cost)
    failed: dict[int, str] = field(default_factory=dict)

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def __call__(self, full: Array, at: Array, *, always: bool = False) -> tuple[Answers, Array]:
        """Answers for rows of codes, and which rows were answered at all.

        Once the deadline has passed nothing is asked any more, unless `always`.
        """
        first, inverse = self._distinct(full, at)
        width = self.oracle.outlook.width
        answers = Answers(np.zeros((len(first), width)), np.zeros(len(first), int))
        done = np.zeros(len(first), bool)
        faults: dict[int, Exception] = {}
        start = 0
        while start < len(first):
            if self.late and not always:
                break
            stop = min(start + self._chunk(full.shape[1]), len(first))
            self._fill(answers, done, faults, full[first], at[first], np.arange(start, stop))
            start = stop
        if faults:
            self._blame(faults, full, at, first, inverse)
        return answers.take(inverse), done[inverse]

    def decisions(self, full: Array, at: Array) -> Array | None:
        """The model's own decisions for rows of codes; None where it cannot be asked for them."""
        self.cost.calls += 1
        try:
            return self.oracle.decisions(self.schema.frame(full, self.rows, at), len(full))
        except Exception:  # noqa: BLE001 - then its scores decide
            return None

    def _distinct(self, full: Array, at: Array) -> tuple[Array, Array]:
        """Positions of distinct rows, in order of appearance, and for each row which one it is."""
        if len(full) <= 1:
            return np.arange(len(full)), np.zeros(len(full), np.intp)
        keys = row_keys(full)
        odd = np.asarray(self.rows.odd.any(axis=1))
        if odd.any():
            keys = keys + np.where(odd[at], (at + 1) * _ODD[0], 0).astype(np.uint64)
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        order = np.argsort(first, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return first[order], rank[inverse.reshape(-1)]

    def _chunk(self, columns: int) -> int:
        """Rows per call: bounded in memory, and in time where there is a deadline."""
        most = max(1, min(CHUNK_ROWS, CHUNK_CELLS // max(1, columns)))
        if self.deadline is None or not self.cost.rows:
            return most if self.deadline is None else min(most, 1000)
        per_row = self.cost.seconds / self.cost.rows
        return max(1, min(most, int(0.5 / max(per_row, 1e-9))))

    def _fill(
        self,
        answers: Answers,
        done: Array,
        faults: dict[int, Exception],
        full: Array,
        at: Array,
        chunk: Array,
    ) -> None:
        """Ask about one chunk and write what comes back; on failure find the rows at fault."""
        pending, splits = [chunk], 0
        while pending:
            part = pending.pop()
            try:
                found = self._ask(full[part], at[part])
            except NotAScoreError as fault:
                faults[int(part[fault.row])] = fault
                pending.append(np.delete(part, fault.row))
            except ModelError as fault:  # the whole answer has the wrong form
                faults.update(dict.fromkeys(part.tolist(), fault))
            except Exception as fault:  # noqa: BLE001 - the model's own, whatever it is
                splits += 1
                if len(part) == 1 or splits > MOST_SPLITS:
                    faults.update(dict.fromkeys(part.tolist(), fault))
                else:
                    pending += [part[len(part) // 2 :], part[: len(part) // 2]]
            else:
                answers.scores[part], answers.decision[part] = found.scores, found.decision
                done[part] = True
            pending = [p for p in pending if len(p)]
            if faults and not self.keep:
                return

    def _ask(self, full: Array, at: Array) -> Answers:
        frame = self.schema.frame(full, self.rows, at)
        began = time.perf_counter()
        try:
            return self.oracle(frame, len(full))
        finally:
            self.cost.seconds += time.perf_counter() - began
            self.cost.calls += self.oracle.calls_per_ask
            self.cost.rows += len(full)

    def _blame(
        self, faults: dict[int, Exception], full: Array, at: Array, first: Array, inverse: Array
    ) -> None:
        """Give up the queries whose rows are at fault, or raise for the first of them."""
        if self.keep:
            for row, fault in faults.items():
                for query in np.unique(at[inverse == row]):
                    self.failed.setdefault(int(query), _said(fault))
            return
        row, fault = min(faults.items())
        query, codes = int(at[first[row]]), full[first[row]]
        cells = {c.name: c.value(v) for c, v in zip(self.schema.columns, codes, strict=True)}
        place = query if self.places is None else int(self.places[query])
        raise ModelError(
            f"{_said(fault)}, asked about {cells} (made from row {place}); "
            'on_error="keep" gives such rows a reason instead of an error',
            row=self.rows.row(query, codes),
        ) from fault


def _said(fault: Exception) -> str:
    known = isinstance(fault, (NotAScoreError, ModelError))
    return str(fault) if known else f"the model raised {fault!r}"


_ODD = np.array([0x9E3779B97F4A7C15], dtype=np.uint64).view(np.int64)


def row_keys(codes: Array) -> Array:
    """A 64-bit key per row, equal for equal rows.

    >>> a = row_keys(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(a[0] == a[2]), bool(a[0] == a[1])
    (True, False)
    """
    keys = np.zeros(len(codes), np.uint64)
    for column in range(codes.shape[1]):
        bits = np.ascontiguousarray(codes[:, column] + 0.0).view(np.uint64)
        keys = (keys ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        keys = keys ^ (keys >> np.uint64(29))
    return keys
