"""What the results say: first where baselines beat the default, then figures, ranks and pictures.

Everything is a table or a chart made of lines of results; nothing is measured here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from macex.bench.arena.course import Course
from macex.bench.arena.diagram import RankDiagram
from macex.bench.arena.effort import effort
from macex.bench.arena.entries import ONLY, OURS
from macex.bench.arena.layout import COLUMNS, NO_CELL, asked
from macex.bench.arena.ranks import critical_difference, friedman, mean_ranks
from macex.bench.arena.scores import (
    BETTER,
    CELL,
    FEWEST,
    FOUR,
    HALF,
    OF_BATCHES,
    SOLVED,
    Duel,
    dominators,
    duels,
    front,
    fronts,
    interval,
    means,
    scored,
    trusted,
)
from macex.bench.report.document import Block, ReportSection, ReportTable
from macex.render.charts import Chart, Measure, Point, Scatter
from macex.schema import Array

DEFAULT = "default"
QUALITY = (
    *SOLVED, "changed", "distance", "distance_mad", "distance_percentile", "plausibility", "lof",
    "isolation", "real", "broken", "kept", "noise", "refits", "lawful", "idle", "excess",
)  # fmt: skip
COST = ("rows", "calls", "seconds", "memory")
SETS = ("diversity_dpp", "diversity_sets", "diversity_spread", "stable")
NAMED = 4
SHOWN = 20  # cells that a table names
BEATEN = f"""\
A baseline beats the default in a cell if, at the same budget and on the queries that both solved, \
{FEWEST} at least, the 95 % interval of the paired difference is all on its side. Each of these \
cells is a goal."""
INTERVALS = """\
Means with 95 % bootstrap intervals: the queries of every cell are drawn again, the cells are not. \
Nothing is said of answers where less than half of the queries were solved."""
BATCHES = """\
Seconds and memory are figures of a whole batch. A baseline is quicker or smaller than the default \
in so many cells, by however little:"""
MEANS = f"""\
Means of first answers that are valid. Who solved less than {HALF:.0%} of the queries stands last: \
few answers are those of the easiest queries."""
UNFITTED = "No method was asked in these cells, so none of them counts anywhere else on this page."
OVERSPENT = "These asked the model about more rows than the budget, on average of a cell."
FRONT = f"""\
A method is on the front of a cell if nobody else is as good in all measures and better in one. By \
four measures, {", ".join(FOUR)}, among who solved at least {HALF:.0%} of the queries, the default \
is on the front of {{}} of {{}} cells; by five, with valid, among all, of {{}}. Beside baselines \
alone, without macex's other options, it is by four on the front of {{}}."""
CHANCE = f"""\
Few queries decide that. *Beyond chance* says who is at least as good in all four on the queries \
that both solved, {FEWEST} at least, with a paired 95 % interval off 0 in what is in brackets. So \
beaten is the default in {{}} of {{}} cells, in {{}} by a baseline; in all but {{}} and {{}} of \
these in rows alone."""


@dataclass(frozen=True)
class Board:
    """The results of a run, read."""

    lines: pd.DataFrame

    @cached_property
    def first(self) -> pd.DataFrame:
        """A line a query, with all measures."""
        return scored(asked(self.lines))

    @cached_property
    def measures(self) -> list[str]:
        """Those that something is known of."""
        return [name for name in BETTER if name in self.first and self.first[name].notna().any()]

    @cached_property
    def budgets(self) -> list[int]:
        """The budgets, smallest first."""
        return sorted(asked(self.lines)["budget"].unique().tolist())

    @cached_property
    def main(self) -> int:
        """The budget that most cells were asked at, of equals the largest: pictures are of it."""
        cells = self.first.drop_duplicates([*CELL, "budget"])["budget"].value_counts()
        return int(cells[cells == cells.max()].index.max())

    @cached_property
    def methods(self) -> list[str]:
        """The methods, in the order of their names."""
        return sorted(asked(self.lines)["method"].unique().tolist())

    @cached_property
    def everywhere(self) -> list[str]:
        """The methods that were asked in every cell."""
        return [name for name in self.methods if name not in ONLY]

    @cached_property
    def cells(self) -> pd.DataFrame:
        """Means of every cell, method and budget."""
        return self.first.groupby([*CELL, "budget", "method"])[self.measures].mean()

    @cached_property
    def lost(self) -> list[Duel]:
        """Where the default is beaten at equal budget, worst measure first."""
        known = self._compared
        return [one for one in duels(self.first, DEFAULT, known) if one.lost]

    @property
    def _compared(self) -> list[str]:
        """What two methods are compared by, query by query."""
        apart = {*OF_BATCHES, "wrong", "unanswered"}  # `valid` says it of both together
        return [name for name in (*QUALITY, *COST) if name in self.measures and name not in apart]

    def sections(self) -> list[ReportSection]:
        """All tables, what loses first."""
        found = [self.losing(), self.on_front()]
        found += [*Course(self.first).sections(), self.leader(self.main)]
        found += [self.leader(one) for one in reversed(self.budgets) if one != self.main]
        several = self.first.groupby(CELL).ngroups > 1
        ranks = [self.ranking()] if several else []  # of one cell they say nothing
        found += [self.intervals(self.main), *ranks, *self.failures()]
        return [*found, *effort(asked(self.lines))]

    def losing(self) -> ReportSection:
        """The measures in which baselines beat the default, and the cells."""
        table = ReportTable(
            "By measure", ("measure", "cells lost", "of", "by whom", "worst"), prose=True
        )
        cells = self.first.groupby([*CELL, "budget"]).ngroups
        by: dict[str, list[Duel]] = defaultdict(list)
        for duel in self.lost:
            if duel.rival not in OURS:
                by[duel.measure].append(duel)
        for measure in sorted(by, key=lambda one: -len(_places(by[one]))):
            worst = max(by[measure], key=lambda one: one.gap.mean)
            rivals = pd.Series([one.rival for one in by[measure]]).value_counts()
            named = ", ".join(f"{name} ({count})" for name, count in rivals.head(NAMED).items())
            table.add(
                measure,
                len(_places(by[measure])),
                cells,
                named,
                f"{worst.cell}, {worst.budget} rows: {worst.rival} ({worst.gap})",
            )
        never = [name for name in self._compared if name not in by]
        blocks: list[Block] = [BEATEN, table]
        if never:
            blocks.append(f"Never beaten in: {', '.join(never)}.")
        return ReportSection("Where baselines beat the default", [*blocks, *self._batches()])

    def _batches(self) -> list[Block]:
        """Who takes less time or memory than the default, and in how many cells."""
        table = ReportTable("By figures of a batch", ("measure", "of", "by whom"), prose=True)
        for measure in (name for name in OF_BATCHES if name in self.measures):
            here = self.cells[measure].unstack("method")  # noqa: PD010
            if DEFAULT not in here:
                continue
            rivals = here.drop(columns=[name for name in OURS if name in here])
            less = rivals.lt(here[DEFAULT], axis=0).sum()
            ranked = less[less > 0].sort_values(ascending=False, kind="stable")
            named = ", ".join(f"{name} ({count})" for name, count in ranked.items())
            table.add(measure, len(here), named or "nobody")
        return [BATCHES, table] if table.lines else []

    @cached_property
    def fronts(self) -> dict[tuple[Any, ...], tuple[list[str], list[str]]]:
        """Who is on the front of a cell and budget, by four measures and by five."""
        found = {}
        for group, here in self.cells.groupby([*CELL, "budget"]):
            key: Any = group
            found[tuple(key)] = fronts(here.droplevel([*CELL, "budget"]))
        return found

    @property
    def beside_baselines(self) -> int:
        """On how many fronts by four measures the default is where macex's own are left out."""
        own = [name for name in OURS if name != DEFAULT]
        others = self.cells.drop(index=own, level="method", errors="ignore")
        groups = others.groupby([*CELL, "budget"])
        return sum(DEFAULT in fronts(one.droplevel([*CELL, "budget"]))[0] for _, one in groups)

    @cached_property
    def dominated(self) -> dict[tuple[Any, ...], dict[str, list[str]]]:
        """Who is better than the default beyond chance in a cell at a budget, and in what."""
        groups = self.first.groupby([*CELL, "budget"])
        return {key: dominators(here, DEFAULT) for key, here in groups}

    def beyond_chance(self) -> str:
        """In how many cells somebody is better than the default beyond chance."""
        found = [here for here in self.dominated.values() if here]
        theirs = [{name: of for name, of in here.items() if name not in OURS} for here in found]
        more = [
            sum(any(of != ["rows"] for of in here.values()) for here in cells)
            for cells in (found, theirs)
        ]
        return CHANCE.format(len(found), len(self.dominated), sum(map(bool, theirs)), *more)

    def on_front(self) -> ReportSection:
        """On how many fronts each method is, and on which the default is not."""
        count, names = len(self.fronts), self.methods
        held = {
            n: [sum(n in on[by] for on in self.fronts.values()) for by in (0, 1)] for n in names
        }
        table = ReportTable("Cells on whose front a method is", ("method", "by four", "by five"))
        for name in sorted(names, key=lambda one: (-held[one][0], -held[one][1])):
            table.add(name, *held[name])
        off = [(key, on[0]) for key, on in self.fronts.items() if DEFAULT not in on[0]]
        heads = ("cell", "budget", "front", "beyond chance")
        apart = ReportTable("Without the default, by four", heads, prose=True)
        for key, on in off[:SHOWN]:
            sure = [f"{name} ({', '.join(of)})" for name, of in self.dominated[key].items()]
            apart.add(_named(key), str(key[3]), ", ".join(on), "; ".join(sure) or "nobody")
        more: list[Block] = []
        if len(off) > SHOWN:
            more.append(f"And {len(off) - SHOWN} more, which the leaderboard has.")
        ours = held.get(DEFAULT, [0, 0])
        said = FRONT.format(ours[0], count, ours[1], self.beside_baselines)
        found: list[Block] = [said, self.beyond_chance(), table]
        found += [apart, *more] if off else []
        return ReportSection("The Pareto front", found)

    def leader(self, budget: int) -> ReportSection:
        """The figures of all methods at a budget, means over cells."""
        here = self.first[self.first["budget"] == budget]
        table = means(here, ("method",))
        blocks: list[Block] = [MEANS]
        for title, names in (("Answers", QUALITY), ("Cost", COST), ("Sets and seeds", SETS)):
            known = [name for name in names if name in table and table[name].notna().any()]
            if not known:
                continue
            shown = ReportTable(f"{title}, {budget:,} rows", ("method", *known))
            order = table.assign(few=table["valid"] < HALF).sort_values(
                ["few", "changed", "plausibility"], ascending=[True, True, False]
            )
            for name, line in order.iterrows():
                shown.add(str(name), *(float(line[one]) for one in known))
            blocks.append(shown)
        return ReportSection(f"Budget: {budget:,} rows", blocks)

    def intervals(self, budget: int) -> ReportSection:
        """What the main measures come to at a budget, and how far chance may move that."""
        here = self.first[self.first["budget"] == budget]
        known = [name for name in ("valid", *FOUR) if name in self.measures]
        table = ReportTable(f"Means, {budget:,} rows", ("method", *known), prose=True)
        every = trusted(means(here, ("method",)))
        for name in every.sort_values("changed", na_position="last").index:
            mine = here[here["method"] == name]
            cells = {one: [v.to_numpy(float) for _, v in mine.groupby(CELL)[one]] for one in known}
            shown = [_ranged(float(every.loc[name, one]), cells[one]) for one in known]
            table.add(str(name), *shown)
        return ReportSection("How far chance may move them", [INTERVALS, table])

    def ranks(self, measure: str, budget: int) -> tuple[dict[str, float], float, float]:
        """Average ranks over cells, the critical difference, and Friedman's chance."""
        table = self._table(measure, budget)
        difference = critical_difference(len(table.columns), len(table))
        ranked = mean_ranks(table.to_numpy(float))
        named = dict(zip(map(str, table.columns), map(float, ranked), strict=True))
        return named, difference, friedman(table.to_numpy(float))

    def _table(self, measure: str, budget: int) -> pd.DataFrame:
        """A measure by cell and method, the lowest best; none for who solved less than half."""
        cells = self.cells.xs(budget, level="budget")
        known = cells[measure].where((cells["valid"] >= HALF) | (measure == "valid"))
        here = known.unstack("method")  # noqa: PD010
        names = [name for name in self.everywhere if name in here]
        return -BETTER[measure] * here[names].round(9)

    def ranking(self) -> ReportSection:
        """Average ranks by the main measures, at the main budget."""
        budget, known = self.main, [name for name in FOUR if name in self.measures]
        every = {measure: self.ranks(measure, budget) for measure in known}
        table = ReportTable(f"Average ranks, {budget:,} rows", ("method", *known))
        order = sorted(self.everywhere, key=lambda one: sum(r[0][one] for r in every.values()))
        for name in order:
            table.add(name, *(every[measure][0][name] for measure in known))
        table.add("critical difference", *(every[measure][1] for measure in known))
        said = "; ".join(f"{measure} p = {every[measure][2]:.2g}" for measure in known)
        return ReportSection("Ranks over cells", [f"Friedman's test: {said}.", table])

    def failures(self) -> list[ReportSection]:
        """What methods raised, and who asked for more than the others might."""
        return [*self._unfitted(), *self._raised(), *self._overspent()]

    def _overspent(self) -> list[ReportSection]:
        """Who did not keep to the budget: a method that does not bound itself is not stopped."""
        spent = self.cells["rows"].reset_index()
        over = spent[spent["rows"] > spent["budget"]]
        if over.empty:
            return []
        table = ReportTable("By method", ("method", "cells", "most"), prose=True)
        for method, here in over.groupby("method"):
            worst = here.iloc[int(np.argmax(here["rows"] / here["budget"]))]
            most = f"{worst['rows']:,.0f} of {worst['budget']:,} rows"
            table.add(str(method), len(here), f"{most} in {worst['dataset']} / {worst['model']}")
        return [ReportSection("Who spent more than the budget", [OVERSPENT, table])]

    def _unfitted(self) -> list[ReportSection]:
        """The cells that have no model."""
        without = self.lines[self.lines["query"] == NO_CELL]
        if without.empty:
            return []
        table = ReportTable("By cell", ("cell", "why"), prose=True)
        for (dataset, model, why), _ in without.groupby(["dataset", "model", "error"]):
            table.add(f"{dataset} / {model}", str(why)[:200])
        return [ReportSection("Cells without a model", [UNFITTED, table])]

    def _raised(self) -> list[ReportSection]:
        broken = self.first[self.first["error"].notna()]
        if broken.empty:
            return []
        table = ReportTable("By method", ("method", "where", "what"), prose=True)
        for (method, what), group in broken.groupby(["method", "error"]):
            where = (group["dataset"] + " / " + group["model"]).unique()
            table.add(str(method), ", ".join(where[:NAMED]), str(what)[:200])
        return [ReportSection("What failed", [table])]

    def pictures(self) -> dict[str, tuple[str, Chart]]:
        """The charts by the names of their files, with their titles."""
        budget = self.main
        found: dict[str, tuple[str, Chart]] = {}
        for measure in FOUR:
            if measure in self.measures and len(self.everywhere) > 1:
                ranked, gap, _ = self.ranks(measure, budget)
                found[f"ranks-{measure}"] = (
                    f"Ranks by {measure}",
                    RankDiagram(ranked, gap, COLUMNS[measure][1]),
                )
        for across, up in (("changed", "plausibility"), ("rows", "refits")):
            found[f"pareto-{across}-{up}"] = (f"{up} by {across}", self.plane(across, up, budget))
        return found | Course(self.first).pictures()

    def plane(self, across: str, up: str, budget: int) -> Chart:
        """Methods by two measures; those on the front of the two are another colour."""
        table = trusted(means(self.first[self.first["budget"] == budget], ("method",)))
        table = table[[across, up]].dropna()
        on = front(table, (across, up))
        points = [
            Point(float(x), float(y), int(name not in on), f"{name}: {x:.2f}, {y:.2f}")
            for name, (x, y) in zip(table.index, table.to_numpy(), strict=True)
        ]
        said = ", ".join(f"{name} {table[across][name]:.2f} / {table[up][name]:.2f}" for name in on)
        axes = [Measure.over(one, table[one].tolist()) for one in (across, up)]
        words = f"{up} by {across}; nobody is better in both than {said}"
        return Scatter(axes[0], axes[1], tuple(points), ("on the front", "beaten"), words=words)


def _named(key: Sequence[Any]) -> str:
    """A table, a model and, but for the first, a split."""
    return f"{key[0]} / {key[1]}" + (f" / split {key[2]}" if key[2] else "")


def _ranged(mean: float, cells: Sequence[Array]) -> str:
    """A mean with its interval; nothing where the mean is not ranked."""
    return "-" if np.isnan(mean) else "{:.2f} [{:.2f}, {:.2f}]".format(mean, *interval(cells))


def _places(found: Sequence[Duel]) -> set[tuple[str, int]]:
    return {(one.cell, one.budget) for one in found}
