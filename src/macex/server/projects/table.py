"""The rows people look at: paged, sorted, filtered and searched here, whatever their number.

Each row is scored once, in chunks. What sorting and searching need is kept by column: the place of
every cell among the column's distinct values.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from macex.ask.expressions import compile_rule
from macex.engine.predictions import Predictions, predicted
from macex.errors import DataError, OptionError, SchemaError, closest
from macex.explanation.json import plain
from macex.render.values import shown
from macex.schema import Array
from macex.server.recent import Recent

if TYPE_CHECKING:
    from macex.explainer import Explainer

CHUNK = 65_536
LONGEST = 2_000  # characters of a condition
SCORES = 100_000_000  # of all rows and classes together
SCORES_AT_ONCE = 1_000_000  # that the model is asked for
BESIDE = ("cf.row", "cf.label", "cf.score")


@dataclass(frozen=True)
class View:
    """Which rows, in which order.

    `sort` is a column, or `cf.row`, `cf.label` or `cf.score`; `decision` is a label as text;
    `search` is text that a cell holds; `where` is a condition such as `age >= 40`.
    """

    sort: str = "cf.row"
    descending: bool = False
    decision: str | None = None
    search: str = ""
    where: str = ""


class ScoredLine(NamedTuple):
    """A row, its place in the table, and what the model says of it."""

    row: int
    label: Any
    score: float
    cells: dict[str, Any]


class Page(NamedTuple):
    """Some lines of a view, how many rows the view has, and how many there are in all."""

    lines: list[ScoredLine]
    matching: int
    total: int


class Distinct(NamedTuple):
    """A column by its distinct values in their order; -1 stands for missing."""

    places: Array  # (n,) int32
    texts: pd.Series  # (v,) in lower case


class ScoredTable:
    """Rows with the model's decisions and scores."""

    def __init__(self, rows: pd.DataFrame, explainer: Explainer) -> None:
        """Nothing is computed before it is asked for."""
        self.rows, self.explainer = rows, explainer
        self._scoring = RLock()
        self._distinct: Recent[str, Distinct] = Recent(most=max(1, rows.shape[1]))
        self._orders: Recent[tuple[str, bool], Array] = Recent(most=8)
        self._places: Recent[View, Array] = Recent(most=8)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def predictions(self) -> Predictions:
        """What the model says of every row."""
        with self._scoring:
            return self._predictions

    @cached_property
    def _predictions(self) -> Predictions:
        engine, width = self.explainer.engine, self.explainer.engine.fitted.outlook.width
        if len(self) * width > SCORES:
            raise DataError(
                f"{len(self):,} rows with {width:,} scores each are too many to be looked at: show "
                f"at most {SCORES // width:,} rows of this model"
            )
        scores, decision = np.empty((len(self), width), np.float32), np.empty(len(self), np.int32)
        chunk = max(1, min(CHUNK, SCORES_AT_ONCE // width))
        for start in range(0, len(self), chunk):
            said = predicted(engine, self.rows.iloc[start : start + chunk])
            scores[start : start + chunk] = said.scores
            decision[start : start + chunk] = said.decision
        return Predictions(self.explainer.classes, scores, decision)

    @cached_property
    def _shown(self) -> Array:
        return np.round(self.predictions.shown.astype(float), 6)

    def page(self, view: View, start: int = 0, size: int = 50) -> Page:
        """`size` lines of a view from `start` on."""
        places = self.places(view)
        lines = [self.line(int(row)) for row in places[start : start + size]]
        return Page(lines, len(places), len(self))

    def line(self, row: int) -> ScoredLine:
        """One row with what the model says of it."""
        self.checked(row)
        label = plain(self.predictions.label(row))
        return ScoredLine(row, label, float(self._shown[row]), self.cells(row))

    def checked(self, row: int) -> int:
        """A place that there is."""
        if not 0 <= row < len(self):
            raise SchemaError(f"there is no row {row}: rows are counted from 0 to {len(self) - 1}")
        return row

    def cells(self, row: int) -> dict[str, Any]:
        """The cells of a row as JSON knows them."""
        return {name: _cell(cells[row]) for name, cells in self._columns.items()}

    @cached_property
    def _columns(self) -> dict[str, Any]:
        return {str(column): self.rows[column].array for column in self.rows.columns}

    def frame(self, places: Array) -> pd.DataFrame:
        """Some rows, named by their places."""
        chosen = self.rows.iloc[places]
        return chosen.set_axis(np.asarray(places), axis=0)

    def places(self, view: View) -> Array:
        """Where the rows of a view stand in the table, in the order of the view."""
        return self._places.get(view, lambda: self._found(view))

    def counts(self) -> dict[str, int]:
        """How many rows the model decides each way."""
        classes = self.explainer.classes
        if classes is None:
            return {}
        counted = np.bincount(self.predictions.decision, minlength=len(classes))
        return {str(label): int(count) for label, count in zip(classes, counted, strict=True)}

    def _found(self, view: View) -> Array:
        order = self._orders.get((view.sort, view.descending), lambda: self._order(view))
        kept = np.ones(len(self), bool)
        if view.decision is not None:
            kept &= self.predictions.decision == self._position(view.decision)
        if view.where:
            kept &= self._where(view.where)
        if view.search:
            kept &= self._search(view.search.lower())
        return order[kept[order]]

    def _order(self, view: View) -> Array:
        """All rows in order; equal ones as they stand, missing ones last."""
        keys = self._keys(view.sort)
        blank = keys == -1 if view.sort not in BESIDE else np.zeros(len(self), bool)
        ranked = np.argsort(-keys if view.descending else keys, kind="stable").astype(np.int32)
        return np.concatenate([ranked[~blank[ranked]], np.flatnonzero(blank).astype(np.int32)])

    def _keys(self, sort: str) -> Array:
        if sort == "cf.row":
            return np.arange(len(self))
        if sort == "cf.score":
            return self._shown
        if sort == "cf.label":
            return self.predictions.decision
        return self.distinct(sort).places

    def _position(self, decision: str) -> int:
        known = [str(label) for label in self.explainer.classes or ()]
        if decision not in known:
            raise OptionError(f"the model never decides {decision!r}{closest(decision, known)}")
        return known.index(decision)

    def _where(self, condition: str) -> Array:
        """The rows for which a condition is known to hold."""
        if len(condition) > LONGEST:
            raise OptionError(f"a condition has at most {LONGEST:,} characters")
        schema = self.explainer.schema
        rule = compile_rule(condition, schema.columns).condition
        kept = np.zeros(len(self), bool)
        for start in range(0, len(self), CHUNK):
            codes = schema.read(self.rows.iloc[start : start + CHUNK]).codes
            with np.errstate(all="ignore"):
                kept[start : start + CHUNK] = rule(codes, codes).yes
        return kept

    def _search(self, text: str) -> Array:
        kept = np.zeros(len(self), bool)
        for column in self.rows.columns:
            places, texts = self.distinct(str(column))
            hit = texts.str.contains(text, regex=False).to_numpy(dtype=bool)
            if hit.any():
                kept |= np.append(hit, False)[places]  # -1, a missing cell, reads the last
        return kept

    def distinct(self, column: str) -> Distinct:
        """A column by its distinct values."""
        if column not in self.rows.columns:
            raise SchemaError(f"there is no column {column!r}{closest(column, self.rows.columns)}")
        return self._distinct.get(column, lambda: _distinct(self.rows[column]))


def _distinct(cells: pd.Series) -> Distinct:
    try:
        places, values = pd.factorize(cells, sort=True)
    except TypeError:  # values of no one kind are ordered as text
        places, values = pd.factorize(cells.astype("str").where(cells.notna()), sort=True)
    texts = pd.Series([shown(plain(value)).lower() for value in values], dtype="str")
    return Distinct(places.astype(np.int32), texts)


def _cell(value: Any) -> Any:
    missing = value is None or value is pd.NA or value is pd.NaT
    return None if missing else plain(value)
