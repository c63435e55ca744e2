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
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import tomli_w

from macex.ask.constraints import Constraints
from macex.causes import Causes
from macex.engine.options import STRUCTURES
from macex.errors import DataError, MacexError, closest
from macex.render.exports import write_whole
from macex.render.names import read_names
from macex.schema.schema import kinds_stated
from macex.structure import Structure

FILE = "project.toml"
FILES = ("model", "data", "rows")
LISTS = ("drop", "classes", "channels", "times")
SORTS = ("table", "series")
TABLES = ("names", "schema", "constraints", "causes")


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
