"""A plan: few common actions that flip many rows.

The actions are chosen on at most `SAMPLE` rows, evenly spaced, so that a plan for a million rows
costs little more than one for a few thousand, and made as small as they can be for the rows they
flip. What they do is then counted over all rows.

The common actions that a summary of explanations shows cost at most twelve model calls for up to
512 rows: the rows as they are, all single moves, the promising pairs once for each action, and few
to make the actions small. More rows cost three calls more, and full chunks of rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macex.cohort.cover import ActionTrials, Entries, Tally, chosen_actions, ordered
from macex.cohort.groups import groups_of
from macex.cohort.moves import Move, Moves, common_moves
from macex.cohort.plan_sheet import action_text, plan_sheet
from macex.cohort.population import Crowd, Population, advising, crowd, opened
from macex.cohort.shrinkage import shrunk
from macex.engine.batch import Batch
from macex.engine.engine import Engine
from macex.errors import (
    ConstraintError,
    ModelError,
    OptionError,
    require_choice,
    require_count,
    require_flag,
    require_number,
)
from macex.render.charts import Bar, Bars, Chart, Stack, coverage
from macex.render.names import Names
from macex.render.sheets import Finding, Sheet
from macex.render.speech import ENGLISH, Speech
from macex.schema import Array, Rows

SAMPLE = 2048
SLACK = 0.02  # of the rows in need, how many may be given up for fewer and smaller moves
ACTIONS, CHANGES = 3, 2
AMONG = 512  # rows on which they are chosen; what they do is counted over all
FEWEST = 2  # rows that can have an action in common


@dataclass(frozen=True)
class PlannedAction:
    """One action of a plan: its moves and what they do.

    `flips` counts the rows that the action flips, `adds` those of them that no action before it
    flips. `cost` is the mean distance of the rows it flips, `plausible` the share of them, of at
    most 64, that are plausible then or more so than before.
    """

    moves: tuple[Move, ...]
    flips: int
    adds: int
    cost: float
    plausible: float = 1.0


@dataclass(frozen=True, repr=False)
class Plan(Finding):
    """A few common actions, and what they do for a population.

    `taken` says for every row which action (0 is the first) flips it at the least distance, -1
    where none does and -2 where the goal is reached as it is. `groups` are the plans of the parts
    that `by=` made.
    """

    actions: tuple[PlannedAction, ...]
    taken: Array
    rows: Rows = field(repr=False)
    groups: Mapping[str, Plan] = field(default_factory=dict)
    names: Names = field(default_factory=dict)

    @property
    def asked(self) -> int:
        """How many rows do not reach the goal as they are."""
        return int((self.taken != -2).sum())

    @property
    def already(self) -> int:
        """How many rows reach the goal as they are."""
        return int((self.taken == -2).sum())

    @property
    def flipped(self) -> int:
        """How many rows some action flips."""
        return int((self.taken >= 0).sum())

    @property
    def coverage(self) -> float:
        """The share of rows, of those that need it, that some action flips."""
        return self.flipped / self.asked if self.asked else float("nan")

    @property
    def curve(self) -> pd.DataFrame:
        """The coverage curve: how many rows the first actions flip together."""
        flipped = np.cumsum([0, *(action.adds for action in self.actions)])
        share = flipped / self.asked if self.asked else np.full(len(flipped), np.nan)
        table = {"actions": np.arange(len(flipped)), "flipped": flipped, "share": share}
        return pd.DataFrame(table)

    @property
    def left(self) -> Any:
        """The rows that no action flips, as a frame like the caller's."""
        if len(self.rows) != len(self.taken):
            raise OptionError(
                "this plan was counted part by part and holds no rows: read those where "
                "plan.taken is -1 from where they came"
            )
        places = np.flatnonzero(self.taken == -1)
        return self.rows.frame(places, self.rows.codes[places])

    def to_frame(self) -> pd.DataFrame:
        """One line per action, and per group where there are groups."""
        if self.groups:
            parts = {name: plan.to_frame() for name, plan in self.groups.items()}
            return pd.concat(parts, names=["group"]).reset_index("group").reset_index(drop=True)
        speech = Speech(self.names)
        columns = ["action", "changes", "flips", "share", "adds", "cost", "plausible"]
        lines = [
            (
                action_text(a, speech),
                len(a.moves),
                a.flips,
                a.flips / self.asked,
                a.adds,
                a.cost,
                a.plausible,
            )
            for a in self.actions
        ]
        return pd.DataFrame(lines, columns=columns)

    def sheet(self) -> Sheet:
        """The plan as a table with a bar for each action."""
        return self.sheet_in(ENGLISH)

    def sheet_in(self, language: str | Path) -> Sheet:
        """The same in another language."""
        return plan_sheet(self, Speech(self.names, language))

    def plot(self, kind: str = "actions") -> Chart:
        """A chart: the `"actions"` as bars with what each adds in front, or the `"coverage"`."""
        require_choice("kind", kind, ("actions", "coverage"))
        speech = Speech(self.names)
        named = [(f"{name}: ", plan) for name, plan in self.groups.items()] or [("", self)]
        if kind == "coverage":
            curves = tuple(plan._covered(before) for before, plan in named)  # noqa: SLF001
            return Stack(curves, title="How many rows the first actions flip together")
        bars = tuple(
            Bar(before + action_text(action, speech), action.adds, beside=action.flips)
            for before, plan in named
            for action in plan.actions
        )
        title = "What each action flips"
        return Bars(bars, f"of {self.asked} rows", ("adds", "flips"), behind=True, title=title)

    def _covered(self, before: str) -> Chart:
        reached = np.cumsum([action.adds for action in self.actions]).tolist()
        return coverage(reached, self.asked, before.removesuffix(": "))


@dataclass(frozen=True)
class PlanOptions:
    """What a plan should be like; see `Explainer.plan`."""

    actions: int = 5
    max_changes: int = 2
    slack: float = SLACK
    max_cost: float = float("inf")
    plausible: bool = True
    support: float = 0.0


@advising()
def plan(
    engine: Engine,
    rows: Any,
    options: PlanOptions,
    *,
    want: Any = None,
    by: Any = None,
    constraints: Any = None,
    bands: Any = None,
) -> Plan:
    """The common actions that flip the most rows; see `Explainer.plan`."""
    everyone = crowd(engine, rows, want, constraints)
    names = everyone.fitted.options.names
    if by is None:
        return planned(everyone, options)
    taken = np.full(len(everyone), -1)
    groups: dict[str, Plan] = {}
    for name, places in groups_of(everyone.rows, by, bands).items():
        groups[name] = planned(everyone.take(places), options)
        taken[places] = groups[name].taken
    return Plan((), taken, everyone.rows, groups, names)


def read_plan_options(
    actions: Any, max_changes: Any, slack: Any, max_cost: Any, *, plausible: Any, support: Any
) -> PlanOptions:
    """What a caller wants of a plan, checked."""
    return PlanOptions(
        require_count("actions", actions),
        require_count("max_changes", max_changes),
        _share("slack", slack),
        _cost(max_cost),
        require_flag("plausible", plausible),
        _share("support", support),
    )


def _cost(max_cost: Any) -> float:
    if max_cost is None:
        return float("inf")
    cost = require_number("max_cost", max_cost)
    if cost < 0:
        raise OptionError(f"max_cost is a distance of 0 or more, not {max_cost!r}")
    return cost


def _share(name: str, given: Any) -> float:
    share = require_number(name, given)
    if not 0 <= share <= 1:
        raise OptionError(f"{name} is a share of the rows, from 0 to 1, not {given!r}")
    return share


@dataclass(frozen=True)
class ChosenActions:
    """The actions of a plan, chosen on some rows, to be counted over others."""

    moves: Moves
    entries: tuple[Entries, ...]
    named: tuple[tuple[Move, ...], ...]
    plausible: tuple[float, ...]
    max_cost: float

    def tally(self, everyone: Crowd) -> Tally:
        """What they do for rows, block by block."""
        tallies = []
        for _, part in everyone.blocks(len(self.moves)):
            trials = ActionTrials(part, self.moves, max_cost=self.max_cost)
            trials.score(list(self.entries))
            tallies.append(trials.tally(list(self.entries)))
        return Tally(*(np.concatenate(parts) for parts in zip(*tallies, strict=True)))

    def plan(self, everyone: Crowd, tally: Tally) -> Plan:
        """The plan of rows for which it is known what the actions do."""
        covered = np.zeros(len(tally.there), bool)
        found = []
        for turn, (moves, share) in enumerate(zip(self.named, self.plausible, strict=True)):
            hit = tally.reached[:, turn]
            cost = float(tally.far[hit, turn].mean()) if hit.any() else float("nan")
            adds = int((hit & ~covered).sum())
            found.append(PlannedAction(moves, int(hit.sum()), adds, cost, share))
            covered |= hit
        names = everyone.fitted.options.names
        return Plan(tuple(found), tally.taken(), everyone.rows, names=names)


def planned(everyone: Crowd, options: PlanOptions, *, among: int = SAMPLE) -> Plan:
    """The plan of rows that are read already, chosen on a sample of them."""
    few = len(everyone) <= among
    sample = _opened(everyone if few else in_need(everyone).spaced(among))
    if sample is None:
        names = everyone.fitted.options.names
        return Plan((), np.full(len(everyone), -2), everyone.rows, names=names)
    chosen, tally = chosen_for(sample, options)
    return chosen.plan(everyone, tally if few else chosen.tally(everyone))


def counted(everyone: Crowd, chosen: ChosenActions | None) -> Plan:
    """What actions that were chosen on other rows do for these; nothing if none was chosen."""
    if len(everyone) and chosen is not None:
        return chosen.plan(everyone, chosen.tally(everyone))
    names = everyone.fitted.options.names
    return Plan((), np.full(len(everyone), -2), everyone.rows, names=names)


def joined(parts: Sequence[Plan]) -> Plan:
    """One plan from what the same actions do for several parts of a population."""
    some = [part for part in parts if part.actions]
    actions = []
    for same in zip(*(part.actions for part in some), strict=True):
        flips = [action.flips for action in same]
        far = [action.cost * action.flips for action in same if action.flips]
        cost = sum(far) / sum(flips) if sum(flips) else float("nan")
        adds = sum(action.adds for action in same)
        actions.append(replace(same[0], flips=sum(flips), adds=adds, cost=cost))
    taken = np.concatenate([part.taken for part in parts])
    rows = parts[0].rows.take(np.zeros(0, int))
    return Plan(tuple(actions), taken, rows, names=parts[0].names)


def chosen_for(sample: Population, options: PlanOptions) -> tuple[ChosenActions, Tally]:
    """The actions of a plan, as small as they can be, and what they do for the sample."""
    trials = ActionTrials(sample, common_moves(sample.space), max_cost=options.max_cost)
    changes = min(options.max_changes, sample.space.width)
    needy = int((~sample.there).sum())
    least = ceil(options.support * needy)
    chosen, spare = chosen_actions(
        trials,
        options.actions,
        changes,
        spare=int(options.slack * needy),
        plausible=options.plausible,
        least=least,
    )
    moves, actions = shrunk(trials, chosen, spare, least)
    final = ActionTrials(sample, moves, max_cost=options.max_cost)
    final.score(actions)
    entries = ordered(final)
    known = not sample.fitted.ground.private
    found = ChosenActions(
        moves,
        tuple(entries),
        tuple(tuple(moves.named(sample.space, at) for at in each) for each in entries),
        tuple(
            final.plausible(final.actions.index(one)) if known else float("nan") for one in entries
        ),
        options.max_cost,
    )
    return found, final.tally(entries)


def _opened(asked: Crowd) -> Population | None:
    return opened(asked) if len(asked) else None


def in_need(everyone: Crowd) -> Crowd:
    """The rows that do not reach the goal as they are."""
    there = np.zeros(len(everyone), bool)
    for places, part in everyone.blocks(1):
        there[places] = part.there
    return everyone.take(np.flatnonzero(~there))


def common_actions(engine: Engine, batch: Batch, places: Sequence[int]) -> Plan | None:
    """The plan for the rows at these places of a call, under its goals and constraints.

    None for fewer than two rows in need, for a call with limits that a plan has not (of rows or
    time, or that answers are robust), and where no action is possible: the model fails on it, or
    other columns move together in each row.
    """
    limited = batch.question.max_rows is not None or batch.deadline is not None
    if limited or batch.requirements.asked:
        return None
    everyone = Crowd(
        engine,
        batch.rows,
        batch.goals,
        batch.constraints,
        np.arange(len(batch.rows)),
        batch.question.margin,
    )
    mine = everyone.take(np.array(places, dtype=int))
    try:
        plan = planned(mine, PlanOptions(ACTIONS, CHANGES), among=AMONG)
    except (ConstraintError, ModelError):
        return None
    return plan if plan.asked >= FEWEST else None
