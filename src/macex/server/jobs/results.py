"""The result of a job in the form that is asked for."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from macex.engine.facts import facts_about
from macex.errors import OptionError
from macex.explanation import Explanations
from macex.explanation.reader import explanations_read
from macex.scale.files import MOST_ON_A_PAGE
from macex.scale.forms import Csv, Parquet
from macex.scale.layout import answers_layout
from macex.scale.places import Local
from macex.server.jobs.work import Work
from macex.server.projects.project import Project
from macex.server.questions import CallOptions, constraints_of, goal_of
from macex.server.storage.jobs import Job, Jobs

FILTERED = {"decision": "decided", "search": "holding", "where": "where"}
PIECE = 2**18  # bytes that are sent at a time
FORMS = {
    "ndjson": "application/x-ndjson",
    "csv": "text/csv",
    "parquet": "application/vnd.apache.parquet",
    "html": "text/html",
}


def explanations(jobs: Jobs, project: Project, job: Job) -> Explanations:
    """All that a job has found so far, as the library returns it."""
    batches = list(_batches(jobs, project, job))
    items = [item for batch in batches for item in batch]
    meta = {} if not batches else {**batches[0].meta, **told(project, job)}
    return Explanations(items, project.parts.names, meta)


def told(project: Project, job: Job) -> dict[str, str]:
    """Who asked, and about what, for a report: the key's id, never the key."""
    asked = job.question
    explainer = CallOptions(**asked["options"]).explainer(project)
    want, limits = asked.get("want"), asked.get("constraints")
    words = facts_about(
        explainer.engine,
        want if isinstance(want, list) else goal_of(explainer, want),
        limits if isinstance(limits, list) else constraints_of(limits),
    )
    said = {
        **words,
        "asked_by": f"{job.owner} (key {job.key})",
        "asked_at": job.created,
        "version": job.version,
        "model": job.model,
        "filter": chosen(asked.get("filter")),
        **dict.fromkeys(asked.get("left_out", ()), "as the audit has it, for each row"),
    }
    return {part: value for part, value in said.items() if value}


def chosen(filtered: Mapping[str, Any] | None) -> str:
    """Which rows of the project a filter leaves, in words.

    >>> chosen({"decision": None, "search": "", "where": "age > 60"})
    'where age > 60'
    """
    if not filtered:
        return ""
    said = [f"{word} {filtered[key]}" for key, word in FILTERED.items() if filtered.get(key)]
    return ", ".join(said) or "all of the project"


def written(jobs: Jobs, project: Project, job: Job, form: str) -> Iterator[bytes]:
    """The result, piece by piece."""
    if form == "ndjson":
        return jobs.parts(job.id)
    if project.series_only:
        raise OptionError("the result of a job about time series is there as ndjson alone")
    if form == "csv":
        return _csv(jobs, project, job)
    if form == "parquet":
        if not jobs.finished_parts(job.id):
            raise OptionError("the job has no finished rows yet")
        return _parquet(jobs, project, job)
    if job.total > MOST_ON_A_PAGE:
        raise OptionError(
            f"a page of more than {MOST_ON_A_PAGE:,} rows is too long to be looked at: ask for "
            "csv, ndjson or parquet"
        )
    return _html(jobs, project, job)


def _batches(jobs: Jobs, project: Project, job: Job) -> Iterator[Explanations]:
    work = Work(project, job, jobs.source(job.id))
    numbers = sorted(jobs.finished_parts(job.id))
    for number, content in zip(numbers, jobs.parts(job.id), strict=True):
        start = number * job.chunk
        rows = work.explainer.schema.read(work.frame(start, min(start + job.chunk, job.total)))
        documents = [json.loads(line) for line in content.decode().splitlines()]
        meta = {"method": work.explainer.method, "n": work.options.n, "seed": 0}
        yield explanations_read(
            documents,
            rows,
            project.parts.names,
            meta,
            outlook=work.explainer.engine.outlook,
            margin=work.options.margin,
        )


def _html(jobs: Jobs, project: Project, job: Job) -> Iterator[bytes]:
    yield explanations(jobs, project, job).to_html(title=project.title).encode()


def _csv(jobs: Jobs, project: Project, job: Job) -> Iterator[bytes]:
    form, start = Csv(index=("id",)), 0
    for batch in _batches(jobs, project, job):
        yield form.part(batch, range(start, start + len(batch)), head=not start)
        start += len(batch)


def _parquet(jobs: Jobs, project: Project, job: Job) -> Iterator[bytes]:
    """One file, of any length, from the disk."""
    work = Work(project, job, jobs.source(job.id))
    form = Parquet(index=("id",), layout=answers_layout(work.explainer))
    with tempfile.TemporaryDirectory() as folder:
        start, paths, whole = 0, [], Path(folder) / "whole"
        for number, batch in enumerate(_batches(jobs, project, job)):
            path = Path(folder) / f"{number:06d}"
            path.write_bytes(form.part(batch, range(start, start + len(batch))))
            paths.append(path)
            start += len(batch)
        with whole.open("wb") as out:
            form.join([*map(Local, paths)], out)
        with whole.open("rb") as file:
            while piece := file.read(PIECE):
                yield piece
