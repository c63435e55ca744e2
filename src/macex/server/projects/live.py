"""A project that stands on an explainer in memory."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import pandas as pd

from macex.explainer import Explainer
from macex.server.projects.parts import Parts
from macex.server.projects.project import Project

NAME, TITLE = "explainer", "Explainer"


class LiveProject(Project):
    """The rows of an explainer, or others, and the model as it is in memory."""

    def __init__(self, explainer: Explainer, rows: Any = None) -> None:
        """`rows` are those to look at; without any the training rows."""
        self._live = explainer
        super().__init__(NAME, TITLE, lambda: _parts(explainer, rows))

    @cached_property
    def _whole(self) -> Explainer:
        """The explainer itself."""
        return self._live


def _parts(explainer: Explainer, rows: Any) -> Parts:
    schema = explainer.schema
    training = _framed(schema.frame(explainer.engine.fitted.ground.codes), schema)
    read = None if rows is None else schema.read(rows)
    return Parts(
        model=None,
        training=training,
        rows=training if read is None else _framed(schema.frame(read.codes), schema),
        constraints=explainer.constraints,
        names=explainer.engine.options.names,
        classes=explainer.classes,
    )


def _framed(frame: Any, schema: Any) -> pd.DataFrame:
    """Rows as pandas has them, whatever library the explainer's are of."""
    if isinstance(frame, pd.DataFrame):
        return frame
    if hasattr(frame, "to_pandas"):
        return pd.DataFrame({name: frame[name].to_list() for name in frame.columns})
    return pd.DataFrame(frame, columns=list(schema.frame_names))
