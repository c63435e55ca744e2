"""The first step of a scikit-learn pipeline, taken apart into blocks of columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.schema import Array, Schema

EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Block:
    """A transformer with the columns of the frame it gets and the columns of the matrix it makes.

    `by_column` says that every output comes from one input alone, `linear` that the outputs are the
    inputs in their order, minus `less`, divided by `over`.
    """

    transform: Callable[[Any], Any]
    columns: list[int]
    outputs: slice
    by_column: bool
    linear: bool
    less: Array | None = None
    over: Array | None = None


def first_step(pipeline: Any) -> Any:
    """The fitted first step of a pipeline of several; None for anything else."""
    if type(pipeline).__module__ != "sklearn.pipeline" or type(pipeline).__name__ != "Pipeline":
        return None
    steps = pipeline.steps
    step = steps[0][1] if len(steps) > 1 else None
    return step if hasattr(step, "transform") else None


def fitted_parts(pipeline: Any) -> tuple[object, ...]:
    """The first step, its transformers and the arrays they have learnt, each by itself."""
    step = first_step(pipeline)
    found: list[object] = []
    pending = [step]
    while pending:
        one = pending.pop()
        found.append(one)
        held = getattr(one, "__dict__", {})
        found += [part for part in held.values() if isinstance(part, (np.ndarray, list))]
        inner = [entry[1] for entry in held.get("transformers_", held.get("steps", ()))]
        pending += [part for part in inner if not isinstance(part, str)]
    return tuple(found)


def blocks_of(step: Any, schema: Schema, width: int) -> list[Block] | None:
    """The blocks of a step, None where it is not known how it treats its columns."""
    from sklearn.compose import ColumnTransformer

    every = list(range(len(schema.frame_columns)))
    if type(step) is not ColumnTransformer:
        return [_block(step, every, slice(0, width), schema)]
    if step.transformer_weights:
        return None
    blocks = []
    for name, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        places = _places(columns, schema)
        if places is None:
            return None
        if places:
            blocks.append(_block(transformer, places, step.output_indices_[name], schema))
    return blocks


def _block(transformer: Any, columns: list[int], outputs: slice, schema: Schema) -> Block:
    from sklearn.preprocessing import StandardScaler

    linear = all(_exact(schema, at) for at in columns)
    linear &= outputs.stop - outputs.start == len(columns)
    if _hands_on(transformer):
        return Block(_itself, columns, outputs, by_column=True, linear=linear)
    transform = transformer.transform
    if type(transformer) is StandardScaler:
        less = transformer.mean_ if transformer.with_mean else None
        over = transformer.scale_ if transformer.with_std else None
        return Block(
            transform, columns, outputs, by_column=True, linear=linear, less=less, over=over
        )
    return Block(transform, columns, outputs, by_column=_by_column(transformer), linear=False)


def _by_column(transformer: Any) -> bool:
    """Whether a transformer is known to treat every column by itself."""
    from sklearn import impute, pipeline, preprocessing

    if type(transformer) is pipeline.Pipeline:
        return all(_hands_on(step) or _by_column(step) for _, step in transformer.steps)
    known = (
        preprocessing.OneHotEncoder,
        preprocessing.OrdinalEncoder,
        preprocessing.StandardScaler,
        preprocessing.MinMaxScaler,
        impute.SimpleImputer,
    )
    return type(transformer) in known


def _hands_on(transformer: Any) -> bool:
    from sklearn.preprocessing import FunctionTransformer

    if transformer is None or isinstance(transformer, str):
        return transformer in (None, "passthrough")
    return type(transformer) is FunctionTransformer and transformer.func is None


def _itself(frame: Any) -> Any:
    return frame


def _exact(schema: Schema, at: int) -> bool:
    """Whether a column is of categories, or of numbers that doubles hold as they are."""
    column = schema.frame_columns[at]
    if column.discrete:
        return True
    dtype = column.dtype
    if not isinstance(dtype, np.dtype) or column.kind != "continuous" or column.storage.objects:
        return False
    whole = dtype.kind in "iu" and max(abs(column.low), abs(column.high)) < EXACT
    return dtype == np.dtype(float) or whole


def _places(columns: Any, schema: Schema) -> list[int] | None:
    """The positions that a column transformer's entry names; None for a form not known here."""
    labels = [column.label for column in schema.frame_columns]
    if isinstance(columns, slice):
        bounds = (columns.start, columns.stop)
        if any(isinstance(bound, str) for bound in bounds):
            return None
        return list(range(len(labels)))[columns]
    if isinstance(columns, str) or not np.iterable(columns):
        return None  # the transformer gets a series
    listed = list(columns)
    if listed and all(isinstance(one, (bool, np.bool_)) for one in listed):
        return [at for at, chosen in enumerate(listed) if chosen]
    if all(isinstance(one, str) for one in listed):
        return [labels.index(one) for one in listed]
    if all(isinstance(one, (int, np.integer)) for one in listed):
        return [int(one) % len(labels) for one in listed]
    return None
