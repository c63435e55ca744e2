"""A project of time series: a model of whole cases, and the cases people look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from macex.errors import DataError
from macex.models.files.loading import load_model
from macex.schema import Array
from macex.series.constraints import SeriesConstraints
from macex.series.explainer import SeriesExplainer
from macex.server.projects.description import read_description
from macex.server.projects.parts import OpenModel, Parts
from macex.server.projects.project import METHODS, PREFERENCES, Project, choose


@dataclass(frozen=True)
class SeriesParts:
    """A model, the cases it learnt from and the cases to look at, (cases, channels, time)."""

    model: Any
    training: Array
    cases: Array
    channels: tuple[str, ...] | None
    classes: tuple[Any, ...] | None
    constraints: SeriesConstraints


class SeriesProject(Project):
    """Has cases where other projects have rows, so that what is asked of rows is refused."""

    series_only = True

    def __init__(
        self, name: str, title: str, folder: Path, open_model: OpenModel = load_model
    ) -> None:
        super().__init__(name, title, self._refuse)
        self._folder, self._open_model = folder, open_model
        self._series: SeriesParts | None = None
        self._asked: dict[tuple[str, str], SeriesExplainer] = {}
        self._said: tuple[Array, Array] | None = None

    def _refuse(self) -> NoReturn:
        raise DataError(f"project {self.name!r} holds time series and no rows: look at its page")

    @property
    def opened(self) -> bool:
        """Whether the files were read."""
        return self._series is not None

    @property
    def series(self) -> SeriesParts:
        """What the project consists of."""
        with self._opening:
            if self._series is None:
                self._series = read_series(self._folder, self._open_model)
            return self._series

    @property
    def parts(self) -> Parts:
        """Nothing that has rows."""
        self._refuse()

    def case_explainer(
        self, method: str = METHODS[0], prefer: str = PREFERENCES[0]
    ) -> SeriesExplainer:
        """The explainer with this search and preference."""
        choose("method", method, METHODS)
        choose("prefer", prefer, PREFERENCES)
        with self._opening:
            if (method, prefer) not in self._asked:
                self._asked[method, prefer] = _explainer(self.series, method, prefer)
            return self._asked[method, prefer]

    def said(self) -> tuple[Array, Array]:
        """What the model says of every case: the position of its decision, and all scores."""
        with self._opening:
            if self._said is None:
                fitted, cases = self.case_explainer().fitted, self.series.cases
                answers = fitted.oracle(cases, len(cases))
                self._said = answers.decision, fitted.outlook.rounded(answers.scores)
            return self._said

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
        constraints=SeriesConstraints(**told.constraints),
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


def _explainer(parts: SeriesParts, method: str, prefer: str) -> SeriesExplainer:
    return SeriesExplainer(
        parts.model,
        parts.training,
        channels=parts.channels,
        constraints=parts.constraints,
        method=method,
        prefer=prefer,
        classes=parts.classes,
    )
