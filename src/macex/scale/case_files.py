"""Explaining the cases of a file of time series into another file, in chunks.

CSV and JSON lines are written as they are made. The other forms, and the cases of a frame, are held
in memory.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from io import BytesIO
from typing import Any, NamedTuple
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from macex.ask.question import Question
from macex.errors import DataError, OptionError, closest, require_count
from macex.render.exports import csv_text
from macex.scale.places import Local, Place, place_of
from macex.scale.run import FileRun, Progress
from macex.scale.workers import job_count, worked
from macex.schema import Array
from macex.series.explainer import SeriesExplainer
from macex.series.values import SeriesExplanations

FLOWING = ("csv", "jsonl")  # a part is written before the next one is known
FORMS = (*FLOWING, "json", "parquet", "html")
FRAMES: dict[str, Callable[..., Any]] = {
    ".csv": pd.read_csv,
    ".parquet": pd.read_parquet,
    ".jsonl": partial(pd.read_json, lines=True),
}
KNOWN = (".npy", ".npz", *FRAMES)
NAMED = "X"  # of several arrays in one file


class CaseChunk(NamedTuple):
    """Some cases, and how many came before them."""

    start: int
    cases: Any


@dataclass(frozen=True)
class CaseTask:
    """Who is asked what, and how the answers are written."""

    explainer: SeriesExplainer
    question: Question
    form: str
    changes: bool = False
    formula_safe: bool = True

    def __post_init__(self) -> None:
        """Refuse an unknown form."""
        if self.form not in FORMS:
            raise OptionError(
                f"there is no output form {self.form!r}: end the name of the file in "
                f".csv, .json, .jsonl, .parquet or .html{closest(self.form, FORMS)}"
            )

    def part(self, found: SeriesExplanations, start: int) -> bytes:
        """What is written of the cases from `start` on."""
        if self.form == "jsonl":
            text = "".join(f"{one.to_json(canonical=True)}\n" for one in found)
        else:
            frame = found.to_changes() if self.changes else found.to_frame()
            frame["cf.row"] += start
            text = csv_text(frame, formula_safe=self.formula_safe, head=start == 0)
        return text.encode(errors="backslashreplace")

    def whole(self, found: SeriesExplanations, place: Local) -> None:
        """All answers in one file."""
        if self.form == "parquet":
            found.to_parquet(place.path, changes=self.changes)
        elif self.form == "html":
            found.to_html(place.path)
        else:
            found.to_json(place.path, canonical=True)


def explain_cases(
    task: CaseTask, source: Any, out: Place, *, chunk: int, jobs: int, report: Progress
) -> FileRun:
    """Explain every case of a file and write the answers to another."""
    began, statuses = time.perf_counter(), Counter[str]()
    cases, done = cases_in(source, task.explainer), 0
    found: list[SeriesExplanations] = []
    flows = task.form in FLOWING
    if not flows and not isinstance(out, Local):
        raise OptionError(f"{out} is not on this machine: write .{task.form} to a file that is")
    with out.written() if flows else nullcontext(BytesIO()) as file:
        parts = chunks_of(cases, require_count("chunk", chunk))
        for part in worked(explained, task, parts, job_count(jobs)):
            statuses.update(one.status for one in part)
            if flows:
                file.write(task.part(part, done))
            else:
                found.append(part)
            done += len(part)
            report(done, len(cases))
    if isinstance(out, Local) and not flows:
        task.whole(joined(found, task.explainer.channels), out)
    return FileRun(done, dict(sorted(statuses.items())), 0, time.perf_counter() - began)


def explained(task: CaseTask, chunk: CaseChunk) -> SeriesExplanations:
    """The explanations of a chunk."""
    return task.explainer.ask(chunk.cases, task.question)


def joined(parts: list[SeriesExplanations], channels: list[str]) -> SeriesExplanations:
    """The explanations of all chunks; there is one chunk at least."""
    first, items = parts[0], [one for part in parts for one in part]
    return SeriesExplanations(items, first.names, first.meta, channels)


def chunks_of(cases: Any, size: int) -> Iterator[CaseChunk]:
    """The cases in parts; one part if there are none."""
    for start in range(0, max(1, len(cases)), size):
        part = cases[start : start + size]
        yield CaseChunk(start, part)


def cases_in(source: Any, explainer: SeriesExplainer) -> Any:
    """The cases of a file as the explainer takes them: an array, or a list of arrays."""
    place = place_of("source", source)
    if not place.exists():
        raise DataError(f"there is no file {place}")
    if place.suffix not in KNOWN:
        raise DataError(f"{place} is not a file of cases: {', '.join(KNOWN)} are read")
    try:
        given = _array(place) if place.suffix in (".npy", ".npz") else _frame(place)
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        raise DataError(f"{place} cannot be read: {error}") from error
    cases = explainer.engine.read(given)
    return given if isinstance(given, np.ndarray) else cases.given(cases.values)


def _array(place: Place) -> Array:
    """The array of a file; the one called X of several. Never unpickles."""
    if isinstance(place, Local) and place.suffix == ".npy":
        return np.load(place.path, mmap_mode="r", allow_pickle=False)
    box = np.load(BytesIO(place.read()), allow_pickle=False)
    if isinstance(box, np.ndarray):
        return box
    with box:
        if NAMED not in box.files and len(box.files) != 1:
            held = ", ".join(box.files) or "nothing"
            raise DataError(f"{place} holds {held}: call the array of the cases {NAMED!r}")
        return np.asarray(box[NAMED if NAMED in box.files else box.files[0]])


def _frame(place: Place) -> pd.DataFrame:
    """A frame with the columns of cases, times and channels."""
    packed = {"compression": "gzip"} if place.name.endswith(".gz") else {}
    frame: pd.DataFrame = FRAMES[place.suffix](BytesIO(place.read()), **packed)
    return frame
