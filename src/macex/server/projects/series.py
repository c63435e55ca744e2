"""A project of time series: a model of whole cases, and the cases people look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from macex.audit import Audit
from macex.errors import DataError, MacexError, ModelError, OptionError, SchemaError, closest
from macex.models.files.model_file import load_model
from macex.render.names import read_names
from macex.schema import Array
from macex.series.explainer import SeriesExplainer
from macex.series.records import fingerprint
from macex.server.projects.parts import OpenModel, read_description
from macex.server.projects.project import METHODS, PREFERENCES, Project, choose


@dataclass(frozen=True)
class SeriesParts:
    """A model, the cases it learnt from and the cases to look at, (cases, channels, time)."""

    model: Any
    training: Array
    cases: Array
    channels: tuple[str, ...] | None
    classes: tuple[Any, ...] | None
    constraints: Mapping[str, Any]
    times: tuple[Any, ...] = ()
    time_unit: str = ""
    names: Mapping[str, Any] = field(default_factory=dict)
    model_file: Path | None = None
    data_file: Path | None = None


class SeriesProject(Project):
    """Has cases where other projects have rows, so that what is asked of rows is refused."""

    series_only = True

    def __init__(
        self,
        name: str,
        title: str,
        load: Callable[[], Any],
        audit: Callable[[Any], Audit] | None = None,
    ) -> None:
        super().__init__(name, title, load, audit)
        self._asked: dict[tuple[str, str], SeriesExplainer] = {}
        self._said: tuple[Array, Array] | None = None

    @property
    def series(self) -> SeriesParts:
        """What the project consists of."""
        parts: SeriesParts = self._read()
        return parts

    @property
    def parts(self) -> NoReturn:
        """Nothing that has rows."""
        raise DataError(f"project {self.name!r} holds time series and no rows: look at its page")

    @property
    def classes(self) -> tuple[object, ...] | None:
        """The labels the model decides between; None for a bare score."""
        return self.case_explainer().classes

    def case_explainer(
        self, method: str = METHODS[0], prefer: str = PREFERENCES[0]
    ) -> SeriesExplainer:
        """The explainer with this search and preference."""
        choose("method", method, METHODS)
        choose("prefer", prefer, PREFERENCES)
        with self._opening:
            if (method, prefer) not in self._asked:
                audit = None if self._audit is None else self._audit(self.series)
                self._asked[method, prefer] = _explainer(self.series, method, prefer, audit)
            return self._asked[method, prefer]

    def said(self) -> tuple[Array, Array]:
        """What the model says of every case: the position of its decision, and all scores."""
        with self._opening:
            if self._said is None:
                self._said = self.predicted(self.series.cases)
            return self._said

    def predicted(self, cases: Array) -> tuple[Array, Array]:
        """The same for any cases of the same form."""
        fitted = self.case_explainer().fitted
        shape, known = cases.shape[1:], self.series.training.shape[1:]
        if shape != known:
            raise SchemaError(f"a case is {known} (channels, time), not {shape}")
        try:
            answers = fitted.oracle(cases, len(cases))
        except MacexError:
            raise
        except Exception as fault:
            raise ModelError(f"the model cannot say anything of these cases: {fault}") from fault
        return answers.decision, fitted.outlook.rounded(answers.scores)

    def places(self, decision: str | None = None) -> Array:
        """The cases that the model decides so, or all."""
        decided, known = self.said()[0], [str(one) for one in self.case_explainer().classes or ()]
        if decision is None:
            return np.arange(len(decided))
        if decision not in known:
            raise OptionError(f"the model never decides {decision!r}{closest(decision, known)}")
        return np.flatnonzero(decided == known.index(decision))

    def checked(self, place: int) -> int:
        """A case that there is."""
        count = len(self.series.cases)
        if not 0 <= place < count:
            raise SchemaError(f"there is no case {place}: cases are counted from 0 to {count - 1}")
        return place

    @cached_property
    def fingerprint(self) -> str:
        """What the answers rest on."""
        return fingerprint(self.case_explainer().engine)

    def ready(self, method: str = METHODS[0], prefer: str = PREFERENCES[0]) -> bool:
        """Whether asking takes no more time than an answer does."""
        return self._said is not None and (method, prefer) in self._asked

    def open(self) -> Project:
        """Read the files and ask the model about the cases, now."""
        self.said()
        return self


def read_series(folder: Path, open_model: OpenModel = load_model) -> SeriesParts:
    """The parts that lie in a project's folder; `open_model` says where the model is to run."""
    told = read_description(folder)
    training = read_cases(folder / told.data)
    return SeriesParts(
        model=open_model(folder / told.model),
        training=training,
        cases=training if told.rows is None else read_cases(folder / told.rows),
        channels=told.channels or None,
        classes=told.classes,
        constraints=told.constraints,
        times=told.times,
        time_unit=told.time_unit,
        names=read_names(told.names),
        model_file=folder / told.model,
        data_file=folder / told.data,
    )


def read_cases(path: Path) -> Array:
    """The array `X` of a NumPy file; nothing that could run code is read."""
    try:
        with np.load(path, allow_pickle=False) as file:
            cases: Array = np.asarray(file["X"], dtype=float)
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise DataError(f"{path.name} must be a .npz file with an array X: {error}") from error
    if cases.ndim != 3 or not cases.size:
        raise DataError(f"{path.name}: X must be (cases, channels, time), not {cases.shape}")
    return cases


def _explainer(
    parts: SeriesParts, method: str, prefer: str, audit: Audit | None
) -> SeriesExplainer:
    return SeriesExplainer(
        parts.model,
        parts.training,
        channels=parts.channels,
        constraints=parts.constraints,
        method=method,
        prefer=prefer,
        classes=parts.classes,
        audit=audit,
        times=list(parts.times) or None,
        time_unit=parts.time_unit,
        names=parts.names,
    )
