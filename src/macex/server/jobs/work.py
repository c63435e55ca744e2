"""The rows, or the cases, of a job and what is asked of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
import pandas as pd

from macex.engine.fingerprint import fingerprint, others_marked
from macex.explainer import Explainer
from macex.scale.forms import Jsonl
from macex.series.json import explanation_document
from macex.server.case_questions import CaseAsk, explained, read_cases_of
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.questions import (
    CallOptions,
    constraints_of,
    frame_of,
    goal_of,
    models_of,
    per_row,
)
from macex.server.storage.audit import asked_by
from macex.server.storage.jobs import Job
from macex.server.workers.process import silenced

LINES = Jsonl(index=("id",))
Find = Callable[[str], Project]
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


def _given(job: Job, source: Mapping[str, Any], part: str) -> Any:
    """A goal or constraints: one for all rows, or a list of one each."""
    return source.get("given", {}).get(part, job.question[part])


class Work:
    """The rows of a job and what is asked of them."""

    def __init__(
        self, project: Project, job: Job, source: Mapping[str, Any], find: Find | None = None
    ) -> None:
        """`find` is asked for the projects whose models must agree."""
        self.project, self.job, self.source, self._find = project, job, source, find
        self.options = CallOptions(**job.question["options"])
        self.explainer: Explainer = self.options.explainer(project)

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
        if self._find is None:
            return []
        return models_of(self.project, [self._find(name).open() for name in self.options.also])

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
        return any(isinstance(_given(self.job, self.source, part), list) for part in GIVEN)

    @property
    def asked(self) -> dict[str, Any]:
        """Goal and constraints, as they came."""
        return {part: _given(self.job, self.source, part) for part in GIVEN}

    def part(self, start: int, stop: int) -> tuple[bytes, Mapping[str, int]]:
        """Some rows explained: a line of JSON each, and how many have which status."""
        wants = self._each("want", start, stop)
        constraints = self._each("constraints", start, stop)
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

    def given_up(self, row: int, why: str) -> tuple[bytes, Mapping[str, int]]:
        """A row with a reason instead of an answer; its model is not asked."""
        with silenced(self.project.model.worker, why):
            return self.part(row, row + 1)

    def _each(self, part: str, start: int, stop: int) -> Sequence[Any]:
        return per_row(part, _given(self.job, self.source, part), self.job.total)[start:stop]


class CaseWork:
    """The cases of a job and what is asked of them."""

    def __init__(
        self, project: SeriesProject, job: Job, source: Mapping[str, Any], find: Find
    ) -> None:
        """`find` is asked for the projects whose models must agree."""
        self.project, self.job, self.source = project, job, source
        self.options = CallOptions(**job.question["options"])
        self.others = [find(name).open() for name in self.options.also]

    @property
    def fingerprint(self) -> str:
        """What the answers rest on."""
        hashes = [str(other.model_hash) for other in self.others]
        parts = [self.project.fingerprint, self.options.method, self.options.prefer, *hashes]
        return sha256(" ".join(parts).encode()).hexdigest()

    def part(self, start: int, stop: int) -> tuple[bytes, Mapping[str, int]]:
        """Some cases explained: a line of JSON each, and how many have which status."""
        places = self.source.get("places", [])[start:stop]
        given = self.source.get("cases", [])[start:stop]
        ask = CaseAsk(
            options=self.options,
            cases=self.project.series.cases[places] if places else read_cases_of(given),
            want=self._each("want", start, stop),
            constraints=self._each("constraints", start, stop),
            by=signature(self.job),
            also=models_of(self.project, self.others),
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

    def given_up(self, row: int, why: str) -> tuple[bytes, Mapping[str, int]]:
        """A case with a reason instead of an answer; its model is not asked."""
        with silenced(self.project.model.worker, why):
            return self.part(row, row + 1)

    def _each(self, part: str, start: int, stop: int) -> Any:
        given = _given(self.job, self.source, part)
        return given[start:stop] if isinstance(given, list) else given


def signature(job: Job) -> dict[str, Any]:
    """What records say about a job and the caller who made it."""
    told = {"key": job.key, "name": job.owner, "job": job.id}
    return {**told, "filter": job.question.get("filter")}
