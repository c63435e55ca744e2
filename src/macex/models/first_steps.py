"""The first step of a scikit-learn pipeline, taken apart into blocks of columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from macex.schema import Array, Schema

EXACT = 2.0**53
MANNER = {"n_jobs", "verbose"}  # parameters that change nothing in what a step makes
PIPELINE = ("sklearn.pipeline", "Pipeline")
COLUMNS = ("sklearn.compose._column_transformer", "ColumnTransformer")
SEARCHES = {
    ("sklearn.model_selection._search", "GridSearchCV"),
    ("sklearn.model_selection._search", "RandomizedSearchCV"),
}
Move: TypeAlias = tuple[Callable[[Array, Array], Array], Array]
Mark: TypeAlias = tuple[dict[str, object], str, object]


@dataclass(frozen=True, eq=False)
class Block:
    """A transformer with the columns of the frame it gets and the columns of the matrix it makes.

    `by_column` says that every output comes from one input alone. `moves` are what is done to
    numbers if the outputs are the inputs in their order, each moved by itself; None if they are not
    or if that is not known.
    """

    transform: Callable[[Any], Any]
    columns: list[int]
    outputs: slice
    by_column: bool
    moves: tuple[Move, ...] | None


def steps_of(model: Any) -> list[Any]:
    """The steps of a pipeline that do anything, those of inner pipelines among them.

    A search over parameters has those of its best pipeline; any other model has none.
    """
    if kind_of(model) in SEARCHES:
        model = getattr(model, "best_estimator_", None)
    return _flat(model) if kind_of(model) == PIPELINE else []


def first_step(model: Any) -> Any:
    """The step of a pipeline that gets the frame; None for anything else."""
    steps = steps_of(model)
    return steps[0] if len(steps) > 1 and hasattr(steps[0], "transform") else None


def columns_dropped(model: Any, schema: Schema) -> list[str]:
    """The columns that a pipeline's first step drops, so that its model never reads them.

    >>> import pandas as pd
    >>> from sklearn.compose import make_column_transformer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> data = pd.DataFrame({"hours": range(9), "id": range(9)})
    >>> chosen = make_column_transformer(("passthrough", ["hours"]))
    >>> model = make_pipeline(chosen, LogisticRegression()).fit(data, data["hours"] > 4)
    >>> columns_dropped(model, Schema.infer(data))
    ['id']
    """
    step = first_step(getattr(model, "live_model", model))
    if step is None or kind_of(step) != COLUMNS or not hasattr(step, "transformers_"):
        return []
    labels = [column.label for column in schema.frame_columns]
    names = list(getattr(step, "feature_names_in_", labels))
    places = step._transformer_to_input_indices  # noqa: SLF001 - whatever named them
    read = {
        names[at]
        for name, transformer, _ in step.transformers_
        if not (isinstance(transformer, str) and transformer == "drop")
        for at in places[name]
    }
    dropped = [column.name for column in schema.columns if column.label not in read]
    known = {column.name for column in schema.frame_columns}
    return [name for name in dropped if name in known] if len(dropped) < len(labels) else []


def last_step(model: Any) -> Any:
    """The step of a pipeline that decides; any other model is its own."""
    steps = steps_of(model)
    return steps[-1] if steps else model


def marks_of(step: Any) -> tuple[Mark, ...]:
    """The parameters of a fitted step and of its transformers, what they have learnt, and where.

    Fitting or setting a parameter puts another object in one of these places. Private ones are left
    out, since some steps write to them whenever they are asked, and so is how a step goes about it.
    """
    found: list[Mark] = []
    pending = [step]
    while pending:
        held = getattr(pending.pop(), "__dict__", {})
        told = [name for name in held if not name.startswith("_") and name not in MANNER]
        found += [(held, name, held[name]) for name in told]
        pending += [entry[1] for entry in held.get("transformers_", held.get("steps", ()))]
    return tuple(found)


def blocks_of(step: Any, schema: Schema, width: int) -> list[Block] | None:
    """The blocks of a step, None where it is not known how it treats its columns."""
    from sklearn.compose import ColumnTransformer

    labels = [column.label for column in schema.frame_columns]
    if type(step) is not ColumnTransformer:
        return [_block(step, list(range(len(labels))), slice(0, width), schema)]
    if step.transformer_weights:
        return None
    names = list(getattr(step, "feature_names_in_", labels))
    blocks = []
    for name, transformer, columns in step.transformers_:
        if isinstance(transformer, str) and transformer == "drop":
            continue
        if np.isscalar(columns):
            return None  # the transformer gets a series
        chosen = step._transformer_to_input_indices[name]  # noqa: SLF001 - whatever named them
        places = [labels.index(names[at]) for at in chosen]
        if places:
            blocks.append(_block(transformer, places, step.output_indices_[name], schema))
    return blocks


def _block(transformer: Any, columns: list[int], outputs: slice, schema: Schema) -> Block:
    by_column = _hands_on(transformer) or _by_column(transformer)
    moves = _moves(transformer)
    exact = all(_exact(schema, at) for at in columns)
    if not exact or outputs.stop - outputs.start != len(columns):
        moves = None
    transform = _itself if _hands_on(transformer) else transformer.transform
    return Block(transform, columns, outputs, by_column, moves)


def _by_column(transformer: Any) -> bool:
    """Whether a transformer is known to treat every column by itself."""
    from sklearn import impute, preprocessing

    if kind_of(transformer) == PIPELINE:
        return all(_by_column(step) for step in _flat(transformer))
    known = (
        preprocessing.OneHotEncoder,
        preprocessing.OrdinalEncoder,
        preprocessing.TargetEncoder,
        preprocessing.StandardScaler,
        preprocessing.MinMaxScaler,
        preprocessing.RobustScaler,
        impute.SimpleImputer,
    )
    return type(transformer) in known


def _moves(transformer: Any) -> tuple[Move, ...] | None:
    """What a transformer does to numbers, one after the other; None if that is not known."""
    if _hands_on(transformer):
        return ()
    if kind_of(transformer) == PIPELINE:
        found = [_moves(step) for step in _flat(transformer)]
        known = [moves for moves in found if moves is not None]
        return sum(known, ()) if len(known) == len(found) else None
    return _moves_of_one(transformer)


def _moves_of_one(transformer: Any) -> tuple[Move, ...] | None:
    from sklearn import impute, preprocessing

    found: list[tuple[Any, Array, bool]] | None = None  # what is done, by which numbers, if at all
    if type(transformer) is preprocessing.StandardScaler:
        less, over = transformer.mean_, transformer.scale_
        found = [
            (np.subtract, less, transformer.with_mean),
            (np.divide, over, transformer.with_std),
        ]
    elif type(transformer) is preprocessing.RobustScaler:
        less, over = transformer.center_, transformer.scale_
        found = [
            (np.subtract, less, transformer.with_centering),
            (np.divide, over, transformer.with_scaling),
        ]
    elif type(transformer) is preprocessing.MinMaxScaler and not transformer.clip:
        found = [(np.multiply, transformer.scale_, True), (np.add, transformer.min_, True)]
    elif type(transformer) is impute.SimpleImputer and _fills_gaps(transformer):
        found = [(filled, transformer.statistics_, True)]
    return None if found is None else tuple((move, by) for move, by, done in found if done)


def filled(values: Array, fill: Array) -> Array:
    """Numbers with the gaps filled in.

    >>> filled(np.array([[1.0, np.nan]]), np.array([7.0, 8.0])).tolist()
    [[1.0, 8.0]]
    """
    return np.where(np.isnan(values), fill, values)


def _fills_gaps(imputer: Any) -> bool:
    """Whether an imputer puts a number where one is missing, and does no more."""
    blank = imputer.missing_values
    numbers = imputer.statistics_.dtype.kind == "f" and not imputer.add_indicator
    return bool(numbers and isinstance(blank, float) and np.isnan(blank))


def _hands_on(transformer: Any) -> bool:
    from sklearn.preprocessing import FunctionTransformer

    if transformer is None or isinstance(transformer, str):
        return transformer in (None, "passthrough")
    return type(transformer) is FunctionTransformer and transformer.func is None


def _flat(pipeline: Any) -> list[Any]:
    """The steps of a pipeline and of those within it, without those that hand on."""
    found: list[Any] = []
    for _, step in pipeline.steps:
        if kind_of(step) == PIPELINE:
            found += _flat(step)
        elif not (step is None or isinstance(step, str)):
            found.append(step)
    return found


def kind_of(model: Any) -> tuple[str, str]:
    """The module and the name of a model's class."""
    return type(model).__module__, type(model).__name__


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
