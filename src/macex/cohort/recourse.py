"""Recourse: who has an answer under the constraints, who provably has none, who is undecided."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from macex.cohort.explanations import explained
from macex.cohort.groups import MOST, groups_of, largest
from macex.cohort.open_rows import Everything, by_cells
from macex.cohort.population import Crowd, advising, crowd
from macex.errors import require_count, require_flag
from macex.render.sheets import Finding, Grid, Sheet, percent, several
from macex.stages.candidates import Domain

if TYPE_CHECKING:
    from collections.abc import Iterable

    from macex.engine.engine import Engine
    from macex.explanation import Explanation

Standing = Literal["there", "answer", "none", "undecided"]
MOST_COMBINATIONS = 20_000  # a row with more of them is left to the search, unless the caller says
STANDINGS: tuple[Standing, ...] = ("there", "answer", "none", "undecided")


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
