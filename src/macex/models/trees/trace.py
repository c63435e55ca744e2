"""Which column each feature of the trees comes from, through the steps of a pipeline.

A step that sees categories only may do what it likes: all of them are tried anyway. Numbers may
pass through steps that treat every column alone and never turn its order round.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from macex.models.trees.readers import unreadable
from macex.schema import Array, Schema

ANY = -1  # a feature that no number has a part in
ORDERLY = frozenset(
    {
        "MaxAbsScaler",
        "MinMaxScaler",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "SimpleImputer",
        "StandardScaler",
    }
)


class Path(NamedTuple):
    """The way from codes to the matrix that trees see."""

    schema: Schema
    steps: tuple[Any, ...]
    source: list[int] | None  # for each feature its column in the schema, or ANY; None: all ANY

    def matrix(self, codes: Array) -> Array:
        """The features (n, F) of rows of codes (n, d)."""
        if not any(_acts(step) for step in self.steps):
            return self.schema.unfold(codes)
        rows = self.schema.frame(codes)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the steps speak of names they do not get
            for step in self.steps:
                rows = step.transform(rows) if _acts(step) else rows
        rows = rows.toarray() if hasattr(rows, "toarray") else rows
        return np.asarray(rows, dtype=np.float64)


def path(schema: Schema, steps: Sequence[Any]) -> Path:
    """The way through the steps; an error names what cannot be followed."""
    source: list[int] | None = _sources(schema)
    for step in steps:
        if source is None or all(column == ANY for column in source):
            return Path(schema, tuple(steps), None)
        source = _after(schema, step, source)
    return Path(schema, tuple(steps), source)


def _sources(schema: Schema) -> list[int]:
    """For each column of the frame its column in the schema, or ANY if that has no numbers."""
    source = [ANY] * len(schema.frame_columns)
    places = range(len(schema.columns)) if schema.folding is None else schema.folding.places
    for at, place in enumerate(places):
        if isinstance(place, int) and not schema.columns[at].discrete:
            source[place] = at
    return source


def _acts(step: Any) -> bool:
    return step is not None and not isinstance(step, str)


def _after(schema: Schema, step: Any, source: list[int]) -> list[int]:
    """The sources of a step's outputs."""
    kind = type(step).__name__
    if not _acts(step) or (kind == "FunctionTransformer" and step.func is None):
        return source
    if kind == "Pipeline":
        for _, inner in step.steps:
            source = _after(schema, inner, source)
        return source
    if kind == "ColumnTransformer":
        return _side_by_side(schema, step, source)
    if kind not in ORDERLY:
        names = [schema.names[column] for column in source if column != ANY]
        raise unreadable(
            f"column {names[0]!r} goes through {kind} before the trees, which cannot be followed "
            "(a number that is encoded as a category is one in the schema, too: "
            f'schema={{{names[0]!r}: "categorical"}})'
        )
    return [*source, *_indicators(step)]


def _indicators(step: Any) -> list[int]:
    """Outputs of an imputer that only say whether a value was missing."""
    if type(step).__name__ != "SimpleImputer":
        return []
    gone = np.array([value is None or value != value for value in step.statistics_])  # noqa: PLR0124
    if gone.any() and not step.keep_empty_features:
        raise unreadable("a SimpleImputer drops a column that is always missing")
    indicator = getattr(step, "indicator_", None)
    return [] if indicator is None else [ANY] * len(indicator.features_)


def _side_by_side(schema: Schema, step: Any, source: list[int]) -> list[int]:
    after = [ANY] * max((part.stop for part in step.output_indices_.values()), default=0)
    columns = step._transformer_to_input_indices  # noqa: SLF001 - names, masks and slices resolved
    for name, inner, _ in step.transformers_:
        out = step.output_indices_[name]
        mine = [source[at] for at in columns[name]]
        if inner == "drop" or all(column == ANY for column in mine):
            continue
        found = _after(schema, inner, mine)
        if len(found) != out.stop - out.start:
            raise unreadable(f"the step {name!r} has other outputs than expected")
        after[out] = found
    return after
