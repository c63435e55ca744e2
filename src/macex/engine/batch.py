"""A batch: rows with a goal and constraints each, and what the six steps find out about them.

`Batch` is what is asked. `Outcome` is the same batch on its way: every step takes an outcome and
returns one that knows more.

A call is cut into blocks of rows that are answered together, equal rows answered once. Rows in one
block share their groups and derived columns, and a block is small enough for its arrays to stay in
memory; in a call with a time limit it is also small enough to be answered soon. Nothing in an
answer depends on how the rows are cut.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.goals import Goal
from macex.ask.question import Question
from macex.ask.rules import kin_of
from macex.engine.intervals import TestedRun
from macex.engine.robustness import NOTHING_ASKED, Requirements
from macex.errors import OptionError
from macex.explanation import Cost, Counterfactual, Explanation, Source
from macex.models.memory import Remembered
from macex.schema import Array, Rows, row_keys
from macex.stages.shapes import Candidates, Found, Pool

if TYPE_CHECKING:
    from macex.ask.answers import Answers, Goals, Verdict
    from macex.engine.fitted import Fitted
    from macex.models.judge import Judge
    from macex.stages.candidates import Near
    from macex.stages.shapes import Task
    from macex.structure.enforcement import Keeping


RowsT = TypeVar("RowsT")
ConstraintsT = TypeVar("ConstraintsT")


@dataclass(frozen=True)
class BatchOf(Generic[RowsT, ConstraintsT]):
    """Rows of a table or cases of a series, read and ready to be answered."""

    rows: RowsT
    goals: Sequence[Goal]
    constraints: Sequence[ConstraintsT]
    question: Question = field(default_factory=Question)
    deadline: float | None = None
    places: Array | None = None  # where the rows stand in the caller's call
    requirements: Requirements = NOTHING_ASKED
    spent: Array | int = 0  # (Q,) rows that the queries have cost before
    remembered: Remembered | None = None  # what the model has said in the same call

    def __len__(self) -> int:
        return len(self.goals)

    @property
    def late(self) -> bool:
        """Whether the time of the call is over."""
        return self.deadline is not None and time.monotonic() > self.deadline

    @property
    def set_aside(self) -> int:
        """Rows of each query kept for checking its answers, and for a miss if none is robust."""
        return self.question.n * (1 + self.requirements.price) + self.requirements.asked

    def take(self, places: Array) -> Self:
        """Some of the rows, which know where they stand in the call."""
        rows: Any = self.rows
        return replace(
            self,
            rows=rows.take(places),
            goals=[self.goals[place] for place in places],
            constraints=[self.constraints[place] for place in places],
            places=places if self.places is None else self.places[places],
            spent=self.spent if isinstance(self.spent, int) else self.spent[places],
        )


Batch: TypeAlias = BatchOf[Rows, Constraints]


Spans = dict[tuple[int, int], TestedRun]  # (answer, column) -> how far the new number can go


class Checked(NamedTuple):
    """The answers: by query, best first."""

    pool: Pool
    plausibility: Array  # (C,)
    score: Array  # (C,)
    decision: Array  # (C,)
    spans: Spans
    robustness: Array  # (C,) NaN where it was not asked for
    fragile: Array  # (Q,) bool: reached, but by nothing that was robust enough
    reach: Array | None = None  # (C,) NaN where nothing follows; None where it was not asked for

    @classmethod
    def empty(cls, width: int, queries: int) -> Checked:
        """No answer."""
        none, nothing = np.zeros(queries, bool), np.zeros(0)
        return cls(Pool.empty(width), nothing, nothing, nothing.astype(int), {}, nothing, none)


@dataclass(frozen=True)
class Outcome:
    """What is known of a batch so far.

    At first the queries have been scored and it is laid out what may change in each; at last
    `checked` holds the answers, of which `assemble` makes explanations.
    """

    example: ClassVar[str] = "row"  # what answers are, in messages
    fitted: Fitted
    batch: Batch
    task: Task
    judge: Judge
    goals: Goals
    own: Answers
    verdict: Verdict  # on the queries themselves
    there: Array  # (Q,) bool: the goal is reached without a change
    method: Array  # (Q,) str: the search that answered
    near: Near | None  # offer: training rows to take values from
    found: Found  # search: what it found out and proved
    pool: Pool  # search and fine-tune: examples that reach their goals
    plausibility: Array  # rank: (E,)
    order: Array  # rank: positions of examples, by query, best first
    chosen: Array | None  # select: positions of examples, by query, best first
    checked: Checked  # confirm: the answers

    @classmethod
    def begin(
        cls,
        fitted: Fitted,
        batch: Batch,
        task: Task,
        judge: Judge,
        *,
        goals: Goals,
        own: Answers,
        verdict: Verdict,
        there: Array,
    ) -> Self:
        """A batch whose queries have been scored, and nothing else yet."""
        pool, count = Pool.empty(task.space.width), len(task.queries)
        return cls(
            *(fitted, batch, task, judge, goals, own, verdict, there),
            method=np.array([fitted.options.method.name] * count, dtype=object),
            near=None,
            found=Found.unproved(pool, Candidates.empty(count)),
            pool=pool,
            plausibility=np.zeros(0),
            order=np.zeros(0, int),
            chosen=None,
            checked=Checked.empty(task.space.width, count),
        )


OutcomeT = TypeVar("OutcomeT", bound=Outcome)


MOST_QUERIES = 2048
MOST_CELLS = 16_000_000
ROWS_A_QUERY = 600  # for each answer that is wanted
MOST_ANSWERS = 10  # more of them take no more rows
SCREENED = 125  # the same where only the columns that matter are tried one by one
BLOCK_S = 0.4  # seconds of work, model calls aside, that a block may take under a time limit
FIRST_QUERIES = 8  # of the first block under a time limit


@dataclass
class Tempo:
    """How many queries are answered together under a time limit: as many as take about `BLOCK_S`.

    >>> tempo = Tempo()
    >>> tempo.after(8, 0.1)
    >>> tempo.most
    32
    """

    most: int = FIRST_QUERIES

    def after(self, queries: int, seconds: float) -> None:
        """Take note of a block of `queries` whose work, model calls aside, took `seconds`."""
        fitting = int(queries * BLOCK_S / max(seconds, 1e-9))
        self.most = max(1, min(4 * queries, fitting))


def blocks(
    batch: Batch,
    columns: int,
    singles: int = 0,
    tempo: Tempo | None = None,
    keeping: Keeping | None = None,
    *,
    screened: bool = False,
) -> Iterator[tuple[Array, Batch]]:
    """The blocks of a call: positions of their rows, and what is asked of them.

    `singles` is how many single changes a query may be offered, where that is much. `tempo` is
    looked at before each block. `keeping` is the structure that rows keep. `screened` says that
    only the columns that matter are tried one by one.
    """
    given = batch.question.max_rows is not None  # then nothing is screened
    each = SCREENED if screened and not given and _open_whole(batch) else ROWS_A_QUERY
    rows = max(each * min(batch.question.n, MOST_ANSWERS), singles, 2 * columns * given)
    most = max(1, min(MOST_QUERIES, MOST_CELLS // (rows * columns)))
    for places in _alike(batch, keeping):
        start = 0
        while start < len(places):
            size = most if tempo is None else min(most, tempo.most)
            part = places[start : start + size]
            yield part, batch if len(part) == len(batch) else batch.take(part)
            start += size


def _open_whole(batch: Batch) -> bool:
    """Whether no row's constraints leave columns out."""
    different = {id(one): one for one in batch.constraints}.values()
    return not any(one.fixed or one.only is not None for one in different)


def _alike(batch: Batch, keeping: Keeping | None) -> list[Array]:
    """Positions of rows whose constraints have the same groups, derived columns and structure.

    Rows that are tested whole are apart too: they are searched more widely.
    """
    different = {id(one): one for one in batch.constraints}
    if len(different) == 1:
        return [np.arange(len(batch))]
    found: dict[Any, list[int]] = {}
    alike: dict[int, list[int]] = {}
    for key, constraints in different.items():
        derived = tuple(sorted((name, str(text)) for name, text in constraints.derived.items()))
        tested = bool(constraints.rules) or constraints.strict
        kind = constraints.groups, derived, tested, kin_of(keeping, constraints).signature
        alike[key] = found.setdefault(kind, [])
    for place, constraints in enumerate(batch.constraints):
        alike[id(constraints)].append(place)
    return [np.array(places) for places in found.values()]


def for_all_rows(items: list[Explanation], first: Array, batch: Batch) -> list[Explanation]:
    """The explanations of all rows from those of the first rows of a kind, see `first_alike`."""
    _, which = np.unique(first, return_inverse=True)
    return [
        items[at] if first[place] == place else said_again(items[at], batch.rows, place)
        for place, at in enumerate(which.reshape(-1).tolist())
    ]


def first_alike(batch: Batch) -> Array | None:
    """For each row the position of the first that asks the same, (n,); None where all differ.

    Only calls are looked at that keep rows with faults and ask the same of all rows: those are the
    long ones. A row with a cell that its code does not tell is like no other.
    """
    alike = (
        {id(goal) for goal in batch.goals},
        {id(constraints) for constraints in batch.constraints},
    )
    if not batch.question.keeps or len(batch.rows) < 2 or any(len(ids) > 1 for ids in alike):
        return None
    keys = row_keys(batch.rows.codes)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    places, odd = np.arange(len(keys)), np.asarray(batch.rows.odd.any(axis=1))
    found = first[which.reshape(-1)]
    found = np.where(odd | odd[found], places, found)
    return None if (found == places).all() else found


def said_again(item: Explanation, rows: Rows, place: int) -> Explanation:
    """An explanation for another row that asked the same; it cost nothing."""

    def moved(found: Counterfactual) -> Counterfactual:
        return replace(found, source=Source(rows, place, found.source.codes))

    return replace(
        item,
        counterfactuals=tuple(map(moved, item.counterfactuals)),
        miss=None if item.miss is None else moved(item.miss),
        cost=Cost(0, 0, 0.0),
        source=Source(rows, place, item.source.codes),
        asked=item.asked._replace(query=item.source.query),
    )


Progress = Callable[[int], Any]


def silent(done: int) -> None:
    """Say nothing."""


@contextmanager
def reporter(progress: Any, total: int) -> Iterator[Progress]:
    """A function of the number of rows done: silent, the caller's own, or a bar on the terminal."""
    if progress is None or progress is False:
        yield silent
    elif callable(progress):
        yield lambda done: progress(done, total)
    elif progress is True:
        from rich.progress import Progress as Bar

        with Bar(transient=True) as bar:
            task = bar.add_task("explaining", total=total)
            yield lambda done: bar.update(task, completed=done)
    else:
        raise OptionError(
            f"progress is True, None or a function of (done, total), not {progress!r}"
        )
