"""Explaining the rows of files into a file: in chunks, in flat memory, and to be continued.

Each chunk of rows becomes one part in a folder beside the output (`result.csv.parts/`). When all
are there they are joined under the final name, at once. A run that was interrupted goes on where it
stopped and ends in the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.ask.goals import goal_stated
from macex.engine.recorder import fingerprint, others_marked
from macex.errors import DataError, OptionError, require_count
from macex.explainer import Explainer
from macex.explanation.json import plain
from macex.scale.case_files import CaseTask, explain_cases
from macex.scale.chunks import ChunkExplainer, placed, question_of
from macex.scale.forms import Form, Parquet, form_named, index_named, names_types
from macex.scale.layout import answers_layout, changes_layout
from macex.scale.partition import CHUNK
from macex.scale.parts import (
    ANY,
    DONE,
    NOTES,
    PART,
    Folder,
    Growing,
    PartFiles,
    begun_before,
    round_of,
)
from macex.scale.places import Local, Place, place_of
from macex.scale.readers import Chunk, count_rows, raw_chunks
from macex.scale.run import FileRun, Progress, Run, drawn_numbers, picked, refuse_sample, reporting
from macex.scale.sources import Origin, content_marks, hidden, marks_hash, refuse_source
from macex.scale.task import FileTask, Todo, audit_path, explained_part, framed, refuse_index
from macex.scale.workers import job_count, worked
from macex.series.explainer import SeriesExplainer

SAME = ("n", "max_rows", "margin", "diagnose", "on_error", "robust", "reach")
MOST_ON_A_PAGE = 2000


def explain_file(
    explainer: Explainer | SeriesExplainer,
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
    reach: float | None = None,
    also: Iterable[Any] = (),
    drop: Sequence[str] = (),
    index: str | Sequence[str] | None = None,
    form: str | None = None,
    compression: str | None = None,
    partition_by: str | Sequence[str] = (),
    changes: bool = False,
    formula_safe: bool = True,
    chunk: int = CHUNK,
    sample: int | None = None,
    jobs: int = 1,
    device: str | None = None,
    resume: bool = False,
    add: bool = False,
    force: bool = False,
    progress: bool | Progress | None = None,
) -> FileRun:
    """Explain every row of a file, or of many, and write the answers to another.

    Parameters
    ----------
    source : a CSV, Parquet, Arrow or JSON lines file, or a stream of one; several files, a folder
        of them, or a pattern such as `"night/*.parquet"`; paths, or URLs such as `s3://night/new`.
        Folders called `day=2024-02-01` are columns. A folder may be a Delta or Iceberg table. Cases
        of a `SeriesExplainer` are one NumPy file (.npy, .npz), or a CSV, Parquet or JSON lines file
        with columns of case and time.
    out : a path or URL that ends in `.csv`, `.json`, `.jsonl`, `.parquet` or `.html`, or a stream;
        one without an ending is a folder of Parquet files, one for each chunk.
    n, want, constraints, max_rows, margin, diagnose, on_error, robust, reach, also : as in
        `Explainer.explain`, the same for all rows. Unless `on_error="raise"`, a row that cannot be
        read or that the model fails on gets a reason, and what is broken in a file is left out and
        said in the result.
    drop : columns of the file that are not features.
    index : the column, or columns, that name the rows: written with the answers, not shown to the
        model; `"*"` is all columns that are not features.
    form : `"csv"`, `"json"`, `"jsonl"` or `"parquet"` where the ending of `out` does not say it.
    compression : how Parquet is packed, `"snappy"` unless you say otherwise; text is packed where
        `out` ends in `.gz`.
    partition_by : columns of the answers whose values become folders of a folder of Parquet.
    changes : write one line per change instead of one per counterfactual.
    formula_safe : put an apostrophe before text that a spreadsheet would run, in a CSV file.
    chunk : how many rows are explained together and become one part.
    sample : explain a random sample of this many rows, which the seed of the explainer draws;
        `cf.row` still counts all rows.
    jobs : how many workers, -1 for all cores. The output is the same.
    device : where the search runs, `"cuda"` or `"cpu"` for torch; see `macex.device.on_device`.
        With several jobs the workers share the device.
    resume : go on with a run that was interrupted; its options must be the same.
    add : explain the files that were not there when `out`, a folder of Parquet, was last written,
        and go on where such a run was interrupted.
    force : replace `out`, and forget an interrupted run.
    progress : True for a bar with rows a second and the time left, or a function of (rows done,
        rows in all or None).
    """
    began = time.perf_counter()
    question = question_of(locals())
    place = place_of("out", out) if isinstance(out, str | Path) else None
    if isinstance(explainer, SeriesExplainer):
        _refuse_for_cases(drop, index, compression, partition_by, device, resume, add, sample)
        cases = CaseTask(explainer, question, _form_name(place, form), changes, formula_safe)
        return _cases(cases, source, place, chunk, jobs, force=force, progress=progress)
    less = (drop,) if isinstance(drop, str) else tuple(drop)
    named = index_named(index, source, (*explainer.columns, *less))
    written = _form(explainer, place, form, changes=changes, index=named)
    if written is not None:
        packing = _packing(place, compression, partition_by)
        written = replace(written, formula_safe=formula_safe, **packing)
    refuse_sample(source, sample, add=add)
    folder = place is not None and not (place.suffix or form)
    _refuse_places(source, place, folder=folder, resume=resume or add, add=add, force=force)
    if written is not None and written.divided and not folder:
        raise OptionError("partition_by= is for a folder of Parquet: name out without an ending")
    workers = job_count(jobs)
    explainer = placed(explainer, device)
    require_count("chunk", chunk)
    grown = round_of(source, place) if place and add and not force else None
    rows = source if grown is None else grown.files
    if grown is not None and not rows:
        return FileRun(0, {}, 0, time.perf_counter() - began)
    total = count_rows(rows)
    if isinstance(written, Parquet):
        written = replace(written, names=names_types(rows, named))
    with reporting(progress) as report:
        first = 0 if grown is None else grown.before.rows
        inside = (lambda done: report(done - first, total)) if workers == 1 else None
        asked = ChunkExplainer(explainer, question)
        task = FileTask(asked, written or Parquet(), less, named, inside)
        run = Run(task, rows, report, total, workers, end=first).sampled(sample)
        if written is None:
            _page(run, place)
        elif place is None:
            _stream(run, chunk, out)
        else:
            parts: PartFiles = (Folder if folder else PartFiles)(place, written)
            marks = content_marks(rows)
            told = {"device": device, "sample": sample}
            job = _job(run, chunk, changes=changes) | {k: v for k, v in told.items() if v}
            if grown is not None:
                marks, parts = grown.marks, Growing(place, written, grown)
            job["rows"] = marks_hash(marks) if grown is None else [*map(list, marks.items())]
            with parts.begun(job, resume=resume or add, force=force):
                _into_parts(run, chunk, parts, marks, job)
    return run.done(time.perf_counter() - began)


def _packing(
    place: Place | None, compression: str | None, partition_by: str | Sequence[str]
) -> dict[str, Any]:
    """How the bytes are packed, and which columns are folders."""
    packed = "gzip" if place and place.name.endswith(".gz") else None
    divided = (partition_by,) if isinstance(partition_by, str) else tuple(partition_by)
    return {"compression": compression or packed, "divided": divided}


def _refuse_for_cases(*given: Any) -> None:
    """Raise for an option that is for rows of a table."""
    names = ("drop", "index", "compression", "partition_by", "device", "resume", "add", "sample")
    for name, value in zip(names, given, strict=True):
        if value not in (None, False, (), ""):
            raise OptionError(f"{name}= is for rows of tables: leave it out for cases")


def _cases(
    task: CaseTask,
    source: Any,
    place: Place | None,
    chunk: int,
    jobs: int,
    *,
    force: bool,
    progress: Any,
) -> FileRun:
    """A run over cases of time series."""
    if place is None:
        raise OptionError("out= names a file for the answers about cases, not a stream")
    refuse_existing(place, resume=False, force=force)
    with reporting(progress) as report:
        return explain_cases(task, source, place, chunk=chunk, jobs=jobs, report=report)


def _form(
    explainer: Explainer,
    place: Place | None,
    form: str | None,
    *,
    changes: bool,
    index: tuple[str, ...],
) -> Form | None:
    """How the answers are written; None for a page."""
    name = _form_name(place, form) or ("" if place is None else "parquet")
    layout = changes_layout() if changes else answers_layout(explainer)
    made = None if name == "html" else form_named(name)(changes, index, layout)
    refuse_index(index, explainer, made)
    return made


def _form_name(place: Place | None, form: str | None) -> str:
    """The form that is asked for, or that the ending of the output means."""
    return form or ("" if place is None else place.suffix.removeprefix("."))


def _refuse_places(
    source: Origin, out: Place | None, *, folder: bool, resume: bool, add: bool, force: bool
) -> None:
    """Raise for an output that cannot be written where it is wanted."""
    if add and not folder:
        raise OptionError("add=True is for a folder of Parquet: name out without an ending")
    if out is not None:
        refuse_existing(out, resume=resume, force=force or add)
        refuse_source(source, out)


def refuse_existing(out: Place, *, resume: bool, force: bool) -> None:
    """Raise for an output that would be overwritten, or whose folder is not there."""
    if isinstance(out, Local) and not out.path.parent.is_dir():
        raise OptionError(f"{out} cannot be written: there is no folder {out.path.parent}")
    if out.is_folder():
        _refuse_folder(out, force=force)
        return
    unfinished = out.beside(f"{out.name}.parts").exists()
    if out.exists() and not force and not (resume and unfinished):
        raise OptionError(f"{out} exists: pass --force (force=True) to replace it")


def _refuse_folder(out: Place, *, force: bool) -> None:
    if out.suffix:
        raise OptionError(f"{out} is a folder: name a file, such as result.csv")
    inside = [PurePosixPath(name) for name in out.files()]
    other = [path for path in inside if not (hidden(path) or PART.fullmatch(path.name))]
    marked = {path.parts[0] for path in inside}
    if other or (inside and not marked & {DONE, NOTES}):
        raise OptionError(f"{out} is a folder with other files: name a new or an empty one")
    if DONE in marked and not force:
        raise OptionError(
            f"{out} holds a finished run: pass --force (force=True) to replace it, or --add "
            "(add=True) to explain the files that are new"
        )


def frames_of(
    explainer: Explainer,
    source: Origin,
    size: int,
    drop: Sequence[str],
    index: Sequence[str],
    sample: int | None = None,
) -> Iterator[pd.DataFrame]:
    """The chunks as frames, named by the columns that name the rows; what is broken is an error."""

    def read() -> Iterator[Chunk]:
        found = raw_chunks(source, size, strict=True, wanted={*explainer.columns, *index})
        return (chunk for chunk in found if isinstance(chunk, Chunk))

    chunks = read()
    if sample is not None:
        refuse_sample(source, sample, add=False)
        drawn = drawn_numbers(chunks, sample, explainer.engine.options.random_state)
        chunks = picked(read(), drawn, size)
    for chunk in chunks:
        yield framed(explainer, chunk, drop, index, strict=True)


def _page(run: Run, place: Place | None) -> None:
    """A report, which is made at once."""
    if place is None:
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
    if not isinstance(place, Local):
        raise OptionError(f"{place} is not on this machine: write a report to a file that is")
    found.to_html(place.path)
    run.count(note)


def _stream(run: Run, size: int, out: Any) -> None:
    """Each chunk is written as soon as it is explained."""
    form = run.task.form
    if not form.streams:
        raise OptionError("Parquet cannot be written to a stream: give a file, or csv or jsonl")
    todo = (Todo(at, chunk) for at, chunk in enumerate(run.chunks(size)))
    for done in worked(explained_part, run.task, todo, run.jobs):
        out.write(done.content[""])
        out.flush()
        run.count(done.note)
    out.write(form.end)


def _into_parts(
    run: Run, size: int, parts: PartFiles, marks: Mapping[str, str], job: dict[str, Any]
) -> None:
    before = begun_before(parts)
    audit, count = audit_path(run.task.explainer), before.parts

    def todo() -> Iterator[Todo]:
        nonlocal count
        for at, chunk in enumerate(run.chunks(size), before.parts):
            count = at + 1
            if note := parts.recovered(at, audit):
                run.count(note, resumed=True)
            else:
                yield Todo(at, chunk)

    for done in worked(explained_part, run.task, todo(), run.jobs):
        parts.add(done, audit)
        run.count(done.note)
    if count == before.parts:
        raise DataError("no file could be read: " + "; ".join(run.faults))
    files = {**before.files, **marks}
    parts.finish(count, {"files": files, "rows": run.end, "job": job | {"rows": ANY}})


def _job(run: Run, chunk: int, *, changes: bool) -> dict[str, Any]:
    """What must be the same for a run to be continued."""
    task, question = run.task, run.task.chunks.question
    constraints = question.constraints or {}
    if isinstance(constraints, Constraints):
        constraints = constraints.to_dict()
    return {
        "explainer": fingerprint(task.explainer.engine),
        "explainer's constraints": repr(task.explainer.constraints),
        "form": type(task.form).__name__,
        "goal": goal_stated(task.chunks.goal),
        "constraints": plain(constraints),
        "chunk": chunk,
        "layout": plain((task.drop, task.index, changes, task.form.formula_safe)),
        "packing": plain((task.form.compression, task.form.divided)),
        "also": others_marked(task.explainer.engine, question.also),
        **{name: getattr(question, name) for name in SAME},
    }
