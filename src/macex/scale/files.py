"""Explaining the rows of files into a file: in chunks, in flat memory, and to be continued.

Each chunk of rows becomes one part in a folder beside the output (`result.csv.parts/`). When all
are there they are joined under the final name, at once. A run that was interrupted goes on where it
stopped and ends in the same bytes.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.ask.goals import goal_stated
from macex.ask.question import Question
from macex.engine.fingerprint import fingerprint, others_marked
from macex.errors import DataError, OptionError, require_count
from macex.explainer import Explainer
from macex.explanation.json import plain
from macex.scale.auditing import audit_path
from macex.scale.chunks import ChunkExplainer, placed
from macex.scale.layout import answers_layout, changes_layout
from macex.scale.names import names_type
from macex.scale.partition import CHUNK
from macex.scale.parts import DONE, PART, Folder, Parts
from macex.scale.progress import Progress, reporting
from macex.scale.reading import Chunk, count_rows, dropped, raw_chunks, require
from macex.scale.sources import Origin, RowFault, content_hash, files_of, hidden, refuse_source
from macex.scale.task import (
    FileTask,
    Todo,
    explained_part,
    framed,
    refuse_columns,
    refuse_index,
)
from macex.scale.workers import job_count, worked
from macex.scale.writing import Form, Parquet, form_named

SAME = ("n", "max_rows", "margin", "diagnose", "on_error", "robust")  # for a run to go on
MOST_ON_A_PAGE = 2000


@dataclass(frozen=True)
class FileRun:
    """What a run over files did: how many rows, by status, in how many seconds.

    `faults` says where rows could not be read and why; `unreadable` rows have a line in the output
    and no answer, `lost` rows are not in it.
    """

    rows: int
    statuses: Mapping[str, int]
    resumed: int
    seconds: float
    unreadable: int = 0
    lost: int = 0
    faults: tuple[str, ...] = ()

    def __str__(self) -> str:
        statuses = ", ".join(f"{count:,} {status}" for status, count in self.statuses.items())
        kept = f", {self.resumed:,} of them before" if self.resumed else ""
        pace = (
            f", {(self.rows - self.resumed) / self.seconds:,.0f} a second" if self.seconds else ""
        )
        return f"{self.rows:,} rows ({statuses or 'none'}{kept}) in {self.seconds:.1f} s{pace}"


@dataclass
class _Run:
    """What a run has read and answered so far."""

    task: FileTask
    origin: Origin
    report: Progress
    total: int | None
    jobs: int
    statuses: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    rows: int = 0
    resumed: int = 0
    unreadable: int = 0
    lost: int = 0

    def chunks(self, size: int) -> Iterator[Chunk]:
        """The chunks with rows and the columns they should have; one at least, if without rows."""
        empty, some = None, False
        for part in self._sound(size):
            if part.rows:
                some = True
                yield part
            else:
                empty = part
        if empty is not None and not some:
            yield empty

    def _sound(self, size: int) -> Iterator[Chunk]:
        """The chunks that have the columns they should; what cannot be read is noted."""
        strict = not self.task.chunks.keeps
        alone, other = len(files_of(self.origin)) == 1, set()
        for part in raw_chunks(self.origin, size, strict=strict):
            if isinstance(part, RowFault):
                self.faults.append(str(part))
                self.lost += part.rows
                continue
            try:
                self._check_columns(part)
            except DataError as error:
                if strict or alone:
                    raise
                self.lost += part.rows
                self.faults += [] if part.name in other else [f"{error} (the file is left out)"]
                other.add(part.name)
                continue
            yield part

    def _check_columns(self, chunk: Chunk) -> None:
        task = self.task
        kept = dropped(chunk.frame, task.drop, chunk.name)
        if task.index is not None:
            require(chunk.frame, task.index, chunk.name, "--id (index=)")
        given = [str(column) for column in kept if column != task.index]
        refuse_columns(given, task.explainer.columns, chunk.name)

    def count(self, note: Mapping[str, Any], *, resumed: bool = False) -> None:
        """Add up what a part holds."""
        self.statuses.update(note["statuses"])
        self.rows += note["rows"]
        self.resumed += note["rows"] if resumed else 0
        self.unreadable += note["unreadable"]
        self.faults += note["faults"]
        self.report(self.rows, self.total)

    def done(self, seconds: float) -> FileRun:
        """The run as it ended."""
        statuses = dict(sorted(self.statuses.items()))
        found = (self.unreadable, self.lost, tuple(self.faults))
        return FileRun(self.rows, statuses, self.resumed, seconds, *found)


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
    also: Iterable[Any] = (),
    drop: Sequence[str] = (),
    index: str | None = None,
    form: str | None = None,
    changes: bool = False,
    formula_safe: bool = True,
    chunk: int = CHUNK,
    jobs: int = 1,
    device: str | None = None,
    resume: bool = False,
    force: bool = False,
    progress: bool | Progress | None = None,
) -> FileRun:
    """Explain every row of a file, or of many, and write the answers to another.

    Parameters
    ----------
    source : a CSV, Parquet, Arrow or JSON lines file, or a stream of one; several files, a folder
        of them, or a pattern such as `"night/*.parquet"`.
    out : a path that ends in `.csv`, `.json`, `.jsonl`, `.parquet` or `.html`, or a stream; a path
        without an ending is a folder of Parquet files, one for each chunk.
    n, want, constraints, max_rows, margin, diagnose, on_error, robust, also : as in
        `Explainer.explain`, the same for all rows. Unless `on_error="raise"`, a row that cannot be
        read or that the model fails on gets a reason, and what is broken in a file is left out and
        said in the result.
    drop : columns of the file that are no features.
    index : a column that names the rows: written with the answers, not shown to the model.
    form : `"csv"`, `"json"`, `"jsonl"` or `"parquet"` where the ending of `out` does not say it.
    changes : write one line per change instead of one per counterfactual.
    formula_safe : put an apostrophe before text that a spreadsheet would run, in a CSV file.
    chunk : how many rows are explained together and become one part.
    jobs : how many workers, -1 for all cores. The output is the same.
    device : where the search runs, `"cuda"` or `"cpu"` for torch; see `macex.device.on_device`.
    resume : go on with a run that was interrupted; its options must be the same.
    force : replace `out`, and forget an interrupted run.
    progress : True for a bar with rows a second and the time left, or a function of (rows done,
        rows in all or None).
    """
    began = time.perf_counter()
    question = Question(
        n=n,
        want=want,
        constraints=constraints,
        max_rows=max_rows,
        margin=margin,
        diagnose=diagnose,
        on_error=on_error,
        robust=robust,
        also=also,
    )
    path = Path(out) if isinstance(out, str | Path) else None
    written = _form(explainer, path, form, changes=changes, index=index, formula_safe=formula_safe)
    refuse_index(index, explainer, written)
    if path is not None:
        refuse_existing(path, resume=resume, force=force)
        refuse_source(source, path)
    workers = job_count(jobs)
    explainer = placed(explainer, device, workers)
    require_count("chunk", chunk)
    total = count_rows(source)
    if isinstance(written, Parquet) and index is not None:
        written = replace(written, names=names_type(source, index))
    with reporting(progress) as report:
        inside = (lambda done: report(done, total)) if workers == 1 else None
        less = (drop,) if isinstance(drop, str) else tuple(drop)
        task = FileTask(
            ChunkExplainer(explainer, question), written or Parquet(), less, index, inside
        )
        run = _Run(task, source, report, total, workers)
        if written is None:
            _page(run, path)
        elif path is None:
            _stream(run, chunk, out)
        else:
            parts = Parts(path, written) if path.suffix or form else Folder(path, written)
            job = _job(run, chunk, changes=changes) | ({"device": device} if device else {})
            with parts.begun(job, resume=resume, force=force):
                _into_parts(run, chunk, parts)
    return run.done(time.perf_counter() - began)


def _form(
    explainer: Explainer,
    path: Path | None,
    form: str | None,
    *,
    changes: bool,
    index: str | None,
    formula_safe: bool,
) -> Form | None:
    """How the answers are written; None for a page."""
    ending = "" if path is None else path.suffix.removeprefix(".") or "parquet"
    name = form or ending
    if name == "html":
        return None
    layout = changes_layout() if changes else answers_layout(explainer)
    return form_named(name)(changes, index, layout, formula_safe=formula_safe)


def refuse_existing(path: Path, *, resume: bool, force: bool) -> None:
    """Raise for an output that would be overwritten, or whose folder is not there."""
    if not path.parent.is_dir():
        raise OptionError(f"{path} cannot be written: there is no folder {path.parent}")
    if path.is_dir():
        _refuse_folder(path, force=force)
        return
    unfinished = path.with_name(f"{path.name}.parts").exists()
    if path.exists() and not force and not (resume and unfinished):
        raise OptionError(f"{path} exists: pass --force (force=True) to replace it")


def _refuse_folder(path: Path, *, force: bool) -> None:
    if path.suffix:
        raise OptionError(f"{path} is a folder: name a file, such as result.csv")
    inside = {file.name for file in path.iterdir()}
    other = [name for name in inside if not (hidden(Path(name)) or PART.fullmatch(name))]
    if inside and (other or not inside & {DONE, "_macex"}):
        raise OptionError(f"{path} is a folder with other files: name a new or an empty one")
    if DONE in inside and not force:
        raise OptionError(f"{path} holds a finished run: pass --force (force=True) to replace it")


def frames_of(
    explainer: Explainer, source: Origin, size: int, drop: Sequence[str], index: str | None
) -> Iterator[pd.DataFrame]:
    """The chunks as frames, named by the column that names the rows; what is broken is an error."""
    for chunk in raw_chunks(source, size, strict=True):
        if isinstance(chunk, Chunk):
            yield framed(explainer, chunk, drop, index, strict=True)


def _page(run: _Run, path: Path | None) -> None:
    """A report, which is made at once."""
    if path is None:
        raise OptionError("a report needs a file: --out report.html (out=)")
    chunk = next(run.chunks(MOST_ON_A_PAGE + 1), None)
    if chunk is None:
        raise DataError("there are no rows for a report: " + "; ".join(run.faults))
    if chunk.rows > MOST_ON_A_PAGE:
        raise OptionError(
            f"a page of more than {MOST_ON_A_PAGE:,} rows is too long to be looked at: write "
            ".csv, .json or .parquet, or give fewer rows"
        )
    found, note = run.task.explained(chunk)
    found.to_html(path)
    run.count(note)


def _stream(run: _Run, size: int, out: Any) -> None:
    """Each chunk is written as soon as it is explained."""
    form = run.task.form
    if not form.streams:
        raise OptionError("Parquet cannot be written to a stream: give a file, or csv or jsonl")
    todo = (Todo(at, chunk) for at, chunk in enumerate(run.chunks(size)))
    for done in worked(explained_part, run.task, todo, run.jobs):
        out.write(done.content)
        out.flush()
        run.count(done.note)
    out.write(form.tail)


def _into_parts(run: _Run, size: int, parts: Parts) -> None:
    audit, count = audit_path(run.task.explainer), 0

    def todo() -> Iterator[Todo]:
        nonlocal count
        for at, chunk in enumerate(run.chunks(size)):
            count = at + 1
            if note := parts.recovered(at, audit):
                run.count(note, resumed=True)
            else:
                yield Todo(at, chunk)

    for done in worked(explained_part, run.task, todo(), run.jobs):
        parts.add(done, audit)
        run.count(done.note)
    if not count:
        raise DataError("no file could be read: " + "; ".join(run.faults))
    parts.finish(count)


def _job(run: _Run, chunk: int, *, changes: bool) -> dict[str, Any]:
    """What must be the same for a run to be continued."""
    task, question = run.task, run.task.chunks.question
    constraints = question.constraints or {}
    if isinstance(constraints, Constraints):
        constraints = constraints.to_dict()
    return {
        "explainer": fingerprint(task.explainer.engine),
        "explainer's constraints": repr(task.explainer.constraints),
        "rows": content_hash(run.origin),
        "form": type(task.form).__name__,
        "goal": goal_stated(task.chunks.goal),
        "constraints": plain(constraints),
        "chunk": chunk,
        "layout": plain((task.drop, task.index, changes, task.form and task.form.formula_safe)),
        "also": others_marked(task.explainer.engine, question.also),
        **{name: getattr(question, name) for name in SAME},
    }
