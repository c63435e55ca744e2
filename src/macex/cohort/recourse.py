"""Recourse: who has an answer under the constraints, who provably has none, who is undecided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from macex.cohort.groups import MOST, groups_of, largest
from macex.cohort.population import Crowd, advising, crowd, explained
from macex.engine.engine import Engine
from macex.engine.fitted import Fitted
from macex.engine.options import Options
from macex.engine.training import grid_of
from macex.errors import require_count, require_flag
from macex.explanation import Explanation
from macex.models.oracle import Oracle
from macex.render.sheets import Finding, Grid, Sheet, percent, several
from macex.schema import Array
from macex.stages.arrays import rank_within
from macex.stages.candidates import Both, Domain
from macex.stages.search.combinations import Singles, all_of, combinations
from macex.stages.search.protocol import by_levels
from macex.stages.shapes import Candidates, Found, Pool, Task
from macex.stages.thresholds import CellGrid, Thresholds

Standing = Literal["there", "answer", "none", "undecided"]
MOST_COMBINATIONS = 20_000  # a row with more of them is left to the search, unless the caller says
STANDINGS: tuple[Standing, ...] = ("there", "answer", "none", "undecided")
BATCH_ROWS = 100_000  # combinations in memory at a time
KEPT = 64  # of a row's examples, how many are kept: the nearest
OWN_ROWS = 8  # rows that a query costs beside its combinations


@dataclass(frozen=True, repr=False)
class Recourse(Finding):
    """How many rows have an answer, and which constraint takes it from how many.

    `standing` says of every row: `"there"` (the goal is reached as it is), `"answer"`, `"none"`
    (every allowed combination of the values seen in training was scored and failed; with trees, of
    all values) or `"undecided"` (there were too many to score them all). `blocked` counts, of the
    rows without an answer, those that would have one if that single constraint were dropped; a row
    may count several times. `explanations` are those of the rows, in their order.
    """

    standing: tuple[Standing, ...]
    groups: dict[str, Counter[Standing]]
    blocked: tuple[tuple[str, int], ...]
    stuck: int
    explanations: tuple[Explanation, ...] = field(repr=False)

    @property
    def counts(self) -> Counter[Standing]:
        """How many rows stand where."""
        return Counter(self.standing)

    def to_frame(self) -> pd.DataFrame:
        """One line per group."""
        lines = [(name, *(counts[s] for s in STANDINGS)) for name, counts in self.groups.items()]
        return pd.DataFrame(lines, columns=["group", *STANDINGS])

    def sheet(self) -> Sheet:
        """The counts by group and by constraint."""
        counts, asked = self.counts, len(self.standing) - self.counts["there"]
        title = (
            f"{counts['answer']} of {several(asked, 'row')} {'have' if asked > 1 else 'has'} an "
            f"answer, {counts['none']} provably none, {counts['undecided']} undecided"
            if asked
            else "No row needs an answer"
        )
        said = []
        if counts["there"]:
            said.append(f"Already at the goal as they are: {several(counts['there'], 'row')}.")
        if counts["none"]:
            said.append(
                "Provably none: no allowed combination of values seen in training reaches the "
                "goal; for trees, of any values."
            )
        if self.stuck:
            who = several(self.stuck, "row")
            said.append(f"For {who} no single constraint, if dropped, gives an answer.")
        grids = (self._groups(), self._blocked(counts["none"] + counts["undecided"]))
        return Sheet(title, (), tuple(g for g in grids if g.lines), tuple(said))

    def _groups(self) -> Grid:
        lines, bars = [], []
        for name, counts in self.groups.items():
            asked = counts.total() - counts["there"]
            share = counts["answer"] / asked if asked else float("nan")
            cells = (percent(share), *(str(counts[s]) for s in STANDINGS))
            lines.append((name, *cells))
            bars.append(share if asked else 0.0)
        heads = ("group", "with an answer", "there already", "answer", "provably none", "undecided")
        return Grid("", heads, tuple(lines), tuple(bars))

    def _blocked(self, without: int) -> Grid:
        return Grid(
            "Which constraint takes the answer from how many",
            ("constraint", "rows"),
            tuple((text, f"{count} ({percent(count / without)})") for text, count in self.blocked),
            tuple(count / without for _, count in self.blocked),
            "Rows without an answer that would have one if this constraint alone were dropped.",
        )


@advising()
def recourse(
    engine: Engine,
    rows: Any,
    *,
    want: Any = None,
    constraints: Any = None,
    by: Any = None,
    diagnose: bool = True,
    max_rows: int | None = None,
    most_groups: int = MOST,
) -> Recourse:
    """Who has an answer under the constraints; see `Explainer.recourse`."""
    require_flag("diagnose", diagnose)
    if max_rows is not None:
        require_count("max_rows", max_rows)
    everyone = crowd(engine, rows, want, constraints)
    groups = groups_of(everyone.rows, by, None, most_groups)
    found = _explained(everyone, max_rows)
    lacking = everyone.take(np.flatnonzero([not item.counterfactuals for item in found]))
    plain = replace(everyone.fitted.options, fallback=False)
    relief = explained(lacking, plain, max_rows=max_rows, diagnose=True) if diagnose else []
    bound = any(True for one in lacking.constraints for _ in one.parts())
    blocked = Counter(text for item in relief for text in item.diagnosis)
    standing = tuple(_standing(item) for item in found)
    return Recourse(
        standing,
        {name: Counter(standing[at] for at in places) for name, places in groups.items()},
        tuple(blocked.most_common()),
        sum(not item.diagnosis for item in relief) if bound else 0,
        tuple(found),
    )


def joined(parts: Iterable[Recourse]) -> Recourse:
    """One finding from those about several parts of a population, without their explanations."""
    standing: list[Standing] = []
    groups: dict[str, Counter[Standing]] = {}
    blocked: Counter[str] = Counter()
    stuck = 0
    for part in parts:
        standing += part.standing
        for name, counts in part.groups.items():
            groups.setdefault(name, Counter()).update(counts)
        blocked.update(dict(part.blocked))
        stuck += part.stuck
    return Recourse(tuple(standing), _largest(groups), tuple(blocked.most_common()), stuck, ())


def _largest(groups: dict[str, Counter[Standing]]) -> dict[str, Counter[Standing]]:
    """The largest groups, and all others as one."""
    found: dict[str, Counter[Standing]] = {}
    sizes = {name: counts.total() for name, counts in groups.items()}
    for name, called in largest(sizes).items():
        found.setdefault(called, Counter()).update(groups[name])
    return found


def _explained(everyone: Crowd, max_rows: int | None) -> list[Explanation]:
    """An explanation for every row; what a search leaves open is decided where that is possible."""
    engine = by_cells(everyone.engine, max_rows) or everyone.engine
    plain = replace(engine.options, fallback=False)
    found = explained(replace(everyone, engine=engine), plain, max_rows=max_rows)
    whole = replace(
        everyone.fitted.options,
        candidates=Domain(),
        method=Everything(max_rows or MOST_COMBINATIONS),
        fallback=False,
    )
    for options, most in ((whole, None), (everyone.fitted.options, max_rows)):
        open_ = np.flatnonzero([_standing(item) == "undecided" for item in found])
        again = explained(everyone.take(open_), options, max_rows=most)
        for place, item in zip(open_, again, strict=True):
            found[place] = item
    return found


def _standing(item: Explanation) -> Standing:
    if item.counterfactuals:
        return "answer" if item.counterfactuals[0].changes else "there"
    proved = item.status == "none" and item.minimal_over in ("all values", "seen values")
    return "none" if proved else "undecided"


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
