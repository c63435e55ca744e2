"""Everything that a row may become, by the contract: the rows that are tried against a claim."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from fuzz.aims import Aim
from fuzz.tables import Field, Table
from fuzz.wishes import BROKEN, KEPT, UNCLEAR, Wish

MOST = 2500  # rows tried against one claim; of more, so many at random


@dataclass
class Query:
    """One row, what is asked of it, and what it may become."""

    table: Table
    own: pd.DataFrame
    aim: Aim
    wish: Wish
    before: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        self.before = {one.name: one.values(self.own)[0] for one in self.table.fields}

    def units(self) -> list[list[Field]]:
        """What changes as one and counts once: groups, and every other field."""
        grouped = [[self.table.field(name) for name in group] for group in self.wish.groups]
        taken = {one.name for group in grouped for one in group} | set(self.wish.derived)
        return grouped + [[one] for one in self.table.fields if one.name not in taken]

    def settings(self, unit: list[Field], *, whole: bool) -> pd.DataFrame:
        """The values that a unit may be set to, one a row."""
        pool, values = self.table.pool(unit, whole=whole)
        return pool.iloc[
            [at for at, after in enumerate(values) if self.setting(unit, after) == KEPT]
        ]

    def setting(self, unit: list[Field], after: tuple[Any, ...]) -> int:
        """Whether a unit may be set to these values; its present ones are no change."""
        moved = [
            (one, self.before[one.name], value)
            for one, value in zip(unit, after, strict=True)
            if value != self.before[one.name]
        ]
        if not moved:
            return BROKEN
        made = min(self.wish.may_set(self.table, *change) for change in moved)
        if made == KEPT and len(unit) > 1 and self.wish.min_support is not None:
            return UNCLEAR
        return made

    def setting_one(
        self, one: Field, values: list[Any], row: pd.DataFrame | None = None
    ) -> pd.DataFrame:
        """A row, or the query's own, with other values in one field; or as many rows as values."""
        row = self.own if row is None else row
        again = np.zeros(len(values), int) if len(row) == 1 else slice(None)
        rows = row.iloc[again].reset_index(drop=True)
        if one.kind in ("number", "datetime"):
            cells = pd.DataFrame({one.name: pd.Series(values, dtype=object)})
        else:
            pool, known = self.table.pool([one], whole=False)
            cells = pool.iloc[[known.index((value,)) for value in values]]
        made = {name: cells[name].astype(rows[name].dtype).array for name in one.columns}
        return self.following(rows.assign(**made))

    def lawful(self, rows: pd.DataFrame) -> np.ndarray:
        """What holds of whole rows: rules, and values that may not stay."""
        kept = np.where(self.wish.broken_rules(rows, self.own), BROKEN, KEPT)
        for one in self.table.fields:
            stay = self.wish.may_stay(one, self.before[one.name])
            if stay != KEPT:
                same = np.array([value == self.before[one.name] for value in one.values(rows)])
                kept = np.where(same, np.minimum(kept, stay), kept)
        return kept

    def following(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The rows with derived columns computed anew where an input changed."""
        for name in self.wish.derived:
            formula = self.table.derived[name]
            moved = np.zeros(len(rows), bool)
            for column in formula.inputs:
                moved |= (rows[column] != self.own[column].iloc[0]).to_numpy()
            rows = rows.assign(**{name: rows[name].where(~moved, formula.compute(rows))})
        return rows

    def tries(self, sizes: range, *, whole: bool) -> pd.DataFrame | None:
        """Rows with so many changes, all of them or `MOST` at random; None if there are none."""
        if sizes == range(1):
            return self.own if self.lawful(self.own)[0] == KEPT else None
        units = self.units()
        offers = [self.settings(unit, whole=whole) for unit in units]
        most = len(units) if self.wish.max_changes is None else self.wish.max_changes
        picks = picked([len(offer) for offer in offers], [s for s in sizes if s <= most])
        if not len(picks):
            return None
        made = {}
        for at, offer in enumerate(offers):
            for column in offer.columns:
                cells = pd.concat([self.own[column], offer[column]], ignore_index=True)
                made[column] = cells.array.take(picks[:, at])
        for column in self.own.columns.difference(list(made)):
            made[column] = self.own[column].array.take(np.zeros(len(picks), int))
        rows = self.following(pd.DataFrame(made)[list(self.own.columns)])
        rows = rows[self.lawful(rows) == KEPT]
        return rows if len(rows) else None


def picked(counts: list[int], sizes: list[int]) -> np.ndarray:
    """Which value each unit takes, 0 for its own, (rows, units).

    All of them; where they are too many, all of the small changes and some of the large ones.
    """
    lines, left = [], MOST
    for turn, size in enumerate(sizes):
        sets = [list(chosen) for chosen in combinations(range(len(counts)), size)]
        wholes = np.array([np.prod([counts[at] for at in chosen] or [1.0]) for chosen in sets])
        share = min(1.0, left / (len(sizes) - turn) / max(wholes.sum(), 1))
        for chosen, whole in zip(sets, wholes, strict=True):
            if whole:
                lines.append(line(counts, chosen, int(np.ceil(whole * share)), int(whole)))
                left -= len(lines[-1])
    return np.concatenate(lines) if lines else np.zeros((0, len(counts)), int)


def line(counts: list[int], chosen: list[int], some: int, whole: int) -> np.ndarray:
    """So many of the combinations of these units, drawn at random if they are not all."""
    made = np.zeros((some, len(counts)), int)
    if some == whole:
        grid = list(product(*(range(1, counts[at] + 1) for at in chosen)))
        made[:, chosen] = np.array(grid, int).reshape(len(grid), len(chosen))
    else:
        rng = np.random.default_rng(whole)
        for at in chosen:
            made[:, at] = rng.integers(1, counts[at] + 1, some)
    return made
