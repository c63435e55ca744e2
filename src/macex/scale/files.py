"""Explaining the rows of a file into a file: in chunks, in flat memory, and to be continued.

Each chunk of rows becomes one part in a folder beside the output (`result.csv.parts/`). When all
are there they are joined under the final name, at once. A run that was interrupted goes on where it
stopped and ends in the same bytes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.ask.goals import AboveRow, resolve
from macex.ask.stated import goal_stated
from macex.audit import file_hash
from macex.errors import DataError, GoalError, OptionError, SchemaError, closest
from macex.explainer import Explainer
from macex.explainer.fingerprint import fingerprint, others_marked
from macex.explanation import Explanations
from macex.explanation.json import plain
from macex.scale.parts import Parts
from macex.scale.reading import Origin, count_rows, named, read_chunks, require
from macex.scale.writing import Form, form_named

CHUNK = 4096
SAME = ("n", "max_rows", "margin", "diagnose", "on_error", "robust")  # for a run to go on
MOST_ON_A_PAGE = 2000
Progress = Callable[[int, int | None], Any]


@dataclass(frozen=True)
class FileRun:
    """What a run over a file did: how many rows, by status, in how many seconds."""

    rows: int
    statuses: Mapping[str, int]
    resumed: int
    seconds: float

    def __str__(self) -> str:
        statuses = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        kept = f", {self.resumed:,} of them before" if self.resumed else ""
        return f"{self.rows:,} rows ({statuses or 'none'}{kept}) in {self.seconds:.1f} s"


@dataclass
class _Run:
    """What every chunk is asked, and what was answered so far."""

    explainer: Explainer
    name: str
    call: dict[str, Any]
    progress: Progress
    total: int | None
    statuses: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    resumed: int = 0

    def explained(self, frame: pd.DataFrame) -> Explanations:
        """The explanations of one chunk."""
        before = self.rows
        try:
            found = self.explainer.explain(
                frame,
                progress=lambda done, _: self.progress(before + done, self.total),
                **self.call,
            )
        except SchemaError as error:
            raise SchemaError(f"{self.name}, counting rows from {before}: {error}") from error
        self.statuses.update(item.status for item in found)
        self.rows += len(found)
        return found

    def kept(self, note: Mapping[str, Any]) -> None:
        """Count a chunk that an earlier run explained."""
        self.statuses.update(note["statuses"])
        self.rows += note["rows"]
        self.resumed += note["rows"]
        self.progress(self.rows, self.total)


def explain_file(
    explainer: Explainer,
    source: Origin,
    out: str | Path | IO[bytes],
    *,
    n: int = 1,
    want: Any = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    max_rows: int | None = None,
    margin: float = 1e-6,
    diagnose: bool = False,
    on_error: str = "keep",
    robust: float | None = None,
    also: Sequence[Any] = (),
    drop: Sequence[str] = (),
    index: str | None = None,
    form: str | None = None,
    changes: bool = False,
    chunk: int = CHUNK,
    resume: bool = False,
    force: bool = False,
    progress: Progress | None = None,
) -> FileRun:
    """Explain every row of a file and write the answers to another.

    Parameters
    ----------
    source : a CSV, Parquet, Arrow or JSON lines file, or a stream of one.
    out : a path that ends in `.csv`, `.json`, `.jsonl`, `.parquet` or `.html`, or a stream.
    n, want, constraints, max_rows, margin, diagnose, on_error, robust, also : as in
        `Explainer.explain`, the same for all rows; a row the model fails on gets a reason unless
        `on_error="raise"`.
    drop : columns of the file that are no features.
    index : a column that names the rows: written with the answers, not shown to the model.
    form : `"csv"`, `"json"`, `"jsonl"` or `"parquet"` where the ending of `out` does not say it.
    changes : write one line per change instead of one per counterfactual.
    chunk : how many rows are explained together and become one part.
    resume : go on with a run that was interrupted; its options must be the same.
    force : replace `out`, and forget an interrupted run.
    progress : a function of (rows done, rows in all or None).
    """
    began = time.perf_counter()
    call = {"n": n, "want": want, "constraints": constraints, "max_rows": max_rows}
    call |= {"margin": margin, "diagnose": diagnose, "on_error": on_error}
    call |= {"robust": robust, "also": also}
    path = Path(out) if isinstance(out, str | Path) else None
    name = form or ("" if path is None else path.suffix.removeprefix("."))
    written = None if name == "html" else form_named(name)(changes, index)
    if path is not None:
        refuse_existing(path, resume=resume, force=force)
    report = progress or (lambda _done, _total: None)
    run = _Run(explainer, named(source), call, report, count_rows(source))
    size = _checked_chunk(chunk) if written else MOST_ON_A_PAGE + 1
    frames = frames_of(explainer, source, size, drop, index)
    if written is None:
        _page(run, frames, path)
    elif path is None:
        _stream(run, frames, written, out)
    else:
        parts = Parts(path, written)
        parts.begin(_job(run, source, size, (drop, index, changes)), resume=resume, force=force)
        _into_parts(run, frames, parts)
    return FileRun(
        run.rows, dict(sorted(run.statuses.items())), run.resumed, time.perf_counter() - began
    )


def _checked_chunk(chunk: Any) -> int:
    if isinstance(chunk, bool) or not isinstance(chunk, int) or chunk < 1:
        raise OptionError(f"chunk must be a whole number of 1 or more, not {chunk!r}")
    return chunk


def refuse_existing(path: Path, *, resume: bool, force: bool) -> None:
    """Raise for an output that would be overwritten, or whose folder is not there."""
    if path.is_dir():
        raise OptionError(f"{path} is a folder: name a file, such as result.csv")
    if not path.parent.is_dir():
        raise OptionError(f"{path} cannot be written: there is no folder {path.parent}")
    unfinished = path.with_name(f"{path.name}.parts").exists()
    if path.exists() and not force and not (resume and unfinished):
        raise OptionError(f"{path} exists: pass --force (force=True) to replace it")


def frames_of(
    explainer: Explainer, source: Origin, size: int, drop: Sequence[str], index: str | None
) -> Iterator[pd.DataFrame]:
    """The chunks, named by the column that names the rows."""
    dropped = [column for column in drop if column != index]
    for frame in read_chunks(source, explainer.schema.frame_columns, size, drop=dropped):
        if index is not None:
            require(frame, index, named(source), "--id (index=)")
            frame = frame.set_index(index)  # noqa: PLW2901 - named from here on
        _refuse_columns(frame, explainer.columns, named(source))
        yield frame


def _refuse_columns(frame: pd.DataFrame, columns: Sequence[str], name: str) -> None:
    for column in columns:
        if column not in frame.columns:
            raise DataError(
                f"{name} has no column {column!r}, which the training data has: if it is the "
                f"label, drop it there or pass --label {column}{closest(column, frame.columns)}"
            )
    for column in frame.columns:
        if column not in columns:
            raise DataError(
                f"{name} has a column {column!r}, which the training data has not: pass "
                f"--drop {column}, or --id {column} to keep it as the name of the rows"
            )


def _page(run: _Run, frames: Iterator[pd.DataFrame], path: Path | None) -> None:
    """A report, which is made at once."""
    frame = next(frames)
    if path is None:
        raise OptionError("a report needs a file: --out report.html (out=)")
    if len(frame) > MOST_ON_A_PAGE:
        raise OptionError(
            f"a page of more than {MOST_ON_A_PAGE:,} rows is too long to be looked at: write "
            ".csv, .json or .parquet, or give fewer rows"
        )
    run.explained(frame).to_html(path)


def _stream(run: _Run, frames: Iterator[pd.DataFrame], form: Form, out: Any) -> None:
    """Each chunk is written as soon as it is explained."""
    if not form.streams:
        raise OptionError("Parquet cannot be written to a stream: give a file, or csv or jsonl")
    for frame in frames:
        start = run.rows
        out.write(form.part(run.explained(frame), start))
        out.flush()
    out.write(form.tail)


def _into_parts(run: _Run, frames: Iterator[pd.DataFrame], parts: Parts) -> None:
    count = 0
    for count, frame in enumerate(frames, 1):
        at, start = count - 1, run.rows
        if note := parts.note(at):
            run.kept(note)
            continue
        found = run.explained(frame)
        statuses = dict(Counter(item.status for item in found))
        parts.add(at, parts.form.part(found, start), {"rows": len(found), "statuses": statuses})
    parts.finish(count)


def _job(run: _Run, source: Origin, chunk: int, layout: Any) -> dict[str, Any]:
    """What must be the same for a run to be continued."""
    if not isinstance(source, str | Path):
        return {"rows": None}
    goals = resolve(run.call["want"], 1)
    if isinstance(goals[0], AboveRow):
        raise GoalError("above_row(...) is no goal for a file: ask for above(score) instead")
    constraints = run.call["constraints"] or {}
    if isinstance(constraints, Constraints):
        constraints = constraints.to_dict()
    return {
        "explainer": fingerprint(run.explainer),
        "explainer's constraints": repr(run.explainer.constraints),
        "rows": file_hash(source),
        "goal": goal_stated(goals[0]),
        "constraints": plain(constraints),
        "chunk": chunk,
        "layout": plain(layout),
        "also": others_marked(run.explainer, run.call["also"]),
        **{name: run.call[name] for name in SAME},
    }
