"""What a project consists of once its files are read, the true labels of its rows included."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.constraints import Constraints
from macex.causes import Causes
from macex.engine.options import STRUCTURES
from macex.errors import DataError, closest
from macex.explanation.json import plain
from macex.models.files.model_file import load_model
from macex.render.names import Name, read_names
from macex.scale.readers import date_columns, read_chunks, read_table, require
from macex.schema import Array, Kind, Schema
from macex.schema.schema import kinds_stated
from macex.schema.text import text_of
from macex.server.projects.description import (
    Description,
    causes_stated,
    read_description,
    structure_stated,
)
from macex.structure import Structure

OWN = "cf."
OpenModel = Callable[[Path], Any]


@dataclass(frozen=True)
class Parts:
    """A model, the rows it learnt from, the rows to look at, and their description."""

    model: Any
    training: pd.DataFrame
    rows: pd.DataFrame
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    constraints: Constraints = field(default_factory=Constraints)
    names: Mapping[str, str | Name] = field(default_factory=dict)
    classes: tuple[Any, ...] | None = None
    structure: str | Structure = STRUCTURES[0]
    causes: Causes | None = None
    labels: Callable[[], pd.Series | None] | None = None  # of the rows, if they are known
    model_file: Path | None = None
    data_file: Path | None = None


def read_parts(folder: Path, open_model: OpenModel = load_model) -> Parts:
    """The parts that lie in a project's folder; `open_model` says where the model is to run."""
    told = read_description(folder)
    kinds = kinds_stated(told.schema)
    data, looked_at = folder / told.data, folder / (told.rows or told.data)
    training = _features(read_table(data, dates=date_columns(kinds)), told, data)
    return Parts(
        model=open_model(folder / told.model),
        training=training,
        rows=training if told.rows is None else _rows(looked_at, training, kinds, told),
        kinds=kinds,
        constraints=Constraints.from_dict(told.constraints),
        names=read_names(told.names),
        classes=told.classes,
        structure=structure_stated(told.structure),
        causes=causes_stated(told.causes),
        labels=None if told.label is None else partial(read_labels, looked_at, told.label),
        model_file=folder / told.model,
        data_file=data,
    )


def _features(table: pd.DataFrame, told: Description, path: Path) -> pd.DataFrame:
    """The training rows without label and dropped columns."""
    for column in told.dropped:
        require(table, column, path.name, "the project")
    if not len(table):
        raise DataError(f"{path.name} has no rows")
    for column in map(str, table.columns):
        if column.startswith(OWN) and column not in told.dropped:
            raise DataError(
                f"{path.name} has a column {column!r}: names that begin with {OWN!r} are those of "
                "answers; rename or drop it"
            )
    return table.drop(columns=list(told.dropped))


def _rows(
    path: Path, training: pd.DataFrame, kinds: Mapping[str, Kind], told: Description
) -> pd.DataFrame:
    """The rows to look at, typed as the training rows."""
    schema = Schema.infer(training, dict(kinds))
    chunks = read_chunks(path, schema.frame_columns, 65_536, drop=told.dropped)
    table = pd.concat(list(chunks))
    for column in training.columns:
        if column not in table.columns:
            raise DataError(
                f"{path.name} has no column {column!r}, which the training rows have"
                f"{closest(column, table.columns)}"
            )
    return table[list(training.columns)]


def read_labels(path: Path, label: str) -> pd.Series | None:
    """The labels in a file; None where it has no such column."""
    table = read_table(path)
    return table[label] if label in table.columns else None


def positions(labels: Any, classes: Sequence[object]) -> Array | None:
    """Which class each label is, by its place; -1 for those that are none of them.

    Labels are matched by what they say. Where none does, whole numbers are places themselves.

    >>> positions(pd.Series(["yes", None, "no"]), ("no", "yes")).tolist()
    [1, -1, 0]
    >>> positions(pd.Series([1, 0]), ("refused", "granted")).tolist()
    [1, 0]
    """
    which, values = pd.factorize(pd.Series(labels))
    told = [text_of(plain(value)) for value in values]
    known = {text_of(plain(label)): at for at, label in enumerate(classes)}
    if not any(text in known for text in told):
        known = {str(at): at for at in range(len(classes))}
    places = np.array([known.get(text, -1) for text in told] + [-1])
    found: Array = places[which]
    return found if (found >= 0).any() else None
