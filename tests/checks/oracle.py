"""An independent, slow answer to small questions: try everything, with the model itself.

It knows frames, `itertools` and the caller's model, and nothing of the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

Test = Callable[[pd.DataFrame], np.ndarray]


def always(rows: pd.DataFrame) -> np.ndarray:
    return np.ones(len(rows), bool)


@dataclass(frozen=True)
class Oracle:
    """One row, what may be set in it, and when a row counts."""

    row: pd.DataFrame
    options: Mapping[str, Sequence[Any]]  # column -> values that may be set
    reached: Test
    lawful: Test = field(default=always)
    groups: tuple[tuple[str, ...], ...] = ()
    seen: pd.DataFrame | None = None  # training rows, for the combinations of groups

    def units(self) -> dict[tuple[str, ...], list[tuple[Any, ...]]]:
        """What changes as one -> the settings it may take, the present one left out."""
        grouped = {column for group in self.groups for column in group}
        alone = {
            (column,): [(value,) for value in values if not self._own((column,), (value,))]
            for column, values in self.options.items()
            if column not in grouped
        }
        return alone | {group: self._combinations(group) for group in self.groups}

    def _own(self, unit: tuple[str, ...], setting: tuple[Any, ...]) -> bool:
        own = (self.row[column].iloc[0] for column in unit)
        return all(a == b or (pd.isna(a) and pd.isna(b)) for a, b in zip(own, setting, strict=True))

    def _combinations(self, group: tuple[str, ...]) -> list[tuple[Any, ...]]:
        """Combinations seen in training whose every change may be made."""
        met = sorted(set(self.seen[list(group)].itertuples(index=False, name=None)))
        own = tuple(self.row[column].iloc[0] for column in group)
        return [
            setting
            for setting in met
            if setting != own
            and all(
                value == mine or value in self.options.get(column, ())
                for column, value, mine in zip(group, setting, own, strict=True)
            )
        ]

    def rows(self, size: int) -> pd.DataFrame:
        """Every row with exactly `size` changed units, in the dtypes of the row."""
        cells = {column: [] for column in self.row.columns}
        own = self.row.iloc[0]
        for changes in self._changes(size):
            for column, values in cells.items():
                values.append(changes.get(column, own[column]))
        return pd.DataFrame(cells).astype(self.row.dtypes) if cells[self.row.columns[0]] else None

    def _changes(self, size: int) -> Iterator[dict[str, Any]]:
        for chosen in combinations(self.units().items(), size):
            for settings in product(*(values for _, values in chosen)):
                yield {
                    column: value
                    for (unit, _), setting in zip(chosen, settings, strict=True)
                    for column, value in zip(unit, setting, strict=True)
                }

    def good(self, size: int) -> pd.DataFrame | None:
        """The rows with exactly `size` changes that count; None if there are none."""
        rows = self.rows(size)
        if rows is None:
            return None
        rows = rows[np.asarray(self.lawful(rows)) & np.asarray(self.reached(rows))]
        return rows if len(rows) else None

    def fewest(self, most: int | None = None) -> int | None:
        """The least number of changes that suffices; None if none does."""
        units = len(self.units())
        sizes = range(1, min(units, units if most is None else most) + 1)
        return next((size for size in sizes if self.good(size) is not None), None)

    def best(self, score: Test, most: int) -> float:
        """The highest score of all rows with at most `most` changes."""
        tried = [self.rows(size) for size in range(1, most + 1)]
        return max(float(np.max(score(rows))) for rows in tried if rows is not None)
