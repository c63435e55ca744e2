"""What commands read: training rows, corrected columns, constraints and the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from macex.ask.units import Ground
from macex.cli.models import open_model
from macex.cli.toml import read_kinds
from macex.errors import DataError, ModelError, SchemaError, closest
from macex.scale.readers import read_table, require
from macex.schema import Kind, Schema


@dataclass(frozen=True)
class Training:
    """The training rows without label and dropped columns, and what is known of their columns."""

    rows: pd.DataFrame
    kinds: dict[str, Kind]
    dropped: tuple[str, ...]

    def ground(self, schema: Schema) -> Ground:
        """The training rows as constraints are checked against."""
        return Ground(schema, schema.read(self.rows).codes)


def training(
    data: Path, label: str | None, drop: Sequence[str] | None, schema: Path | None
) -> Training:
    """The training rows that the options describe."""
    kinds = {} if schema is None else read_kinds(schema)
    stated = [name for name, kind in kinds.items() if type(kind).__name__ == "Datetime"]
    table = read_table(data, dates=stated)
    named = {"--drop": list(drop or ()), "--label": [] if label is None else [label]}
    for option, columns in named.items():
        for column in columns:
            require(table, column, str(data), option)
    dropped = (*named["--drop"], *named["--label"])
    if not len(table):
        raise DataError(f"{data} has no rows")
    return Training(table.drop(columns=list(dropped)), kinds, dropped)


def model_for(
    path: Path,
    data: Path,
    rows: pd.DataFrame,
    *,
    allow_pickle: bool,
    trusted: Sequence[str] | None = None,
) -> Any:
    """The model, if it was trained on these columns."""
    model = open_model(path, allow_pickle=allow_pickle, trusted=trusted or ())
    live = getattr(model, "live_model", model)
    learnt = getattr(live, "feature_names_in_", None)
    if learnt is not None:
        _refuse_other_columns(data, list(map(str, learnt)), list(rows.columns))
    elif (count := getattr(live, "n_features_in_", None)) and count < rows.shape[1]:
        raise DataError(
            f"{data} has {rows.shape[1]} columns, the model was trained on {count}: if one is the "
            f"label, drop it or pass --label COLUMN{closest('', rows.columns)}"
        )
    return model


def _refuse_other_columns(data: Path, learnt: Sequence[str], given: Sequence[str]) -> None:
    extra = [column for column in given if column not in learnt]
    if extra:
        listed = ", ".join(map(repr, extra))
        raise DataError(
            f"{data} has columns the model was not trained on: {listed}. If {extra[-1]!r} is the "
            f"label, drop it or pass --label {extra[-1]}; other columns go with --drop COLUMN"
        )
    for column in learnt:
        if column not in given:
            raise DataError(
                f"{data} has no column {column!r}, which the model was trained on"
                f"{closest(column, given)}"
            )


@contextmanager
def label_hint(data: Path, label: str | None) -> Iterator[None]:
    """Says what may be wrong where a model does not take the columns and no label was named."""
    try:
        yield
    except (ModelError, SchemaError) as error:
        if label is not None:
            raise
        raise DataError(
            f"{error} (if a column of {data} is the label, drop it or pass --label COLUMN)"
        ) from error


def classes_named(text: str | None) -> list[str] | None:
    """The names in a list such as `no,yes`."""
    return None if text is None else [name.strip() for name in text.split(",")]
