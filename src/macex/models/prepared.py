"""The input of the later steps of a pipeline, made from codes by lookup tables.

A scikit-learn pipeline spends most of its time on turning a frame into a matrix: texts are compared
one by one, columns are checked, copied and joined. What its first step makes of every category is
looked up once; after that codes become the matrix without a frame. The matrix must equal, number by
number, what the step itself makes of training rows and of rows mixed from them, else nothing is
prepared. A row with a value that training does not show, like a missing one in a column without
gaps, goes to the pipeline, and whatever is returned to the caller is confirmed by it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
import pandas as pd

from macex.models.first_steps import Block, Mark, Move, blocks_of, first_step, marks_of, steps_of
from macex.schema import Array, Schema, any_special
from macex.schema.columns import MISSING
from macex.schema.frames import Builder, library

SAMPLE = 2000
MOST_CELLS = 4_000_000  # of the matrix that shows what becomes of every category
MOST_TABLE = 1_000_000  # cells of a table of several columns
MOST_SPARSE = 256  # columns: wider sparse matrices are not made from dense ones


@dataclass(frozen=True, eq=False)
class PreparedTable:
    """What becomes of columns of categories: one line for each combination of their codes.

    The last code of a column is its missing value.
    """

    columns: Array  # (c,)
    sizes: Array  # (c,) codes
    outputs: Array
    rows: Array  # (combinations, outputs)

    def lines(self, codes: Array) -> Array:
        """The outputs for codes by column of the frame."""
        weights = self._weights
        line = np.einsum("nc,c->n", codes[:, : len(weights)], weights)
        if any_special(codes) or not np.isfinite(line).all():  # a code of others may be no number
            mine = codes.take(self.columns, axis=1)
            line = np.where(mine < 0, self.sizes - 1.0, mine) @ self.steps
        return self.rows.take(line.astype(np.intp), axis=0)

    def write(self, codes: Array, matrix: Array) -> None:
        """Fill the outputs for codes by column of the frame."""
        matrix[:, self.into] = self.lines(codes)

    @cached_property
    def steps(self) -> Array:
        """How many lines lie between two codes of each column."""
        return np.cumprod([1.0, *self.sizes])[:-1]

    @cached_property
    def _weights(self) -> Array:
        """The steps of the first columns of the frame, 0 for those that are not the table's."""
        weights = np.zeros(1 + int(self.columns.max(initial=-1)))
        np.add.at(weights, self.columns, self.steps)  # a column may be there twice
        return weights

    @cached_property
    def into(self) -> slice | Array:
        """The outputs as a slice where they are in a row: that is faster to write to."""
        first, last = int(self.outputs[0]), int(self.outputs[-1])
        return slice(first, last + 1) if last - first + 1 == len(self.outputs) else self.outputs

    def with_(self, other: PreparedTable) -> PreparedTable:
        """Both tables as one."""
        lines = np.arange(len(self.rows) * len(other.rows))
        rows = self.rows[lines % len(self.rows)]
        fresh = np.setdiff1d(other.outputs, self.outputs)
        outputs = np.concatenate([self.outputs, fresh])
        rows = np.concatenate([rows, np.empty((len(rows), len(fresh)), rows.dtype)], axis=1)
        order = np.argsort(outputs)
        rows, outputs = rows[:, order], outputs[order]
        rows[:, np.searchsorted(outputs, other.outputs)] = other.rows[lines // len(self.rows)]
        columns = np.concatenate([self.columns, other.columns])
        sizes = np.concatenate([self.sizes, other.sizes])
        return PreparedTable(columns, sizes, outputs, np.ascontiguousarray(rows))


@dataclass(frozen=True, eq=False)
class PreparedNumbers:
    """Columns of numbers that are handed on, each moved by itself."""

    columns: Array
    outputs: Array
    moves: tuple[Move, ...]

    def write(self, codes: Array, matrix: Array) -> None:
        """Fill the outputs for codes by column of the frame."""
        values = codes[:, self.columns]
        values = np.where(values == MISSING, np.nan, values)
        for move, by in self.moves:
            values = move(values, by)
        matrix[:, self.outputs] = values


@dataclass(frozen=True, eq=False)
class Rest:
    """Columns that a transformer is still asked about."""

    transform: Callable[[Any], Any]
    builder: Builder
    columns: list[int]
    outputs: Array

    def write(self, codes: Array, matrix: Array) -> None:
        """Fill the outputs for codes by column of the frame."""
        made = self.transform(self.builder.frame(codes[:, self.columns], {}))
        matrix[:, self.outputs] = _matrix(made)


class TakesCodes(Protocol):
    """A model that can be asked about codes by column of the schema."""

    @property
    def width(self) -> int:
        """The columns of the matrix that becomes of codes."""

    @property
    def current(self) -> bool:
        """Whether it still is the model that was looked at."""

    def __call__(self, full: Array, method: str) -> Any:
        """What a method of the model gives for codes."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A pipeline, or a search that has one, that can be asked about codes by column of the schema.

    `marks` are what the first step holds, by which a new fit is noticed.
    """

    model: Any
    step: Any
    schema: Schema
    whole: PreparedTable  # which writes all outputs, if only as they are in one training row
    parts: tuple[PreparedTable | PreparedNumbers | Rest, ...]  # which write over that
    form: Callable[[Array], Any] | None  # what the step makes, if it is no array
    marks: tuple[Mark, ...]

    def __getstate__(self) -> dict[str, Any]:
        """All but the marks: what they are known by is lost on the way."""
        return {**vars(self), "marks": (), "step": self.step if self.current else None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, marks=marks_of(state["step"]))

    @property
    def width(self) -> int:
        """The columns of the matrix."""
        return len(self.whole.outputs)

    @property
    def current(self) -> bool:
        """Whether the first step is still as it was looked at."""
        if self.step is None or first_step(self.model) is not self.step:
            return False
        return all(held.get(name) is value for held, name, value in self.marks)

    def __call__(self, full: Array, method: str) -> Any:
        """What a method of the model gives for codes."""
        codes = self.schema.unfold(full)
        if self._strange(codes):
            return getattr(self.model, method)(_frame(self.schema, codes))
        made = self.matrix(codes)
        *between, last = steps_of(self.model)[1:]
        for step in between:
            made = step.transform(made)
        return getattr(last, method)(made)

    def matrix(self, codes: Array) -> Any:
        """What the first step makes of codes by column of the frame."""
        matrix = self.whole.lines(codes)
        for part in self.parts:
            part.write(codes, matrix)
        return matrix if self.form is None else self.form(matrix)

    def _strange(self, codes: Array) -> bool:
        """Whether there is a code that training does not show."""
        if any_special(codes) and (codes[:, self._filled] == MISSING).any():
            return True
        return any(np.isin(codes[:, at], unseen).any() for at, unseen in self._unseen)

    @cached_property
    def _filled(self) -> Array:
        """The columns in which no value was missing."""
        return np.flatnonzero([not column.missing for column in self.schema.frame_columns])

    @cached_property
    def _unseen(self) -> list[tuple[int, Array]]:
        """The columns with categories that never occurred, and those."""
        found = []
        for at, column in enumerate(self.schema.frame_columns):
            if column.discrete and len(column.seen) < len(column.table):
                found.append((at, np.setdiff1d(np.arange(len(column.table)), column.seen)))
        return found


def prepared(model: Any, schema: Schema, codes: Array) -> Prepared | None:
    """A pipeline's first step by table; None where that cannot be or does not give the same."""
    step = first_step(model)
    if step is None or schema.library != "pandas" or not len(codes):
        return None
    try:
        found = _laid_out(model, step, schema, codes)
        return found if found is not None and _same(found, codes) else None
    except Exception:  # noqa: BLE001 - whatever is unusual about a step, the step itself can do it
        return None


def _laid_out(model: Any, step: Any, schema: Schema, codes: Array) -> Prepared | None:
    own = schema.unfold(codes[:1])
    sample = step.transform(_frame(schema, own))
    sparse, width = hasattr(sample, "toarray"), sample.shape[1]
    if not sparse and not isinstance(sample, (np.ndarray, pd.DataFrame)):
        return None
    blocks = blocks_of(step, schema, width)
    lines = sum(len(column.table) + 1 for column in schema.frame_columns if column.discrete)
    if blocks is None or lines * width > MOST_CELLS:
        return None
    if sparse and width > MOST_SPARSE:
        return None
    base, shown = _shown(step, schema, own)
    parts: list[PreparedTable | PreparedNumbers | Rest] = []
    for block in blocks:
        parts += _parts(block, schema, base, shown)
    if all(isinstance(part, Rest) for part in parts):
        return None
    if base.dtype != float and any(isinstance(part, PreparedNumbers) for part in parts):
        return None
    nothing = np.zeros(0, np.intp)
    tables = _merged([PreparedTable(nothing, nothing, np.arange(width), base[None]), *parts])
    others = [part for part in parts if not isinstance(part, PreparedTable)]
    form, marks = _form(sample), marks_of(step)
    return Prepared(model, step, schema, tables[0], (*tables[1:], *others), form, marks)


def _form(sample: Any) -> Callable[[Array], Any] | None:
    """What turns a matrix into what a step makes; None where that is the matrix."""
    if isinstance(sample, pd.DataFrame):
        return partial(pd.DataFrame, columns=sample.columns, copy=False)
    return type(sample) if hasattr(sample, "toarray") else None


def _shown(step: Any, schema: Schema, own: Array) -> tuple[Array, dict[int, Array]]:
    """What a step makes of a row, and of that row with every code of each column of categories.

    Codes that training does not show are left as the row has it: they are never looked up.
    """
    codes = {
        at: np.append(column.seen, [MISSING] if column.missing else [])
        for at, column in enumerate(schema.frame_columns)
        if column.discrete
    }
    probes = [own]
    for at, mine in codes.items():
        probes.append(np.repeat(own, len(mine), axis=0))
        probes[-1][:, at] = mine
    made = _matrix(step.transform(_frame(schema, np.concatenate(probes))))
    base, shown, start = made[0].copy(), {}, 1
    for at, mine in codes.items():
        size = len(schema.frame_columns[at].table)
        shown[at] = np.repeat(base[None], size + 1, axis=0)
        shown[at][np.where(mine < 0, size, mine).astype(int)] = made[start : start + len(mine)]
        start += len(mine)
    return base, shown


def _parts(
    block: Block, schema: Schema, base: Array, shown: dict[int, Array]
) -> list[PreparedTable | PreparedNumbers | Rest]:
    """How one block of the first step is made from codes."""
    categories = [at for at in block.columns if at in shown]
    numbers = [place for place, at in enumerate(block.columns) if at not in shown]
    outputs = np.arange(len(base))[block.outputs]
    if (categories and not block.by_column) or (numbers and block.moves is None):
        builder = library(schema.library).builder([schema.frame_columns[c] for c in block.columns])
        return [Rest(block.transform, builder, block.columns, outputs)]
    found: list[PreparedTable | PreparedNumbers | Rest] = []
    for at in categories:
        lines = shown[at][:, outputs]
        varies = ~_alike(lines, base[outputs]).all(axis=0)
        if varies.any():
            rows = np.ascontiguousarray(lines[:, varies])
            found.append(
                PreparedTable(np.array([at]), np.array([len(rows)]), outputs[varies], rows)
            )
    if numbers:
        columns = np.array(block.columns)[numbers]
        moves = tuple((move, by[numbers]) for move, by in block.moves or ())
        found.append(PreparedNumbers(columns, outputs[numbers], moves))
    return found


def _merged(parts: Sequence[PreparedTable | PreparedNumbers | Rest]) -> list[PreparedTable]:
    """The tables among the parts, put together as far as they stay small: each costs a lookup."""
    tables: list[PreparedTable] = []
    for part in (part for part in parts if isinstance(part, PreparedTable)):
        last = tables[-1] if tables else None
        cells = 0 if last is None else len(last.rows) * len(part.rows) * len(last.outputs)
        if last is not None and cells <= MOST_TABLE:
            tables[-1] = last.with_(part)
        else:
            tables.append(part)
    return tables


def _same(found: Prepared, codes: Array) -> bool:
    """Whether the step makes the same of training rows and of rows mixed from them."""
    most = min(SAMPLE, 1 + MOST_CELLS // found.width)
    sample = codes[np.unique(np.linspace(0, len(codes) - 1, most).astype(int))]
    draw = np.random.default_rng(0)
    mixed = np.column_stack([draw.permutation(column) for column in sample.T])
    rows = found.schema.unfold(np.concatenate([sample, mixed]))
    wanted, made = found.step.transform(_frame(found.schema, rows)), found.matrix(rows)
    return (
        type(wanted) is type(made)
        and getattr(wanted, "nnz", 0) == getattr(made, "nnz", 0)
        and _dtypes(wanted) == _dtypes(made)
        and bool(_alike(_matrix(wanted), _matrix(made)).all())
    )


def _matrix(made: Any) -> Array:
    """What a step has made as a plain array."""
    return np.asarray(made.toarray() if hasattr(made, "toarray") else made)


def _dtypes(made: Any) -> list[object]:
    return list(made.dtypes) if isinstance(made, pd.DataFrame) else [made.dtype]


def _alike(one: Array, other: Array) -> Array:
    """Where two arrays are equal, missing values included."""
    if one.dtype.kind != "f":
        return np.asarray(one == other)
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def _frame(schema: Schema, codes: Array) -> Any:
    """The frame of codes by column of the frame."""
    return schema.builder.frame(codes, {})
