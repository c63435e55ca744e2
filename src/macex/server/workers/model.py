"""A model in a process of its own, asked like any other."""

from __future__ import annotations

import itertools
from types import MethodType
from typing import Any

from macex.schema import Array, Schema
from macex.server.workers.process import Worker

_keys = itertools.count()


def _method(way: str) -> Any:
    """A method of the model, by its own name."""

    def asked(model: WorkerModel, rows: Any) -> Any:
        return model._asked(way, rows)  # noqa: SLF001 - its own

    asked.__name__ = way
    return asked


class WorkerModel:
    """Has the methods and the classes that the model has; made by `Workers.open_model`."""

    def __init__(self, worker: Worker) -> None:
        face = worker.face()
        self.worker, self._ways = worker, tuple(face["ways"])
        self.path, self.sha256 = worker.path, worker.sha256
        classes = face["classes"]
        self.classes_ = None if classes is None else tuple(classes)
        self.by_highest_score = bool(face["by_highest_score"])
        self._estimator_type = "regressor" if face["regresses"] else None

    def __call__(self, rows: Any) -> Any:
        """What the model gives for a frame or an array."""
        return self._asked("", rows)

    def __getattr__(self, name: str) -> Any:
        if name in self.__dict__.get("_ways", ()):
            return MethodType(_method(name), self)
        raise AttributeError(name)

    def prepared_for(self, schema: Schema, codes: Array) -> ByCode | None:
        """The model asked about codes instead of frames, where it is a pipeline that allows it."""
        way = ByCode(self.worker, schema, codes)
        return None if way.width is None else way

    def _asked(self, way: str, rows: Any) -> Any:
        return self.worker.ask({"do": "rows", "way": way, "rows": rows}, len(rows))[1]


class ByCode:
    """The same model asked about codes; a new process first learns what they stand for."""

    current = True  # the model of a file is never fitted again

    def __init__(self, worker: Worker, schema: Schema, codes: Array) -> None:
        self.worker, self._schema, self._codes = worker, schema, codes
        self._key = next(_keys)
        self.width: int | None = self._told()

    def __call__(self, full: Array, method: str) -> Any:
        """What a method of the model gives for codes."""
        question = {"do": "codes", "key": self._key, "way": method, "codes": full}
        said, answer = self.worker.ask(question, len(full))
        if "unprepared" in said:
            self._told()
            said, answer = self.worker.ask(question, len(full))
        return answer

    def _told(self) -> int | None:
        question = {"do": "prepare", "key": self._key}
        said, _ = self.worker.ask({**question, "schema": self._schema, "codes": self._codes}, 0)
        return None if said["width"] is None else int(said["width"])
