"""Figures over the results: what each method comes to, where one beats another, who leads.

Every function takes lines of results as `layout` documents them. A figure of quality is a mean over
the first answers that are valid; two methods are compared on the queries that both solved.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from macex.bench.arena.ranks import holm, signed_ranks
from macex.bench.statistics import PairedDifference, differences
from macex.schema import Array

CELL = ["dataset", "model", "split"]
ASKED = [*CELL, "method", "budget", "seed"]
BETTER: dict[str, int] = {
    "valid": 1,
    "wrong": -1,
    "unanswered": -1,
    "changed": -1,
    "distance": -1,
    "distance_mad": -1,
    "distance_percentile": -1,
    "plausibility": 1,
    "lof": -1,
    "isolation": -1,
    "real": -1,
    "broken": -1,
    "kept": 1,
    "noise": 1,
    "refits": 1,
    "lawful": 1,
    "idle": -1,
    "excess": -1,
    "diversity_dpp": 1,
    "diversity_sets": 1,
    "diversity_spread": 1,
    "stable": 1,
    "rows": -1,
    "calls": -1,
    "seconds": -1,
    "memory": -1,
}
"""All measures, and whether more of each is better (1) or less (-1)."""
DERIVED = {
    "valid": "share of queries whose first answer reaches the goal",
    "wrong": "share of queries whose first answer does not reach the goal",
    "unanswered": "share of queries without an answer",
    "stable": "share of queries with the same changed columns under every seed",
}
"""What measures are that are made of the lines of results, not columns of them."""
SOLVED = ("valid", "wrong", "unanswered")
COSTS = (*SOLVED, "rows", "calls", "seconds", "memory")  # known of queries without an answer, too
OF_BATCHES = ("seconds", "memory")  # one figure for all queries of a cell
FEWEST = 5  # paired queries that an interval is made of
HALF = 0.5  # the share of its queries that a method must solve for its answers to be ranked
FOUR = ("changed", "plausibility", "refits", "rows")  # a front of who solved at least half
FIVE = ("valid", *FOUR)  # a front of all
RESAMPLES = 1000


def firsts(lines: pd.DataFrame) -> pd.DataFrame:
    """One line a query, its first answer; what only valid answers have is empty elsewhere."""
    first = lines[lines["rank"] <= 1].copy()
    measured = [name for name in BETTER if name in first and name not in COSTS]
    first.loc[~first["valid"].astype(bool), measured] = np.nan
    answered = first["rank"] > 0
    first["valid"] = first["valid"].astype(float)
    first["wrong"] = (answered & (first["valid"] == 0)).astype(float)
    first["unanswered"] = (~answered).astype(float)
    return first


def steadiness(lines: pd.DataFrame) -> pd.Series:
    """Whether a query's first answer changes the same columns under every seed, 0 or 1.

    Indexed like the lines; NaN where there is one seed.
    """
    keys = [*CELL, "method", "budget", "query"]
    sets = lines["changes"].astype(object).fillna("")
    different = sets.groupby([lines[key] for key in keys]).transform("nunique")
    seeds = lines.groupby(keys)["seed"].transform("nunique")
    return (different == 1).astype(float).where(seeds > 1)


def scored(lines: pd.DataFrame) -> pd.DataFrame:
    """First answers with all measures."""
    first = firsts(lines)
    return first.assign(stable=steadiness(first))


def means(first: pd.DataFrame, by: Sequence[str] = ("method", "budget")) -> pd.DataFrame:
    """Means of cells' means, so that every cell counts alike."""
    names = [name for name in BETTER if name in first]
    cells = first.groupby([*by, *(one for one in CELL if one not in by)])[names].mean()
    return cells.groupby(list(by)).mean()


def interval(cells: Sequence[Array], draws: int = RESAMPLES) -> tuple[float, float]:
    """A bootstrap interval, at 95 %, of the mean of cells' means: queries are drawn in each cell.

    >>> interval([np.array([1.0, 1.0, np.nan]), np.array([2.0])])
    (1.5, 1.5)
    """
    known = [values[~np.isnan(values)] for values in cells]
    known = [values for values in known if len(values)]
    if not known:
        return float("nan"), float("nan")
    random = np.random.default_rng(0)
    drawn = [
        values[random.integers(len(values), size=(draws, len(values)))].mean(axis=1)
        for values in known
    ]
    low, high = np.quantile(np.mean(drawn, axis=0), [0.025, 0.975])
    return float(low), float(high)


@dataclass(frozen=True)
class Duel:
    """One method held against another by one measure in one cell; above 0 the first is worse."""

    cell: str
    budget: int
    measure: str
    rival: str
    gap: PairedDifference
    chance: float  # by signed ranks, corrected for the number of rivals

    @property
    def lost(self) -> bool:
        """Whether the rival is better, beyond what the interval of enough queries leaves open."""
        return self.gap.pairs >= FEWEST and self.gap.low > 0


def duels(first: pd.DataFrame, name: str, measures: Sequence[str]) -> list[Duel]:
    """A method against every other, in every cell and budget, on queries that both solved.

    Seeds are averaged first: what one query comes to under three seeds is no three queries.
    """
    found = []
    for group, here in first.groupby([*CELL, "budget"]):
        key: Any = group
        cell = " / ".join(map(str, key[:2])) + (f" / split {key[2]}" if key[2] else "")
        every = here.groupby(["query", "method"])[list(measures)].mean().unstack("method")  # noqa: PD010
        for measure in measures:
            table: Any = every[measure]
            if name in table:
                found += _against(table, name, measure, cell, int(key[3]))
    return found


def _against(table: pd.DataFrame, name: str, measure: str, cell: str, budget: int) -> list[Duel]:
    """A method against every other, by one measure: (queries, methods)."""
    rivals = table.columns.drop(name)
    gaps = BETTER[measure] * (table[rivals].sub(table[name], axis=0)).to_numpy(float)
    known = ~np.isnan(gaps)
    chances: dict[str, float] = {}
    held: dict[str, PairedDifference] = {}
    for pattern in np.unique(known, axis=1).T:  # who solved the same queries, at once
        mine = np.flatnonzero((known == pattern[:, None]).all(axis=0))
        if pattern.any():
            some = gaps[pattern][:, mine]
            chances.update(zip(rivals[mine], signed_ranks(some).tolist(), strict=True))
            held.update(zip(rivals[mine], differences(some), strict=True))
    corrected = holm(chances)
    return [
        Duel(cell, budget, measure, str(rival), held[rival], corrected[rival])
        for rival in rivals
        if rival in held
    ]


def dominators(first: pd.DataFrame, name: str) -> dict[str, list[str]]:
    """Who is better than a method beyond chance in one cell at one budget, and in what.

    On the queries that both solved such a method is at least as good in all four measures, and its
    95 % interval is all on its side in those that are named. It solved at least half.

    >>> lines = [("a", query, 1, 1.0, 0.5, 0.5, rows) for query, rows in enumerate([9] * 5)]
    >>> lines += [("b", query, 1, 1.0, 0.5, 0.5, 4) for query in range(5)]
    >>> columns = ["method", "query", "valid", "changed", "plausibility", "refits", "rows"]
    >>> dominators(pd.DataFrame(lines, columns=columns), "a")
    {'b': ['rows']}
    """
    known = [one for one in FOUR if one in first and first[one].notna().any()]
    solved = first.groupby("method")["valid"].mean()
    every = first.groupby(["query", "method"])[known].mean().unstack("method")  # noqa: PD010
    found: dict[str, list[str]] = {}
    for rival in solved.index[solved >= HALF].drop(name, errors="ignore"):
        pair = [(every[one][rival] - every[one].get(name, np.nan)) * BETTER[one] for one in known]
        gaps = np.column_stack(pair)
        gaps = gaps[~np.isnan(gaps).any(axis=1)]
        held = differences(gaps)
        sure = [one for one, gap in zip(known, held, strict=True) if gap.low > 0]
        if len(gaps) >= FEWEST and sure and (gaps.mean(axis=0).round(9) >= 0).all():
            found[str(rival)] = sure
    return found


def trusted(table: pd.DataFrame) -> pd.DataFrame:
    """A table of means without those of answers of who solved less than half of the queries.

    Few answers are those of the easiest queries, so their means are no one else's.
    """
    kept = [name for name in table if name in COSTS]
    answers = table.columns.difference(kept)
    found = table.copy()
    found.loc[table["valid"] < HALF, answers] = np.nan
    return found


def fronts(table: pd.DataFrame) -> tuple[list[str], list[str]]:
    """The methods on the front by four measures, of who solved at least half, and by five."""
    four, five = ([name for name in names if name in table] for names in (FOUR, FIVE))
    return front(table[table["valid"] >= HALF], four), front(table, five)


def front(table: pd.DataFrame, measures: Sequence[str]) -> list[str]:
    """The methods (index) that no other is as good as in all measures and better in one.

    >>> figures = pd.DataFrame({"changed": [1, 2, 2], "rows": [90, 10, 95]}, list("abc"))
    >>> front(figures, ["changed", "rows"])
    ['a', 'b']
    """
    signs = np.array([-BETTER[name] for name in measures])
    costs = np.round(table[list(measures)].to_numpy(float) * signs, 9)
    costs = np.where(np.isnan(costs), np.inf, costs)
    no_worse = (costs[None] <= costs[:, None]).all(axis=2)
    better = (costs[None] < costs[:, None]).any(axis=2)
    beaten: Array = np.any(no_worse & better, axis=1)
    return table.index[~beaten].astype(str).tolist()
