"""What a frame of a population adds to a finding about all of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from macex.cohort.bias import BiasQuestion, Tallies
from macex.cohort.groups import UNFOLDED
from macex.cohort.plans import SAMPLE, ChosenActions, Plan, counted, in_need, joined
from macex.cohort.population import Crowd, crowd
from macex.cohort.recourse import Recourse, recourse
from macex.engine.engine import Engine
from macex.engine.facts import facts_about
from macex.errors import OptionError
from macex.render.results import Facts
from macex.scale.passes import RowSample, divided, merged

NONE = np.zeros(0, int)
NOBODY = "there are no rows to look at"
ALL = ""  # the group of a plan without groups


@dataclass(frozen=True)
class AskedOfAll:
    """What every part is asked."""

    engine: Engine
    want: Any
    constraints: Any

    def facts(self) -> Callable[[], Facts]:
        """What is asked, as reports say it."""
        return partial(facts_about, self.engine, self.want, self.constraints)

    def crowd(self, frame: pd.DataFrame) -> Crowd:
        """The rows of a frame, and what is asked of them."""
        return crowd(self.engine, frame, self.want, self.constraints)


@dataclass(frozen=True)
class Division:
    """The groups of a plan: columns, edges, and what groups are called; or no groups."""

    by: Any
    bands: Any
    names: Mapping[str, str] | None

    def __call__(self, everyone: Crowd) -> dict[str, Any]:
        """The places of the rows of each group."""
        if self.names is None:
            return {ALL: np.arange(len(everyone))}
        return divided(everyone.rows, self.by, self.bands, self.names)


class ByGroup(dict[str, Any]):
    """What is found of each group; that of two parts is added."""

    def __add__(self, other: ByGroup) -> ByGroup:
        return ByGroup(merged(self, other))


def needy_of(asked: AskedOfAll, division: Division, frame: pd.DataFrame) -> ByGroup:
    """By group, a sample of the rows that do not reach the goal as they are."""
    everyone = asked.crowd(frame)
    needy = np.zeros(len(everyone), bool)
    needy[in_need(everyone).places] = True
    found = {}
    for name, places in division(everyone).items():
        mine = places[needy[places]]
        found[name] = RowSample.of(everyone.take(mine), frame.iloc[mine], SAMPLE)
    return ByGroup(found)


@dataclass(frozen=True)
class PlannedPart:
    """What the actions of a plan do for the rows of a frame, by group."""

    plan: Plan  # of all rows, without its actions
    groups: dict[str, Plan]

    @staticmethod
    def of(
        asked: AskedOfAll,
        division: Division,
        chosen: Mapping[str, ChosenActions | None],
        frame: pd.DataFrame,
    ) -> PlannedPart:
        """What the chosen actions do for the rows of one frame."""
        everyone = asked.crowd(frame)
        taken, groups = np.full(len(everyone), -2, np.int16), {}
        for name, places in division(everyone).items():
            part = counted(everyone.take(places), chosen[name])
            taken[places] = part.taken
            groups[name] = replace(part, taken=taken[places], rows=part.rows.take(NONE))
        none, names = everyone.rows.take(NONE), everyone.fitted.options.names
        return PlannedPart(Plan((), taken, none, names=names), groups)


def plan_of(parts: Sequence[PlannedPart], division: Division) -> Plan:
    """The plan of all rows, or that of groups."""
    if not parts:
        raise OptionError(NOBODY)
    order = [ALL] if division.names is None else list(dict.fromkeys(division.names.values()))
    groups = {
        name: joined([part.groups[name] for part in parts if name in part.groups])
        for name in order
        if any(name in part.groups for part in parts)
    }
    if division.names is None:
        return groups[ALL]
    return replace(joined([part.plan for part in parts]), groups=groups)


def recourse_of(asked: AskedOfAll, options: Mapping[str, Any], frame: pd.DataFrame) -> Recourse:
    """The recourse of the rows of a frame, without their explanations."""
    found = recourse(
        asked.engine,
        frame,
        want=asked.want,
        constraints=asked.constraints,
        most_groups=UNFOLDED,
        **options,
    )
    return replace(found, explanations=())


@dataclass(frozen=True)
class Flipped:
    """What protected columns do to the decisions of some rows, and a sample of these."""

    tallies: Tallies
    sample: RowSample

    @staticmethod
    def of(
        engine: Engine,
        question: BiasQuestion,
        names: Mapping[str, Mapping[str, str]],
        most: int,
        frame: pd.DataFrame,
    ) -> Flipped:
        """What is counted in one frame."""
        everyone = question.crowd(engine, frame)
        groups = {
            name: divided(everyone.rows, name, question.edges, names[name])
            for name in question.varied(engine)
        }
        tallies = question.tallies(everyone, groups, most)
        return Flipped(tallies, RowSample.of(everyone, frame, question.explained))

    def __add__(self, other: Flipped) -> Flipped:
        return Flipped(merged(self.tallies, other.tallies), self.sample + other.sample)


def drawn_of(asked: AskedOfAll, most: int, frame: pd.DataFrame) -> tuple[RowSample, int]:
    """A sample of the rows of a frame, and how many there are."""
    return RowSample.of(asked.crowd(frame), frame, most), len(frame)
