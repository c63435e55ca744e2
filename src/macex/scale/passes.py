"""Passes over the rows of a population: the same function for every frame of them, wherever it is.

What a pass finds is added up. Which rows are drawn depends on the rows alone, not on how they are
divided into frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from macex.cohort.bias import BiasQuestion, Tallies
from macex.cohort.groups import UNFOLDED, Groups, groups_of, largest, renamed
from macex.cohort.plans import SAMPLE, ChosenActions, Plan, counted, in_need, joined
from macex.cohort.population import Crowd, crowd
from macex.cohort.recourse import Recourse, recourse
from macex.engine.engine import Engine
from macex.engine.facts import facts_about
from macex.errors import OptionError
from macex.render.results import Facts
from macex.schema import Array, Rows
from macex.schema.columns import special
from macex.stages.draws import row_keys

Found = TypeVar("Found")
Key = TypeVar("Key")
Work = Callable[[pd.DataFrame], Any]
Pass = Callable[[Work], Iterable[Any]]  # what a function of a frame makes of every frame
NOBODY = "there are no rows to look at"
ALL = ""  # the group of a plan without groups


def over_frames(frames: Callable[[], Iterable[pd.DataFrame]]) -> Pass:
    """Passes over frames that a function reads, in this process."""
    return lambda work: map(work, frames())


def counting(work: Work, frame: pd.DataFrame) -> tuple[Any, int]:
    """What a function makes of a frame, and how many rows that are."""
    return work(frame), len(frame)


def total(parts: Iterable[Found]) -> Found | None:
    """What several parts of a population add up to; None of no part."""
    several = iter(parts)
    first = next(several, None)
    return None if first is None else reduce(add, several, first)


def merged(mine: Mapping[Key, Found], others: Mapping[Key, Found]) -> dict[Key, Found]:
    """What is found of several things, that of the same added."""
    both = {key: mine[key] + others[key] for key in mine if key in others}  # type: ignore[operator]
    return {**mine, **others, **both}


@dataclass(frozen=True)
class RowSample:
    """At most `most` rows, each as likely as any other; those with the lowest keys."""

    most: int
    frame: pd.DataFrame
    keys: Array

    @staticmethod
    def of(everyone: Crowd, frame: pd.DataFrame, most: int) -> RowSample:
        """A sample of the rows that were read from a frame."""
        return _lowest(most, frame, _keys(everyone.rows, everyone.engine.options.random_state))

    def __add__(self, other: RowSample) -> RowSample:
        frame, keys = pd.concat([self.frame, other.frame]), np.append(self.keys, other.keys)
        return _lowest(self.most, frame, keys)

    def take(self, places: Array) -> RowSample:
        """Some of its rows."""
        return RowSample(self.most, self.frame.iloc[places], self.keys[places])


def _lowest(most: int, frame: pd.DataFrame, keys: Array) -> RowSample:
    if len(keys) > most:
        kept = np.sort(np.argsort(keys, kind="stable")[:most])
        frame, keys = frame.iloc[kept], keys[kept]
    return RowSample(most, frame, keys)


def _keys(rows: Rows, seed: int) -> Array:
    """A random number for every row: its content and, among equal rows, its turn."""
    own = row_keys(seed, rows.schema.names, rows.codes)
    turn = pd.Series(own).groupby(own).cumcount().to_numpy(float)
    halves = np.stack([own >> np.uint64(32), own & np.uint64(2**32 - 1)]).astype(float)
    return row_keys(seed, ["high", "low", "turn"], np.stack([*halves, turn], axis=1))


def drawn(frames: Iterable[pd.DataFrame], most: int, seed: int) -> pd.DataFrame | None:
    """A random sample of at most `most` rows of all frames, in their order, read in one pass.

    It does not depend on how the rows are divided into frames. None if there is no frame.

    >>> rows = pd.DataFrame({"a": range(100)})
    >>> few = drawn([rows.iloc[:30], rows.iloc[30:]], 3, 0)
    >>> few.equals(drawn([rows], 3, 0)), len(few)
    (True, 3)
    """
    draw = np.random.default_rng(seed)
    kept: pd.DataFrame | None = None
    keys = np.zeros(0)
    for frame in frames:
        keys = np.concatenate([keys, draw.random(len(frame))])
        kept = frame if kept is None else pd.concat([kept, frame])
        if len(keys) > most:
            lowest = np.sort(np.argpartition(keys, most)[:most])
            kept, keys = kept.iloc[lowest], keys[lowest]
    return kept


@dataclass(frozen=True)
class Census:
    """How many rows there are, and in each grouping how many of each group.

    A grouping has the least code of each group, too, by which groups are ordered.
    """

    rows: int = 0
    sizes: Mapping[str, Mapping[str, Sized]] = field(default_factory=dict)

    @staticmethod
    def of(engine: Engine, groupings: Mapping[str, Any], bands: Any, frame: pd.DataFrame) -> Census:
        """The groups of the rows of a frame, by columns."""
        rows = engine.schema.read(frame)
        return Census(len(rows), {name: _sized(rows, by, bands) for name, by in groupings.items()})

    def __add__(self, other: Census) -> Census:
        sizes = {name: merged(self.sizes.get(name, {}), own) for name, own in other.sizes.items()}
        return Census(self.rows + other.rows, sizes)

    def names(self, grouping: str) -> dict[str, str]:
        """What each group is called if the largest stand for themselves."""
        known = self.sizes.get(grouping, {})
        ordered = sorted(known, key=lambda name: (known[name].least, name))
        return largest({name: known[name].count for name in ordered})


@dataclass(frozen=True)
class Sized:
    """A group: how many rows, and the least of their codes."""

    count: int
    least: tuple[tuple[bool, float], ...]

    def __add__(self, other: Sized) -> Sized:
        return Sized(self.count + other.count, min(self.least, other.least))


def _sized(rows: Rows, by: Any, bands: Any) -> dict[str, Sized]:
    columns = [by] if isinstance(by, str) else list(by)
    places = [rows.schema.position(name) for name in columns]
    found = {}
    for name, mine in groups_of(rows, by, bands, UNFOLDED).items():
        first = [
            (bool(special(codes).all()), float(codes.min()))
            for codes in rows.codes[mine][:, places].T
        ]
        found[name] = Sized(len(mine), tuple(first))
    return found


def divided(rows: Rows, by: Any, bands: Any, names: Mapping[str, str]) -> Groups:
    """The groups of some rows, as those of all rows are called."""
    return renamed(groups_of(rows, by, bands, UNFOLDED), names)


NONE = np.zeros(0, int)


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
