"""What a project consists of once its files are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.causes import Causes
from macex.engine.options import STRUCTURES
from macex.errors import DataError, closest
from macex.models.files.model_file import load_model
from macex.render.names import Name, read_names
from macex.scale.readers import read_chunks, read_table, require
from macex.schema import Kind, Schema
from macex.schema.statement import kinds_stated
from macex.server.projects.description import (
    Description,
    causes_stated,
    read_description,
    structure_stated,
)
from macex.server.projects.truth import read_labels
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
    data = folder / told.data
    training = _features(read_table(data, dates=_dates(kinds)), told, data)
    return Parts(
        model=open_model(folder / told.model),
        training=training,
        rows=training if told.rows is None else _rows(folder / told.rows, training, kinds, told),
        kinds=kinds,
        constraints=Constraints.from_dict(told.constraints),
        names=read_names(told.names),
        classes=told.classes,
        structure=structure_stated(told.structure),
        causes=causes_stated(told.causes),
        labels=_labels(folder, told),
        model_file=folder / told.model,
        data_file=data,
    )


def _labels(folder: Path, told: Description) -> Callable[[], pd.Series | None] | None:
    if told.label is None:
        return None
    return partial(read_labels, folder / (told.rows or told.data), told.label)


def _dates(kinds: Mapping[str, Kind]) -> list[str]:
    return [name for name, kind in kinds.items() if type(kind).__name__ == "Datetime"]


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
