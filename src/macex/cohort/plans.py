"""A plan: few common actions that flip many rows.

The actions are chosen on at most `SAMPLE` rows, evenly spaced, so that a plan for a million rows
costs little more than one for a few thousand. What they do is then counted over all rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from macex.cohort.covering import Entries, Tally, Trials, chosen_actions
from macex.cohort.groups import groups_of
from macex.cohort.moves import Move, Moves, common_moves
from macex.cohort.plan_sheet import action_text, plan_sheet
from macex.cohort.population import Crowd, Population, advising, crowd, opened
from macex.errors import require_count
from macex.render.catalogue import ENGLISH
from macex.render.names import Names
from macex.render.sheets import Finding, Sheet
from macex.render.speech import Speech
from macex.schema import Array, Rows

if TYPE_CHECKING:
    from macex.engine.engine import Engine

SAMPLE = 2048


@dataclass(frozen=True)
class PlannedAction:
    """One action of a plan: its moves and what they do.

    `flips` counts the rows that the action flips, `adds` those of them that no action before it
    flips. `cost` is the mean distance of the rows it flips.
    """

    moves: tuple[Move, ...]
    flips: int
    adds: int
    cost: float


@dataclass(frozen=True, repr=False)
class Plan(Finding):
    """At most so many common actions, and what they do for a population.

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
    def left(self) -> Any:
        """The rows that no action flips, as a frame like the caller's."""
        places = np.flatnonzero(self.taken == -1)
        return self.rows.frame(places, self.rows.codes[places])

    def to_frame(self) -> pd.DataFrame:
        """One line per action, and per group where there are groups."""
        if self.groups:
            parts = {name: plan.to_frame() for name, plan in self.groups.items()}
            return pd.concat(parts, names=["group"]).reset_index("group").reset_index(drop=True)
        speech = Speech(self.names)
        columns = ["action", "changes", "flips", "share", "adds", "cost"]
        lines = [
            (action_text(a, speech), len(a.moves), a.flips, a.flips / self.asked, a.adds, a.cost)
            for a in self.actions
        ]
        return pd.DataFrame(lines, columns=columns)

    def sheet(self) -> Sheet:
        """The plan as a table with a bar for each action."""
        return self.sheet_in(ENGLISH)

    def sheet_in(self, language: str | Path) -> Sheet:
        """The same in another language."""
        return plan_sheet(self, Speech(self.names, language))

    def plot(self, ax: Any = None) -> Any:
        """A bar for each action, what it adds in front: matplotlib axes."""
        from macex.render.plots.plans import plan_axes

        speech = Speech(self.names)
        named = [(f"{name}: ", plan) for name, plan in self.groups.items()] or [("", self)]
        actions = [(before, action) for before, plan in named for action in plan.actions]
        texts = [before + action_text(action, speech) for before, action in actions]
        return plan_axes(texts, [action for _, action in actions], self.asked, ax)


@advising()
def plan(
    engine: Engine,
    rows: Any,
    *,
    want: Any = None,
    actions: int = 5,
    max_changes: int = 2,
    by: Any = None,
    constraints: Any = None,
) -> Plan:
    """At most `actions` common actions that flip the most rows; see `Explainer.plan`."""
    require_count("actions", actions)
    require_count("max_changes", max_changes)
    everyone = crowd(engine, rows, want, constraints)
    names = everyone.fitted.options.names
    if by is None:
        return planned(everyone, int(actions), int(max_changes))
    taken = np.full(len(everyone), -1)
    groups: dict[str, Plan] = {}
    for name, places in groups_of(everyone.rows, by).items():
        groups[name] = planned(everyone.take(places), int(actions), int(max_changes))
        taken[places] = groups[name].taken
    return Plan((), taken, everyone.rows, groups, names)


def planned(everyone: Crowd, most: int, max_changes: int, *, among: int = SAMPLE) -> Plan:
    """The plan of rows that are read already, chosen among so many of them."""
    names = everyone.fitted.options.names
    few = len(everyone) <= among
    sample = _opened(everyone if few else _needy(everyone).spaced(among))
    if sample is None:
        return Plan((), np.full(len(everyone), -2), everyone.rows, names=names)
    trials = Trials(sample, common_moves(sample.space))
    chosen = chosen_actions(trials, most, min(max_changes, trials.population.space.width))
    tally = trials.tally(chosen) if few else _counted(everyone, trials.moves, chosen)
    return Plan(
        _actions(sample, trials.moves, chosen, tally), tally.taken(), everyone.rows, names=names
    )


def _opened(asked: Crowd) -> Population | None:
    return opened(asked) if len(asked) else None


def _needy(everyone: Crowd) -> Crowd:
    """The rows that do not reach the goal as they are."""
    there = np.zeros(len(everyone), bool)
    for places, part in everyone.blocks(1):
        there[places] = part.there
    return everyone.take(np.flatnonzero(~there))


def _counted(everyone: Crowd, moves: Moves, chosen: list[Entries]) -> Tally:
    """What the chosen actions do for all rows, block by block."""
    tallies = []
    for _, part in everyone.blocks(len(moves)):
        trials = Trials(part, moves)
        trials.score(chosen)
        tallies.append(trials.tally(chosen))
    return Tally(*(np.concatenate(parts) for parts in zip(*tallies, strict=True)))


def _actions(
    sample: Population, moves: Moves, chosen: Sequence[Entries], tally: Tally
) -> tuple[PlannedAction, ...]:
    covered = np.zeros(len(tally.there), bool)
    found = []
    for turn, entries in enumerate(chosen):
        hit = tally.reached[:, turn]
        parts = tuple(moves.named(sample.space, entry) for entry in entries)
        cost = float(tally.far[hit, turn].mean()) if hit.any() else float("nan")
        found.append(PlannedAction(parts, int(hit.sum()), int((hit & ~covered).sum()), cost))
        covered |= hit
    return tuple(found)
