"""`project.toml`: what the files of a project's folder are, and what their columns are.

title = "Income"
model = "model.ubj"
data = "train.parquet"
rows = "new.parquet"        # the rows to look at; without it, the training rows
label = "income"            # a column of the files that is not a feature
drop = ["id"]               # further ones
classes = ["<=50K", ">50K"]

[names]
hours_per_week = "hours per week"

[schema]
age = { kind = "continuous", step = 1 }

[constraints]
fixed = ["race", "gender"]

`structure` is "keep" (the default), "warn" or "ignore", or a list of relations as `macex schema
--structure` writes it, and `[causes.edges]` and `[causes.mechanisms]` say what causes what.

A project of time series says `kind = "series"`. Its data and rows are NumPy files (.npz) with an
array `X` (cases, channels, time), and `channels` names the channels. `times` labels the time points
and `time_unit` is their unit; `[names]` says how channels are called, and their units.

Once its files are read, a project consists of these parts, the true labels of its rows included.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import tomli_w

from macex.ask.constraints import Constraints
from macex.causes import Causes
from macex.engine.options import STRUCTURES
from macex.errors import DataError, MacexError, closest
from macex.explanation.json import plain
from macex.models.files.model_file import load_model
from macex.render.exports import write_whole
from macex.render.names import Name, read_names
from macex.scale.readers import date_columns, read_chunks, read_table, require
from macex.schema import Array, Kind, Schema
from macex.schema.schema import kinds_stated
from macex.schema.text import text_of
from macex.structure import Structure

OWN = "cf."
OpenModel = Callable[[Path], Any]
FILE = "project.toml"
FILES = ("model", "data", "rows")
LISTS = ("drop", "classes", "channels", "times")
SORTS = ("table", "series")
TABLES = ("names", "schema", "constraints", "causes")


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


@dataclass(frozen=True)
class Description:
    """The content of a `project.toml`, checked as far as it can be without the files."""

    title: str
    model: str
    data: str
    rows: str | None = None
    label: str | None = None
    drop: tuple[str, ...] = ()
    classes: tuple[Any, ...] | None = None
    kind: str = "table"
    channels: tuple[str, ...] = ()
    times: tuple[Any, ...] = ()
    time_unit: str = ""
    names: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] = field(default_factory=dict)
    constraints: Mapping[str, Any] = field(default_factory=dict)
    structure: str | Sequence[Mapping[str, Any]] = STRUCTURES[0]
    causes: Mapping[str, Any] = field(default_factory=dict)

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns of the files that are not features."""
        return self.drop if self.label is None else (*self.drop, self.label)

    def write(self, folder: Path) -> None:
        """Put it into a folder, whole or not at all."""
        usual: tuple[Any, ...] = (None, (), {}, "", SORTS[0], STRUCTURES[0])
        said = {part: value for part, value in vars(self).items() if value not in usual}
        for part, value in said.items():
            try:
                tomli_w.dumps({part: value}).encode()
            except (TypeError, ValueError, RecursionError):
                raise DataError(
                    f"{part} cannot be written to {FILE}: it holds null, or text that is no "
                    "Unicode; leave such a part out, or say it as a rule"
                ) from None
        write_whole(folder / FILE, tomli_w.dumps(said).encode())


def read_description(folder: Path) -> Description:
    """What the `project.toml` of a folder says."""
    path = folder / FILE
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        return described(document)
    except FileNotFoundError:
        raise DataError(
            f"{folder} is not a project: it has no {FILE}; `macex project new` makes one"
        ) from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, MacexError) as error:
        raise DataError(f"{path}: {error}") from error


def described(document: Mapping[str, Any]) -> Description:
    """A description from its parts.

    >>> described({"model": "../model.ubj", "data": "train.csv"})
    Traceback (most recent call last):
    macex.errors.DataError: model = '../model.ubj' must be the name of a file in the folder
    """
    known = [part.name for part in fields(Description)]
    for part in document:
        if part not in known:
            raise DataError(f"a project has no part {part!r}{closest(part, known)}")
    for part in ("model", "data"):
        if part not in document:
            raise DataError(f"{part} is missing: name the file, as in {part} = 'FILE'")
    for part, value in document.items():
        _check(part, value)
    read_names(document.get("names"))
    kinds_stated(document.get("schema", {}))
    structure_stated(document.get("structure", STRUCTURES[0]))
    causes_stated(document.get("causes"))
    if document.get("kind") != "series":  # which has other ones, that know the channels
        Constraints.from_dict(document.get("constraints", {}))
    lists = {part: tuple(document[part]) for part in LISTS if part in document}
    return Description(**{"title": Path(document["model"]).stem, **document, **lists})


def structure_stated(stated: Any) -> str | Structure:
    """What a project says of structure: a word, or a list of relations to keep."""
    if isinstance(stated, str):
        if stated not in STRUCTURES:
            raise DataError(f"structure = {stated!r}{closest(stated, STRUCTURES)}, or relations")
        return stated
    return Structure.from_list(stated)


def causes_stated(stated: Any) -> Causes | None:
    """What a project says of causes; a text could name a file of the server, so edges are a table.

    >>> causes_stated({"edges": "graph.dot"})
    Traceback (most recent call last):
    macex.errors.DataError: causes: edges are a table, such as {'income': ['age']}
    """
    if not stated:
        return None
    edges = stated.get("edges", {})
    if not isinstance(edges, Mapping):
        raise DataError("causes: edges are a table, such as {'income': ['age']}")
    return Causes.from_dict(stated)


def _check(part: str, value: Any) -> None:
    if part in LISTS or part in TABLES:
        kind: type = list if part in LISTS else dict
        if not isinstance(value, kind) and not (kind is list and isinstance(value, tuple)):
            raise DataError(f"{part} must be a {'list' if part in LISTS else 'table'}")
    elif part == "structure" and isinstance(value, list | tuple):
        return  # of relations, which are read as such
    elif not isinstance(value, str):
        raise DataError(f"{part} must be text, not {value!r}")
    elif part == "kind" and value not in SORTS:
        raise DataError(f"kind = {value!r}{closest(value, SORTS)}")
    elif part in FILES and (Path(value).name != value or value in ("", ".", "..")):
        raise DataError(f"{part} = {value!r} must be the name of a file in the folder")
