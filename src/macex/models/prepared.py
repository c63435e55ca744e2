"""What the later steps of a pipeline are asked about, made from codes by table.

A scikit-learn pipeline spends most of its time on turning a frame into a matrix: texts are compared
one by one, columns are checked, copied and joined. What its first step makes of every category is
looked up once; after that codes become the matrix without a frame. The matrix must equal, bit for
bit, what the step itself makes of training rows and of rows mixed from them, else nothing is
prepared. Whatever is returned to the caller is still confirmed by the pipeline as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.models.first_steps import Block, blocks_of, first_step, fitted_parts
from macex.schema import Array, Schema
from macex.schema.columns import MISSING
from macex.schema.frames import Builder, library

SAMPLE = 2000
MOST_CELLS = 8_000_000  # of the matrix that shows what becomes of every category
MOST_TABLE = 1_000_000  # cells of a table of several columns
MOST_SPARSE = 256  # columns: wider sparse matrices are not made from dense ones


@dataclass(frozen=True, eq=False)
class Table:
    """What becomes of columns of categories: one line for each combination of their codes.

    The last code of a column is its missing value.
    """

    columns: Array  # (c,)
    sizes: Array  # (c,) codes
    outputs: Array
    rows: Array  # (combinations, outputs)

    def lines(self, codes: Array) -> Array:
        """The outputs for codes by column of the frame."""
        mine = codes[:, self.columns]
        steps = np.cumprod([1.0, *self.sizes])[:-1]
        line = np.where(mine < 0, self.sizes - 1.0, mine) @ steps
        return self.rows.take(line.astype(np.intp), axis=0)

    def write(self, codes: Array, matrix: Array) -> None:
        """Fill the outputs for codes by column of the frame."""
        matrix[:, _sliced(self.outputs)] = self.lines(codes)

    def with_(self, other: Table) -> Table:
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
        return Table(columns, sizes, outputs, np.ascontiguousarray(rows))


@dataclass(frozen=True, eq=False)
class Numbers:
    """Columns of numbers that are handed on, moved and scaled."""

    columns: Array
    outputs: Array
    less: Array | None
    over: Array | None

    def write(self, codes: Array, matrix: Array) -> None:
        """Fill the outputs for codes by column of the frame."""
        values = codes[:, self.columns]
        values = np.where(values == MISSING, np.nan, values)
        if self.less is not None:
            values -= self.less
        if self.over is not None:
            values /= self.over
        matrix[:, _sliced(self.outputs)] = values


@dataclass(frozen=True, eq=False)
class Rest:
    """Columns that a transformer is still asked about."""

    transform: Callable[[Any], Any]
    frame: Callable[[Array], Any]  # codes by column of the frame -> what the transformer gets
    outputs: Array

    def write(self, codes: Array, matrix: Array) -> None:
        """Fill the outputs for codes by column of the frame."""
        made = self.transform(self.frame(codes))
        matrix[:, self.outputs] = made.toarray() if hasattr(made, "toarray") else made


@dataclass(frozen=True, eq=False)
class Prepared:
    """A pipeline that can be asked about codes by column of the schema.

    `marks` are what the first step has learnt, by which it is seen that it was fitted anew.
    """

    pipeline: Any
    schema: Schema
    whole: Table  # which writes all outputs, if only as they are in one training row
    parts: tuple[Table | Numbers | Rest, ...]  # which write over that
    sparse: type | None
    marks: tuple[object, ...]

    @property
    def width(self) -> int:
        """The columns of the matrix."""
        return len(self.whole.outputs)

    @property
    def current(self) -> bool:
        """Whether the first step is still the one that was looked at."""
        now = fitted_parts(self.pipeline)
        return len(now) == len(self.marks) and all(
            one is other for one, other in zip(now, self.marks, strict=True)
        )

    def __call__(self, full: Array, method: str) -> Any:
        """What a method of the pipeline gives for codes."""
        later = self.pipeline.steps[1:]
        made = self.matrix(full)
        for _, step in later[:-1]:
            made = made if step in (None, "passthrough") else step.transform(made)
        return getattr(later[-1][1], method)(made)

    def matrix(self, full: Array) -> Any:
        """What the first step makes of codes."""
        codes = self.schema.unfold(full)
        matrix = self.whole.lines(codes)
        for part in self.parts:
            part.write(codes, matrix)
        return matrix if self.sparse is None else self.sparse(matrix)


def prepared(pipeline: Any, schema: Schema, codes: Array) -> Prepared | None:
    """A pipeline's first step by table; None where that cannot be or does not give the same."""
    step = first_step(pipeline)
    if step is None or schema.library != "pandas" or not len(codes):
        return None
    try:
        found = _laid_out(pipeline, step, schema, codes)
    except Exception:  # noqa: BLE001 - whatever is unusual about a step, the step itself can do it
        return None
    return found if found is not None and _same(found, step, codes) else None


def _laid_out(pipeline: Any, step: Any, schema: Schema, codes: Array) -> Prepared | None:
    held = schema.frame_columns
    own = schema.unfold(codes[:1])
    sample = step.transform(_frame(schema, own))
    sparse = type(sample) if hasattr(sample, "toarray") else None
    if sparse is None and not isinstance(sample, np.ndarray):
        return None
    width = sample.shape[1]
    blocks = blocks_of(step, schema, width)
    sizes = [len(c.table) + 1 if c.discrete else 0 for c in held]
    if blocks is None or (sum(sizes) + 1) * width > MOST_CELLS:
        return None
    if sparse is not None and width > MOST_SPARSE:
        return None
    probes = np.repeat(own, 1 + sum(sizes), axis=0)
    starts = 1 + np.cumsum([0, *sizes[:-1]])
    for column, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        if size:
            known = MISSING if held[column].storage.nullable else 0.0
            probes[start : start + size, column] = [*range(size - 1), known]
    shown = step.transform(_frame(schema, probes))
    shown = np.ascontiguousarray(shown if sparse is None else shown.toarray())
    parts: list[Table | Numbers | Rest] = []
    for block in blocks:
        parts += _parts(block, schema, shown, starts, sizes)
    if all(isinstance(part, Rest) for part in parts):
        return None
    if shown.dtype != float and any(isinstance(part, Numbers) for part in parts):
        return None
    nothing = np.zeros(0, np.intp)
    tables = _merged([Table(nothing, nothing, np.arange(width), shown[:1].copy()), *parts])
    others = [part for part in parts if not isinstance(part, Table)]
    marks = fitted_parts(pipeline)
    return Prepared(pipeline, schema, tables[0], (*tables[1:], *others), sparse, marks)


def _parts(
    block: Block, schema: Schema, shown: Array, starts: Array, sizes: Sequence[int]
) -> list[Table | Numbers | Rest]:
    """How one block of the first step is made from codes."""
    categories = [at for at in block.columns if sizes[at]]
    numbers = [at for at in block.columns if not sizes[at]]
    width = shown.shape[1]
    if (categories and not block.by_column) or (numbers and not block.linear):
        builder = library(schema.library).builder([schema.frame_columns[c] for c in block.columns])
        return [
            Rest(block.transform, _Frames(builder, block.columns), np.arange(width)[block.outputs])
        ]
    found: list[Table | Numbers | Rest] = []
    for at in categories:
        lines = shown[starts[at] : starts[at] + sizes[at]]
        outputs = np.flatnonzero(~_alike(lines, shown[0]).all(axis=0))
        inside = outputs[(outputs >= block.outputs.start) & (outputs < block.outputs.stop)]
        if len(inside):
            rows = np.ascontiguousarray(lines[:, inside])
            found.append(Table(np.array([at]), np.array([len(rows)]), inside, rows))
    if numbers:
        places = np.array([block.columns.index(at) for at in numbers])
        less = None if block.less is None else block.less[places]
        over = None if block.over is None else block.over[places]
        found.append(Numbers(np.array(numbers), block.outputs.start + places, less, over))
    return found


def _merged(parts: Sequence[Table | Numbers | Rest]) -> list[Table]:
    """The tables among the parts, put together as far as they stay small: each costs a lookup."""
    tables: list[Table] = []
    for part in (part for part in parts if isinstance(part, Table)):
        last = tables[-1] if tables else None
        cells = 0 if last is None else len(last.rows) * len(part.rows) * len(last.outputs)
        if last is not None and cells <= MOST_TABLE:
            tables[-1] = last.with_(part)
        else:
            tables.append(part)
    return tables


def _same(found: Prepared, step: Any, codes: Array) -> bool:
    """Whether the matrix is bit for bit the one of the step itself."""
    sample = codes[np.unique(np.linspace(0, len(codes) - 1, SAMPLE).astype(int))]
    draw = np.random.default_rng(0)
    mixed = np.column_stack([draw.permutation(column) for column in sample.T])
    rows = np.concatenate([sample, mixed])
    wanted, made = step.transform(found.schema.frame(rows)), found.matrix(rows)
    if found.sparse is not None:
        if type(wanted) is not type(made) or wanted.nnz != made.nnz:
            return False
        wanted, made = wanted.toarray(), made.toarray()
    return wanted.dtype == made.dtype and bool(_alike(wanted, made).all())


def _alike(one: Array, other: Array) -> Array:
    """Where two arrays are equal, missing values included."""
    if one.dtype.kind != "f":
        return np.asarray(one == other)
    return np.asarray((one == other) | (np.isnan(one) & np.isnan(other)))


def _sliced(places: Array) -> slice | Array:
    """Positions as a slice where they are in a row: that is faster to write to."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if np.array_equal(places, np.arange(first, last + 1)) else places


def _frame(schema: Schema, held: Array) -> Any:
    return schema.builder.frame(held, {})


@dataclass(frozen=True, eq=False)
class _Frames:
    """Frames of some columns only."""

    builder: Builder
    columns: list[int]

    def __call__(self, codes: Array) -> Any:
        return self.builder.frame(codes[:, self.columns], {})
