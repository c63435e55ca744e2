"""The rows, or the cases, of a job and what is asked of them."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from macex.engine.recorder import fingerprint, others_marked
from macex.explainer import Explainer
from macex.scale.forms import Jsonl
from macex.series.json import explanation_document
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.questions import (
    Ask,
    CallOptions,
    constraints_of,
    explained,
    frame_of,
    goal_of,
    models_of,
    per_row,
    read_cases_of,
)
from macex.server.storage.audit import asked_by
from macex.server.storage.jobs import Job
from macex.server.workers.process import silenced

LINES = Jsonl(index=("id",))
Find = Callable[[str], Project]
Lines = tuple[bytes, Mapping[str, int]]
GIVEN = ("want", "constraints")
LONG = 10_000  # characters of JSON from which on a part is not in the question


def parted(want: Any, constraints: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is asked of rows, for a job's question, and for its source: one for each row, and more.

    The question is looked at often, and the source when the job is worked on.

    >>> parted(">50K", [{"fixed": ["age"]}, None])[0]
    {'want': '>50K', 'constraints': None, 'left_out': ['constraints']}
    """
    given = dict(zip(GIVEN, (want, constraints), strict=True))
    long = {
        part: value
        for part, value in given.items()
        if isinstance(value, list) or len(json.dumps(value)) > LONG
    }
    question = {part: None if part in long else value for part, value in given.items()}
    return question | {"left_out": list(long)}, ({"given": long} if long else {})


class JobWork(ABC):
    """What all jobs have: a project, options, and questions about some of their rows or cases."""

    def __init__(
        self, project: Project, job: Job, source: Mapping[str, Any], find: Find | None = None
    ) -> None:
        """`find` is asked for the projects whose models must agree."""
        self.project, self.job, self.source, self._find = project, job, source, find
        self.options = CallOptions(**job.question["options"])

    @cached_property
    def others(self) -> list[Project]:
        """The projects whose models must agree with every answer; none where nobody finds them."""
        find = self._find
        return [] if find is None else [find(name).open() for name in self.options.also]

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """What the answers rest on."""

    @abstractmethod
    def part(self, start: int, stop: int) -> Lines:
        """Some of them explained: a line of JSON each, and how many have which status."""

    def given_up(self, row: int, why: str) -> Lines:
        """One with a reason instead of an answer; its model is not asked."""
        with silenced(self.project.model.worker, why):
            return self.part(row, row + 1)

    @property
    def asked(self) -> dict[str, Any]:
        """Goal and constraints, as they came: one for all, or a list of one each."""
        apart = self.source.get("given", {})
        return {part: apart.get(part, self.job.question[part]) for part in GIVEN}


class Work(JobWork):
    """The rows of a job and what is asked of them."""

    @cached_property
    def explainer(self) -> Explainer:
        """Who is asked."""
        return self.options.explainer(self.project)

    @cached_property
    def fingerprint(self) -> str:
        """What the answers rest on."""
        own = fingerprint(self.explainer.engine)
        if not self.also:
            return own
        marks = others_marked(self.explainer.engine, self.also)
        return sha256(" ".join([own, *marks]).encode()).hexdigest()

    @cached_property
    def also(self) -> list[Any]:
        """The models that must agree with every answer."""
        return models_of(self.project, self.others)

    def frame(self, start: int, stop: int) -> pd.DataFrame:
        """Some of the rows, named by their places."""
        if "places" in self.source:
            places = np.array(self.source["places"][start:stop], dtype=int)
            return self.project.table.frame(places)
        frame = frame_of(self.explainer, self.source["rows"][start:stop])
        return frame.set_axis(range(start, stop), axis=0)

    @property
    def apart(self) -> bool:
        """Whether rows are asked different questions."""
        return any(isinstance(given, list) for given in self.asked.values())

    def part(self, start: int, stop: int) -> Lines:
        """Some rows explained."""
        wants, constraints = (
            per_row(part, given, self.job.total)[start:stop] for part, given in self.asked.items()
        )
        frame = self.frame(start, stop)
        with asked_by([signature(self.job)] * len(frame)), self.project.lock:
            found = self.explainer.explain(
                frame,
                want=[goal_of(self.explainer, want) for want in wants],
                constraints=[constraints_of(one) for one in constraints],
                also=self.also,
                **self.options.call,
            )
        return LINES.part(found, range(start, stop)), dict(Counter(item.status for item in found))


class CaseWork(JobWork):
    """The cases of a job and what is asked of them."""

    project: SeriesProject

    @property
    def fingerprint(self) -> str:
        """What the answers rest on."""
        hashes = [str(other.model_hash) for other in self.others]
        parts = [self.project.fingerprint, self.options.method, self.options.prefer, *hashes]
        return sha256(" ".join(parts).encode()).hexdigest()

    def part(self, start: int, stop: int) -> Lines:
        """Some cases explained."""
        places = self.source.get("places", [])[start:stop]
        given = self.source.get("cases", [])[start:stop]
        mine = {k: v[start:stop] if isinstance(v, list) else v for k, v in self.asked.items()}
        ask = Ask(
            options=self.options,
            rows=self.project.series.cases[places] if places else read_cases_of(given),
            by=signature(self.job),
            also=models_of(self.project, self.others),
            **mine,
        )
        with self.project.lock:
            found = explained(self.project, ask)
        names = places or range(start, stop)
        lines = [
            {**explanation_document(item, canonical=True), "id": name}
            for name, item in zip(names, found, strict=True)
        ]
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        return text.encode(), dict(Counter(item.status for item in found))


def signature(job: Job) -> dict[str, Any]:
    """What records say about a job and the caller who made it."""
    told = {"key": job.key, "name": job.owner, "job": job.id}
    return {**told, "filter": job.question.get("filter")}
