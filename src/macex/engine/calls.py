"""A call of an explainer: rows and a question in, explanations out, recorded on the way."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Self, TypeVar

from macex.ask.question import Question
from macex.engine.blocks import reporter
from macex.engine.engine import EngineOf
from macex.engine.recorder import Recorder
from macex.errors import ModelError

EngineT = TypeVar("EngineT", bound=EngineOf[Any, Any, Any, Any])
FoundT = TypeVar("FoundT")


class ExplainerOf(ABC, Generic[EngineT, FoundT]):
    """What explainers of rows and of cases have in common: an engine, and where it is recorded."""

    engine: EngineT
    recorder: Recorder | None

    @classmethod
    def of(cls, engine: EngineT, recorder: Recorder | None = None) -> Self:
        """The explainer that stands on an engine."""
        explainer = object.__new__(cls)
        explainer.engine, explainer.recorder = engine, recorder
        return explainer

    def ask(self, rows: Any, question: Question, progress: Any = None) -> FoundT:
        """`explain`, with its arguments in one value."""
        batch = self.engine.batch(rows, question)
        record = None if self.recorder is None else self.recorder.of(batch)
        with reporter(progress, len(batch)) as report:
            try:
                items = self.engine.explain(batch, report)
            except ModelError as error:
                error.partial = self._explanations(error.partial or [], batch)
                raise
        if record is not None:
            record(items)
        return self._explanations(items, batch)

    @abstractmethod
    def _explanations(self, items: list[Any], batch: Any) -> FoundT:
        """The explanations of a batch as one result, which can tell what was asked."""
