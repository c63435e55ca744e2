"""Passes over the rows of a population: the same function for every frame of them, wherever it is.

What a pass finds is added up. Which rows are drawn depends on the rows alone, not on how they are
divided into frames.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from macex.cohort.groups import UNFOLDED, Groups, groups_of, largest, renamed
from macex.cohort.population import Crowd
from macex.engine.engine import Engine
from macex.schema import Array, Rows
from macex.schema.columns import special
from macex.stages.draws import row_keys

Found = TypeVar("Found")
Key = TypeVar("Key")
Work = Callable[[pd.DataFrame], Any]
Pass = Callable[[Work], Iterable[Any]]  # what a function of a frame makes of every frame


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
