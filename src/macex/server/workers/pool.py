"""All workers of a server, and the thread that looks after them."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from macex.errors import MacexError
from macex.server.workers.model import WorkerModel
from macex.server.workers.places import Places
from macex.server.workers.process import Source, Worker, WorkerLimits

if TYPE_CHECKING:
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
