"""Recourse: who has an answer under the constraints, who provably has none, who is undecided."""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from macex.cohort.groups import group_names, members
from macex.cohort.population import Crowd, crowd
from macex.render.sheets import Finding, Grid, Sheet, percent
from macex.schema import Array
from macex.stages.candidates import Domain

if TYPE_CHECKING:
    from macex.explainer.explainer import Explainer
    from macex.explainer.options import Options
    from macex.explanation import Explanation

Standing = Literal["there", "answer", "none", "undecided"]
STANDINGS: tuple[Standing, ...] = ("there", "answer", "none", "undecided")


@dataclass(frozen=True, repr=False)
class Recourse(Finding):
    """How many rows have an answer, and which constraint takes it from how many.

    `standing` says of every row: `"there"` (the goal is reached as it is), `"answer"`, `"none"`
    (every allowed combination of the values seen in training was scored and failed) or
    `"undecided"` (the search was cut). `blocked` counts, of the rows without an answer, those that
    would have one if that single constraint were dropped; a row may count several times.
    `explanations` are those of the rows, in their order.
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
            f"{counts['answer']} of {asked} rows have an answer, {counts['none']} provably none, "
            f"{counts['undecided']} are undecided"
            if asked
            else "No row needs an answer"
        )
        said = [f"{counts['there']} rows reach the goal as they are."] if counts["there"] else []
        if self.stuck:
            said.append(f"For {self.stuck} rows no single constraint, if dropped, gives an answer.")
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


def recourse(
    explainer: Explainer,
    rows: Any,
    *,
    want: Any = None,
    constraints: Any = None,
    by: Any = None,
    diagnose: bool = True,
    max_rows: int | None = None,
) -> Recourse:
    """Who has an answer under the constraints; see `Explainer.recourse`."""
    everyone = crowd(explainer, rows, want, constraints)
    names = ["all rows"] * len(everyone) if by is None else group_names(everyone.rows, by)
    options = everyone.fitted.options
    plain = _variant(explainer, everyone, replace(options, fallback=False))
    found = list(_explained(plain, everyone, np.arange(len(everyone)), max_rows))
    exact = _variant(explainer, everyone, replace(options, candidates=Domain(), fallback=False))
    for asked in (exact, _variant(explainer, everyone, options)):
        open_ = np.flatnonzero([_standing(item) == "undecided" for item in found])
        for place, item in zip(open_, _explained(asked, everyone, open_, max_rows), strict=True):
            found[place] = item
    lacking = np.flatnonzero([not item.counterfactuals for item in found])
    relief = _explained(plain, everyone, lacking, max_rows, diagnose=True) if diagnose else ()
    blocked = Counter(text for item in relief for text in item.diagnosis)
    standing = tuple(_standing(item) for item in found)
    return Recourse(
        standing,
        {n: Counter(standing[at] for at in places) for n, places in members(names).items()},
        tuple(blocked.most_common()),
        sum(not item.diagnosis for item in relief),
        tuple(found),
    )


def _variant(explainer: Explainer, everyone: Crowd, options: Options) -> Explainer:
    """The same explainer with other options, and without an audit."""
    other = copy.copy(explainer)
    fitted = copy.copy(everyone.fitted)
    fitted.options = options
    other._fitted, other._recorder = fitted, None  # noqa: SLF001 - these answer nobody
    other.constraints = everyone.constraints
    return other


def _explained(
    explainer: Explainer,
    everyone: Crowd,
    places: Array,
    max_rows: int | None,
    *,
    diagnose: bool = False,
) -> Sequence[Explanation]:
    if not len(places):
        return ()
    rows = everyone.rows.frame(places, everyone.rows.codes[places])
    goals = [everyone.goals[place] for place in places]
    return explainer.explain(rows, want=goals, max_rows=max_rows, diagnose=diagnose)


def _standing(item: Explanation) -> Standing:
    if item.counterfactuals:
        return "answer" if item.counterfactuals[0].changes else "there"
    proved = item.status == "none" and item.minimal_over in ("all values", "seen values")
    return "none" if proved else "undecided"
