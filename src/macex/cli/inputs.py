"""What commands read: the model, training rows, corrected columns, constraints, or an explainer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from macex.ask.units import Ground
from macex.cli.toml import read_causes, read_kinds, read_structure
from macex.engine.options import PREFERENCES, STRUCTURES
from macex.errors import DataError, ModelError, ModelFileError, OptionError, SchemaError, closest
from macex.explainer import Explainer
from macex.models.files.model_file import load_model
from macex.scale.readers import date_columns, read_table, require
from macex.schema import Kind, Schema
from macex.stages.search.protocol import DEFAULT_SEARCH


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
    table = read_table(data, dates=date_columns(kinds))
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


TRUSTING = re.compile(r"load_model\(path, trusted=\[(?P<types>[^\]]*)\]\)")


def open_model(path: Path, *, allow_pickle: bool, trusted: Sequence[str] = ()) -> Any:
    """The model in a file; an error about an argument names the option instead."""
    try:
        return load_model(path, allow_pickle=allow_pickle, trusted=trusted)
    except ModelFileError as error:
        said = str(error).replace("allow_pickle=True", "--allow-pickle")
        said = TRUSTING.sub(lambda found: _options(found["types"]), said)
        raise ModelError(said) from error


def _options(types: str) -> str:
    """What the library calls `trusted=[...]`, as options.

    >>> _options("'a.B', 'c.D'")
    '--trusted a.B --trusted c.D'
    """
    return " ".join(f"--trusted {name}" for name in re.findall("'([^']*)'", types))


DEFAULTS = {"method": DEFAULT_SEARCH, "prefer": PREFERENCES[0], "seed": 0}


def explainer_made(
    learnt: Training,
    files: Mapping[str, Any],
    reading: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
) -> Explainer:
    """The explainer of the model, constraints and classes that `files` name.

    `reading` says how the model is opened; `more` are further arguments of `Explainer`.
    """
    data, label, rules = files["data"], files["label"], files["constraints"]
    opened = model_for(files["model"], data, learnt.rows, **reading)
    stated = {"structure": read_structure(rules) or STRUCTURES[0], "causes": read_causes(rules)}
    with label_hint(data, label):
        return Explainer(
            opened,
            learnt.rows,
            schema=learnt.kinds,
            classes=classes_named(files["classes"]),
            **{**stated, **(more or {})},
        )


def refuse_beside(explainer: Path, said: Mapping[str, Any]) -> None:
    """Refuse options that a saved explainer has answered already."""
    for option, value in said.items():
        if value != DEFAULTS.get(option):
            raise OptionError(
                f"--{option} stands beside --explainer {explainer}: it was settled when the "
                "explainer was made; leave one of them out"
            )


def required(data: Path | None) -> Path:
    """The training rows, which are needed where no explainer was saved."""
    if data is None:
        raise OptionError("give the training rows as --data, or a saved explainer as --explainer")
    return data


def columns_dropped(drop: Sequence[str] | None, label: str | None) -> tuple[str, ...]:
    """The columns of the rows that are not features."""
    return (*(drop or ()), *(() if label is None else (label,)))
