"""Cells of the arena: a table, a model fitted on it, and what is asked of the rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.goals import at_least, at_most
from macex.bench.arena.factories import LAST, unfitted
from macex.bench.arena.tables import ArenaTable, table
from macex.bench.cells import Cell
from macex.bench.metered import attach
from macex.errors import OptionError, closest
from macex.schema import Array

REFITS = 3


@dataclass(frozen=True, eq=False)
class ArenaCell:
    """A table and a model fitted on the training rows of one split."""

    table: ArenaTable
    cell: Cell

    @property
    def model(self) -> Any:
        """The fitted model."""
        return self.cell.model

    @property
    def train(self) -> pd.DataFrame:
        """The rows that it was fitted on."""
        return self.cell.train

    @cached_property
    def edges(self) -> tuple[float, float, float]:
        """Quartiles of the predictions for training rows, of a table of regression."""
        low, middle, high = np.quantile(self.predictions, [0.25, 0.5, 0.75])
        return float(low), float(middle), float(high)

    @cached_property
    def predictions(self) -> Array:
        """What the model says of the training rows."""
        return np.asarray(self.model.predict(self.train)).reshape(-1)

    def sides(self, said: Array) -> Array:
        """Classes; of predicted numbers, whether they are in the upper half."""
        return (said >= self.edges[1]).astype(int) if self.table.regression else said

    def wants(self, rows: pd.DataFrame) -> list[Any] | None:
        """Goals of rows: another class (None), or the far quarter of the predictions."""
        if not self.table.regression:
            return None
        low, _, high = self.edges
        said = self.sides(np.asarray(self.model.predict(rows)).reshape(-1))
        return [at_most(low) if upper else at_least(high) for upper in said]

    def reached(self, own: Array, said: Array) -> Array:
        """Whether predictions for answers reach the goals of queries predicted as `own`."""
        if not self.table.regression:
            return np.asarray(said != own)
        low, _, high = self.edges
        return np.where(self.sides(own) == 1, said <= low, said >= high)

    @cached_property
    def refitted(self) -> list[Any]:
        """The model, fitted anew on bootstrap samples of its training rows."""
        return [
            _fitted(self.table, self.cell.kind, self.cell.seed, turn + 1) for turn in range(REFITS)
        ]


@dataclass
class ArenaCells:
    """Cells by name, each made when it is first asked for; `added` are a caller's own tables."""

    folder: str | Path | None = None
    added: Sequence[ArenaTable] = ()
    _made: dict[tuple[str, str, int], ArenaCell] = field(default_factory=dict)

    def table(self, name: str) -> ArenaTable:
        """A table."""
        return next((one for one in self.added if one.name == name), None) or table(
            name, self.folder
        )

    def get(self, name: str, kind: str, split: int) -> ArenaCell:
        """A fitted cell."""
        if kind not in LAST:
            raise OptionError(f"the arena has no model {kind!r}{closest(kind, LAST)}")
        if (name, kind, split) not in self._made:
            found = self.table(name)
            model = _fitted(found, kind, split)
            cell = Cell(found.dataset, kind, model, attach(model), split)
            self._made[name, kind, split] = ArenaCell(found, cell)
        return self._made[name, kind, split]


def _fitted(table: ArenaTable, kind: str, split: int, sample: int = 0) -> Any:
    """A model of the training rows, or of a bootstrap sample of them."""
    dataset = table.dataset
    train, _ = dataset.split(split)
    if sample:
        train = np.sort(np.random.default_rng([split, sample]).choice(train, len(train)))
    model = unfitted(table, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # networks stop after so many rounds, converged or not
        model.fit(dataset.frame.iloc[train], dataset.label[train])
    return model
