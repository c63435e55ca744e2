"""Asking the model about codes: in few, large calls, each row once.

`Asker` turns codes by column into frames, drops rows it has already seen in the same call, keeps
calls to a bounded size, counts, watches the clock, and finds the row at fault when a model fails.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.ask.answers import Answers
from macex.errors import ModelError, UnavailableError
from macex.models.memory import Remembered
from macex.models.oracle import NotAScoreError, Oracle
from macex.schema import Array, row_keys
from macex.schema.columns import MISSING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from macex.schema import Rows, Schema


CHUNK_ROWS = 131_072
CHUNK_CELLS = 4_000_000
CODES_AT_ONCE = 500_000  # cells of a prepared matrix: what a core has at hand
LEAST_AT_ONCE = 2_000  # rows of it, where it is wide
SMALL = 1_000  # rows of a call that has one OpenMP thread


@dataclass
class CallCost:
    """What asking has cost so far."""

    calls: int = 0
    rows: int = 0
    seconds: float = 0.0


@dataclass
class Pace:
    """What calls have taken, and from that how many rows fit into a time.

    >>> pace = Pace()
    >>> for rows in (1, 3):
    ...     pace.add(rows, 0.3 + 0.001 * rows)
    >>> pace.rows_in(0.5)
    12
    """

    calls: int = 0
    rows: float = 0.0
    seconds: float = 0.0
    squares: float = 0.0  # of rows
    products: float = 0.0  # of rows and seconds
    largest: int = 0

    def add(self, rows: int, seconds: float) -> None:
        """Take a call into account."""
        self.calls += 1
        self.rows += rows
        self.seconds += seconds
        self.squares += rows * rows
        self.products += rows * seconds
        self.largest = max(self.largest, rows)

    def rows_in(self, seconds: float) -> int:
        """The number of rows that take about `seconds`, never far beyond what was tried.

        While all calls had the same size, the price of a row is unknown: then twice that size is
        tried, or more if even the price of whole calls allows it.
        """
        variance = self.squares - self.rows * self.rows / self.calls
        if variance <= 0:
            return int(max(seconds * self.rows / max(self.seconds, 1e-9), 2 * self.largest))
        slope = (self.products - self.rows * self.seconds / self.calls) / variance
        return int(min(seconds / max(slope, 1e-9), 4 * self.largest))


@contextmanager
def few_threads(rows: int) -> Iterator[None]:
    """Limit OpenMP to one thread while the model is asked about few rows."""
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
    cost: CallCost = field(default_factory=CallCost)
    pace: Pace = field(default_factory=Pace)
    failed: dict[int, str] = field(default_factory=dict)
    remembered: Remembered | None = None

    @property
    def own(self) -> Asker:
        """The same asker, for the caller's own model and nothing else."""
        own = self.oracle.own
        return self if own is self.oracle else replace(self, oracle=own, remembered=None)

    @property
    def trusted(self) -> Asker:
        """The same asker, for the model or its own last steps, never for a twin."""
        return self if self.oracle.quick is None else self.own

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    def __call__(self, full: Array, at: Array, *, always: bool = False) -> tuple[Answers, Array]:
        """Answers for rows of codes, and which rows were answered at all.

        Once the deadline has passed nothing is asked any more, unless `always`, which also asks
        about rows that were answered before.
        """
        if self._one_call(len(full)) and (always or not self.late):
            try:
                return self._ask(full, at), np.ones(len(full), bool)
            except UnavailableError:
                raise
            except Exception as fault:  # noqa: BLE001 - the model's own, whatever it is
                return self._lone(fault, full, at)
        memory = None if always else self.remembered
        if memory is None:
            memory = Remembered(len(full), self.oracle.outlook.width)
        if self._alone:  # a lone query hardly ever asks twice: looking would cost more
            place, new = memory.apart(len(full))
        else:
            place, new = memory.places(self._keys(full, at))
        work = _Asking(full, at, place, new, memory, self.failed)
        start = 0
        while start < len(new) and (always or not self.late):
            stop = min(start + self.chunk(len(self.schema.frame_columns)), len(new))
            self._fill(work, self._ways(work, np.arange(start, stop)))
            start = stop
        return self._told(work)

    def _told(self, work: _Asking) -> tuple[Answers, Array]:
        """What has come back."""
        answers, done = work.memory.answers(work.place)
        if not done.all():
            work.memory.forget(np.unique(work.place[~done]))
        if self.failed:  # whatever others have asked about, it is no answer for these
            done &= ~np.isin(work.at, list(self.failed))
        return answers, done

    def frame(self, full: Array, at: Array) -> Any:
        """Rows of codes as the model gets them; `at` says from which query each is made."""
        return self.schema.frame(full, self.rows, at)

    def row(self, query: int, codes: Array) -> Any:
        """One row of codes as the caller would write it."""
        return self.rows.row(query, codes)

    def keys(self, full: Array) -> Array:
        """Keys of rows of codes, equal for equal rows."""
        return row_keys(full)

    def _keys(self, full: Array, at: Array) -> Array:
        """Keys of rows, equal for rows that are one to the model."""
        keys = self.keys(full)
        if self._some_odd:
            whose = at if self.places is None else self.places[at]
            keys = keys + np.where(self._odd[at], (whose + 1) * _ODD[0], 0).astype(np.uint64)
        return keys

    @cached_property
    def takes_codes(self) -> bool:
        """Whether the model can be asked without frames, looked up once for the batch."""
        return self.oracle.takes_codes

    @cached_property
    def _alone(self) -> bool:
        """Whether there is one query."""
        return len(self.rows) == 1

    @cached_property
    def _odd(self) -> Array:
        """The queries with a value that no code stands for, or missing where training never is."""
        whole = np.array([not column.missing for column in self.schema.columns])
        odd = self.rows.odd | ((self.rows.codes == MISSING) & whole)
        return np.asarray(odd.any(axis=1))

    @cached_property
    def _some_odd(self) -> bool:
        return bool(self._odd.any())

    def chunk(self, columns: int) -> int:
        """Rows per call: bounded in memory, and in time where there is a deadline."""
        prepared, most = self.oracle.prepared, CHUNK_ROWS
        if prepared is not None:
            columns = max(columns, prepared.width)
            most = min(most, max(LEAST_AT_ONCE, CODES_AT_ONCE // columns))
        most = max(1, min(most, CHUNK_CELLS // max(1, columns)))
        if self.deadline is None or not self.pace.calls:
            return most if self.deadline is None else min(most, 100)
        return max(1, min(most, self.pace.rows_in(0.5)))

    def _one_call(self, count: int) -> bool:
        """Whether `count` rows of a lone query fit into one call."""
        if self.failed or not self._alone:
            return False
        return 0 < count <= self.chunk(len(self.schema.frame_columns))

    def _lone(self, fault: Exception, full: Array, at: Array) -> tuple[Answers, Array]:
        """The answers for those rows of a lone query that are not at fault."""
        memory = Remembered(len(full), self.oracle.outlook.width)
        work = _Asking(full, at, *memory.apart(len(full)), memory, self.failed)
        self._fill(work, self._after(fault, work, np.arange(len(full))))
        return self._told(work)

    def _fill(self, work: _Asking, pending: list[Array]) -> None:
        """Ask about distinct rows and write what comes back; on failure find the rows at fault.

        A call that fails is halved until a single row fails. The queries of that row are given up,
        and with them all later rows that no other query needs. Earlier rows are still asked about,
        so that a query reports the first fault among its own rows, whatever shares the batch.
        """
        while pending:
            part = pending.pop()
            if self.failed:
                part = part[work.needed()[part]]
            if not len(part):
                continue
            try:
                found = self._ask(*work.rows(part))
            except UnavailableError:
                raise
            except Exception as fault:  # noqa: BLE001 - the model's own, whatever it is
                pending += self._after(fault, work, part)
            else:
                work.write(part, found)

    def _after(self, fault: Exception, work: _Asking, part: Array) -> list[Array]:
        """Blame the rows at fault as far as they are known; what is to be asked about then."""
        if isinstance(fault, NotAScoreError):
            self._blame(fault, work, part[fault.rows])
            return [np.delete(part, fault.rows)]
        if isinstance(fault, ModelError) or len(part) == 1:  # or the answer has the wrong form
            self._blame(fault, work, part)
            return []
        return [part[len(part) // 2 :], part[: len(part) // 2]]

    def _by_code(self, at: Array) -> bool:
        """Whether rows of these queries can be asked about without a frame."""
        return self.takes_codes and not (self._some_odd and self._odd[at].any())

    def _ways(self, work: _Asking, chunk: Array) -> list[Array]:
        """Rows that can be asked about by code and rows that cannot, apart."""
        if not self.takes_codes or not self._some_odd:
            return [chunk]
        odd = self._odd[work.at[work.new[chunk]]]
        return [chunk[~odd], chunk[odd]]

    def _ask(self, full: Array, at: Array) -> Answers:
        by_code = self._by_code(at)
        asked = full if by_code else self.frame(full, at)
        began = time.perf_counter()
        try:
            with few_threads(len(full)):
                return self.oracle.of_codes(asked) if by_code else self.oracle(asked, len(full))
        finally:
            took = time.perf_counter() - began
            self.cost.seconds += took
            self.cost.calls += self.oracle.calls_per_ask
            self.cost.rows += len(full)
            self.pace.add(len(full), took)

    def _blame(self, fault: Exception, work: _Asking, rows: Array) -> None:
        """Give up the queries that rows at fault belong to, or raise."""
        known = isinstance(fault, (NotAScoreError, ModelError))
        said = str(fault) if known else f"the model raised {fault!r}"
        if self.keep:
            self.failed |= dict.fromkeys(work.given_up(rows), said)
            return
        first = work.new[rows[0]]
        query, codes = int(work.at[first]), work.full[first]
        place = query if self.places is None else int(self.places[query])
        raise ModelError(
            f"{said}, asked about {self.cells(query, codes)} (made from row {place} of the call)",
            row=self.row(query, codes),
            advice='on_error="keep" gives such rows a reason instead of an error',
        ) from fault

    def cells(self, query: int, codes: Array) -> dict[str, object]:
        """The values of a row, the caller's own where they are unchanged."""
        own = codes == self.rows.codes[query]
        return {
            column.name: self.rows.cell(query, place) if own[place] else column.value(codes[place])
            for place, column in enumerate(self.schema.columns)
        }


class _Asking:
    """The rows of one question that are to be asked about, and where their answers will lie."""

    def __init__(
        self,
        full: Array,
        at: Array,
        place: Array,
        new: Array,
        memory: Remembered,
        failed: Iterable[int],
    ) -> None:
        self.full, self.at, self.place, self.new, self.memory = full, at, place, new, memory
        self.until = np.full(int(at.max(initial=-1)) + 1, len(at))  # (Q,) the first row at fault
        self.until[[query for query in failed if query < len(self.until)]] = 0

    def rows(self, part: Array) -> tuple[Array, Array]:
        """Codes and queries of some of the rows."""
        if len(part) == len(self.full):
            return self.full, self.at
        rows = self.new[part]
        if rows[-1] - rows[0] == len(rows) - 1 and bool((np.diff(rows) == 1).all()):
            run = slice(int(rows[0]), int(rows[-1]) + 1)  # no copy of a wide table
            return self.full[run], self.at[run]
        return self.full.take(rows, axis=0), self.at[rows]

    def write(self, part: Array, found: Answers) -> None:
        """Take the answers for some of the rows."""
        self.memory.write(self.place[self.new[part]], found)

    def given_up(self, rows: Array) -> list[int]:
        """The queries of which one of the rows is the first at fault, as far as is known."""
        asking = np.flatnonzero(np.isin(self.place, self.place[self.new[rows]]))
        asking = asking[asking < self.until[self.at[asking]]]
        np.minimum.at(self.until, self.at[asking], asking)
        return np.unique(self.at[asking]).tolist()

    def needed(self) -> Array:
        """Which of the rows come before those at fault of some query that they belong to."""
        alive = np.arange(len(self.at)) < self.until[self.at]
        return np.isin(self.place[self.new], self.place[alive])


_ODD = np.array([0x9E3779B97F4A7C15], dtype=np.uint64).view(np.int64)
