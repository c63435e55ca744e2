"""Making a recorded explanation again, and saying whether every byte agrees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.ask.goals import goal_read
from macex.audit import file_hash, read_records
from macex.engine.options import options_read
from macex.engine.recorder import FORMAT, fingerprint, versions
from macex.errors import DataError, OptionError, closest
from macex.explainer import Explainer
from macex.explainer.storage import load as load_table
from macex.explanation.json import dumps, explanation_document
from macex.models.files.model_file import load_model
from macex.scale.readers import read_table
from macex.schema import Schema
from macex.schema.schema import frame_names, kinds_stated
from macex.series.constraints import SeriesConstraints
from macex.series.explainer import SeriesExplainer
from macex.series.json import explanation_document as series_document
from macex.series.options import options_read as series_options
from macex.series.records import FORMAT as SERIES_FORMAT
from macex.series.records import case_read
from macex.series.records import fingerprint as series_fingerprint
from macex.series.storage import load

OTHER = "the explainer is another one: its data, its options or the model's answers"


@dataclass(frozen=True)
class Replay:
    """A recorded explanation beside the one made now.

    `difference` is the first place where the canonical JSON of the two differs, None if every byte
    agrees. `notes` say what else is not as it was: files, versions, the explainer.
    """

    id: str
    then: dict[str, Any]
    now: dict[str, Any]
    difference: str | None
    notes: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether every canonical byte agrees."""
        return self.difference is None

    def __str__(self) -> str:
        said = "every byte agrees" if self.agrees else f"differs at {self.difference}"
        return "\n  ".join([f"{self.id}: {said}", *self.notes])


def replay(
    id: str,  # noqa: A002 - that is what it is
    audit: str | Path,
    *,
    model: Any = None,
    data: Any = None,
    also: Sequence[Any] = (),
) -> Replay:
    """Make a recorded explanation again.

    Parameters
    ----------
    id : the id of the record, or the beginning of it.
    audit : the audit file.
    model : the model, where the record names no file of it that can be read without pickle.
    data : the training rows, where the record names no file of them.
    also : the other models that had to agree, in order, where the record names no file of one.
    """
    record = find_record(id, audit)
    if record["format"] == SERIES_FORMAT:
        return _series_replay(record, _model(record, model), data)
    explainer, notes = _explainer(record, _model(record, model), data)
    if fingerprint(explainer.engine) != record["fingerprint"]:
        notes.append(OTHER)
    call = {name: value for name, value in record["call"].items() if name != "timed"}
    if "also" in call:
        call["also"] = _others(record, also)
        notes += _files_changed(
            {f"model {at} of also=": one for at, one in enumerate(record["call"]["also"])}
        )
    found = explainer.explain(
        _row(explainer.schema, record["input"]),
        want=goal_read(record["goal"]),
        constraints=Constraints.from_dict(record["constraints"]),
        **call,
    )
    return _compared(record, explanation_document(found[0], canonical=True), notes)


def _compared(record: dict[str, Any], now: dict[str, Any], notes: list[str]) -> Replay:
    """A record beside the answer made now."""
    if record["call"]["timed"]:
        notes.append("the call had a time limit, on which answers may depend")
    same = dumps(now, canonical=True) == dumps(record["output"], canonical=True)
    difference = None if same else first_difference(record["output"], now)
    return Replay(record["id"], record["output"], now, difference, tuple(notes))


def _series_replay(record: dict[str, Any], model: Any, data: Any) -> Replay:
    """Make a recorded explanation of a case again."""
    notes, saved = _changed(record), record["files"]["explainer"]["path"]
    if saved and data is None:
        explainer = load(saved, model)
        if not isinstance(explainer, SeriesExplainer):
            raise DataError(f"{saved} is no explainer of time series any more")
        engine = replace(explainer.engine, constraints=SeriesConstraints())  # they are merged
        explainer = SeriesExplainer.of(engine)
    else:
        if data is None:
            raise OptionError(f"record {record['id']} names no saved explainer: pass data=")
        options = vars(series_options(record["options"]))
        times = record.get("times", {})  # which records of earlier versions do not have
        explainer = SeriesExplainer(
            model,
            data,
            channels=record["channels"],
            layout=record["layout"],
            times=times.get("labels") or None,
            time_unit=times.get("unit", ""),
            classes=record["classes"],
            **options,
        )
    if series_fingerprint(explainer.engine) != record["fingerprint"]:
        notes.append(OTHER)
    call = {name: value for name, value in record["call"].items() if name != "timed"}
    found = explainer.explain(
        [case_read(record["input"], record["layout"])],
        want=goal_read(record["goal"]),
        constraints=SeriesConstraints.from_dict(record["constraints"]),
        **call,
    )
    return _compared(record, series_document(found[0], canonical=True), notes)


def find_record(id: str, audit: str | Path) -> dict[str, Any]:  # noqa: A002 - as in replay
    """The one record whose id begins so."""
    if not isinstance(id, str):
        raise OptionError(f"id takes the id of a record, or its beginning, as a text, not {id!r}")
    ids: list[str] = []
    found: dict[str, Any] | None = None
    for record in read_records(audit):
        ids.append(record["id"])
        if not record["id"].startswith(id):
            continue
        if found is not None and found["id"] != record["id"]:
            raise DataError(f"{audit} has several records that begin with {id!r}: give more of it")
        found = record
    if found is None:
        raise DataError(f"{audit} has no record {id!r}{closest(id, ids)}")
    if found.get("format") not in (FORMAT, SERIES_FORMAT):
        raise DataError(f"record {id!r} has the form {found.get('format')!r}, not {FORMAT!r}")
    return found


def first_difference(then: Any, now: Any, at: str = "") -> str | None:
    """Where two documents differ first, and how; None if they do not.

    >>> first_difference({"score": 0.4, "changes": [1]}, {"score": 0.4, "changes": [2]})
    'changes[0]: 1 then, 2 now'
    """
    if isinstance(then, Mapping) and isinstance(now, Mapping):
        for key in sorted(then.keys() | now.keys()):
            inside = f"{at}.{key}" if at else str(key)
            if found := first_difference(then.get(key), now.get(key), inside):
                return found
        return None
    if isinstance(then, list) and isinstance(now, list):
        for place, (before, after) in enumerate(zip(then, now, strict=False)):
            if found := first_difference(before, after, f"{at}[{place}]"):
                return found
        many = len(then) != len(now)
        return f"{at}: {len(then)} entries then, {len(now)} now" if many else None
    if type(then) is type(now) and then == now:
        return None
    return f"{at}: {then!r} then, {now!r} now"


def _model(record: dict[str, Any], model: Any) -> Any:
    """The model that was given, or the one in the file that the record names."""
    path = record["files"]["model"]["path"]
    if model is not None:
        return model
    if path is None:
        raise OptionError(f"record {record['id']} was made by a model without a file: pass model=")
    return load_model(path)


def _others(record: dict[str, Any], also: Sequence[Any]) -> list[Any]:
    """The models that had to agree: those that were given, or those in the files of the record."""
    files = record["call"]["also"]
    if also and len(also) != len(files):
        raise OptionError(f"also= has {len(also)} models, and the record {len(files)}")
    if also:
        return list(also)
    if any(file["path"] is None for file in files):
        raise OptionError(
            f"record {record['id']} names no file of a model that had to agree: pass also="
        )
    return [load_model(file["path"]) for file in files]


def _files_changed(files: Mapping[str, Mapping[str, str]]) -> list[str]:
    return [
        f"the file of the {name} has changed: {file['path']}"
        for name, file in files.items()
        if file["path"] and not _unchanged(file)
    ]


def _changed(record: dict[str, Any]) -> list[str]:
    """Which files and versions are not as they were."""
    notes = _files_changed(record["files"])
    notes += [
        f"{name} was {then}, is {versions().get(name)}"
        for name, then in record["versions"].items()
        if versions().get(name) != then
    ]
    return notes


def _explainer(record: dict[str, Any], model: Any, data: Any) -> tuple[Explainer, list[str]]:
    notes = _changed(record)
    saved = record["files"]["explainer"]["path"]
    if saved and data is None:
        engine = load_table(saved, model).engine
        return Explainer.of(replace(engine, constraints=Constraints())), notes  # they are merged
    options = options_read(record["options"])
    stated = {"structure": record["relations"]} if "relations" in record else {}
    explainer = Explainer(
        model,
        _data(record, data),
        schema=kinds_stated(record["columns"]),
        classes=record["classes"],
        **vars(options) | stated,
    )
    fitted = explainer.engine.fitted.with_options(options)  # of which relations say no word
    return Explainer.of(replace(explainer.engine, fitted=fitted)), notes


def _unchanged(file: Mapping[str, str]) -> bool:
    return Path(file["path"]).exists() and file_hash(file["path"]) == file["sha256"]


def _data(record: dict[str, Any], data: Any) -> Any:
    if data is not None:
        return data
    path = record["files"]["data"]["path"]
    if path is None:
        raise OptionError(f"record {record['id']} names no file of its training rows: pass data=")
    columns = record["columns"]
    dates = [name for name, kind in columns.items() if kind["kind"] == "datetime"]
    table = read_table(Path(path), dates=dates)  # a record names no address
    names = frame_names(columns)
    missing = [name for name in names if name not in table.columns]
    if missing:
        raise DataError(f"{path} has no column {missing[0]!r} any more")
    return table[names]


def _row(schema: Schema, cells: Mapping[str, Any]) -> pd.DataFrame:
    """The recorded row, cell by cell as it was."""
    values = {column.name: _value(column, cells[column.name]) for column in schema.columns}
    if schema.folding is not None:
        values = schema.folding.spelled(values)
    return pd.DataFrame({name: pd.Series([value], dtype=object) for name, value in values.items()})


def _value(column: Any, cell: Any) -> Any:
    if not isinstance(cell, str) or column.discrete:
        return cell
    if column.kind == "datetime":
        timed = column.storage.numbers.kind == "m"
        return pd.Timedelta(cell) if timed else pd.Timestamp(cell)
    return float(cell) if cell in ("inf", "-inf") else cell
