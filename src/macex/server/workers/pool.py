"""All workers of a server, and their models, which are asked like any other."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from types import MethodType
from typing import TYPE_CHECKING, Any

from macex.errors import MacexError
from macex.server.workers.process import Places, Source, Worker, WorkerLimits

if TYPE_CHECKING:
    from macex.schema import Array, Schema
    from macex.server.settings import Settings


LOOK_S = 0.1


class Workers:
    """A worker for each model that is asked; `at_once` of them have a process."""

    def __init__(self, limits: WorkerLimits, at_once: int = 16) -> None:
        self.limits, self._places = limits, Places(at_once)
        self._lock = threading.Lock()
        self._workers: dict[Source, Worker] = {}
        self._closing = threading.Event()
        self._watch: threading.Thread | None = None

    def open_model(self, path: Path) -> WorkerModel:
        """The model of a file, in a process of its own."""
        model = WorkerModel(self._worker(path))
        _ = model.face  # a file that is no model is an error now
        return model

    def make_model(self, recipe: str) -> WorkerModel:
        """The model that a module of this package makes, in a process of its own."""
        return WorkerModel(self._worker(recipe))

    def begin(self, recipe: str) -> None:
        """Make a model that will be asked for, beside what goes on here."""
        worker = self._worker(recipe)

        def begun() -> None:
            with suppress(MacexError):  # which is said to whoever asks for the model
                worker.face()

        threading.Thread(target=begun, name="begin", daemon=True).start()

    def _worker(self, source: Source) -> Worker:
        with self._lock:
            worker = self._workers.setdefault(source, Worker(source, self.limits, self._places))
            if self._watch is None:
                self._watch = threading.Thread(target=self._look, name="workers", daemon=True)
                self._watch.start()
        return worker

    @property
    def closing(self) -> bool:
        """Whether no model is asked any more."""
        return self._closing.is_set()

    def forget(self, path: Path) -> None:
        """End the worker of a file that is removed."""
        with self._lock:
            worker = self._workers.pop(path, None)
        if worker is not None:
            worker.close()

    def close(self) -> None:
        """End all workers now; callers that wait for one get an error."""
        self._closing.set()
        with self._lock:
            for worker in self._workers.values():
                worker.close()

    def _look(self) -> None:
        while not self._closing.wait(LOOK_S):
            with self._lock:
                workers = list(self._workers.values())
            for worker in workers:
                worker.look(time.monotonic())


def workers_for(settings: Settings) -> Workers:
    """The workers of a server with these settings."""
    limits = WorkerLimits(settings.model_memory_mb, settings.model_seconds, settings.upload_seconds)
    return Workers(limits, settings.models_at_once)


_keys = itertools.count()


def _method(way: str) -> Any:
    """A method of the model, by its own name."""

    def asked(model: WorkerModel, rows: Any) -> Any:
        return model._asked(way, rows)  # noqa: SLF001 - its own

    asked.__name__ = way
    return asked


class WorkerModel:
    """Has the methods and the classes that the model has; made by `Workers`.

    It is waited for when something is asked of it.
    """

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    @cached_property
    def face(self) -> Mapping[str, Any]:
        """What the model can be asked for."""
        return self.worker.face()

    @property
    def path(self) -> Path | None:
        """The file it is opened from, if there is one."""
        return self.worker.source if isinstance(self.worker.source, Path) else None

    @property
    def sha256(self) -> str | None:
        """The SHA-256 of its file, if it has one."""
        return self.worker.sha256

    @property
    def classes_(self) -> tuple[Any, ...] | None:
        """The labels that it decides between."""
        classes = self.face["classes"]
        return None if classes is None else tuple(classes)

    @property
    def by_highest_score(self) -> bool:
        """Whether it decides for the label of the highest score."""
        return bool(self.face["by_highest_score"])

    @property
    def _estimator_type(self) -> str | None:
        return "regressor" if self.face["regresses"] else None

    def __call__(self, rows: Any) -> Any:
        """What the model gives for a frame or an array."""
        return self._asked("", rows)

    def __getattr__(self, name: str) -> Any:
        if "worker" in self.__dict__ and name in self.face["ways"]:
            return MethodType(_method(name), self)
        raise AttributeError(name)

    def unread_for(self, schema: Schema) -> list[str]:
        """The columns that the model is known never to read."""
        said, _ = self.worker.ask({"do": "unread", "schema": schema}, 0)
        return [name for name in schema.frame_names if name in said["unread"]]

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
