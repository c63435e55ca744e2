"""What the model does to the groups of a column: rates, burden and recourse, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.cohort.estimates import Estimate
from macex.explainer import Explainer
from macex.render.charts import Bar, Bars
from macex.render.sheets import percent
from macex.render.speech import Speech
from macex.schema import Column
from macex.server.projects.project import Project
from macex.stages.plausibility.distance import evenly

ROWS = 1000  # whose decisions are looked at
EXPLAINED = 150
VALUES = 12  # other values that are tried
SENTENCES = 6
OF = "share of rows, with 95 % intervals"


@dataclass(frozen=True)
class Grouped:
    """The groups of a column: who is decided for, who has no way there, and how far it is."""

    chart: Bars | None
    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    reading: tuple[str, ...]
    rows: int
    explained: int
    goal: str


def groupable(project: Project) -> list[str]:
    """The columns whose groups can be compared: those with more than one value."""
    return [column.name for column in project.explainer().schema.columns if _several(column)]


def grouped_by(project: Project, column: str, want: Any, speech: Speech) -> Grouped:
    """The groups of a column in a bounded sample of the rows."""
    explainer = Explainer.of(project.explainer().engine)
    explainer.schema.position(column)
    classes = explainer.classes
    if want is None and classes is not None:
        want = classes[-1]
    table = project.table
    frame = table.frame(evenly(np.arange(len(table)), ROWS))
    found = explainer.bias(
        frame, protected=[column], want=want, explained=EXPLAINED, max_values=VALUES
    )
    bars = tuple(
        Bar(
            b.group,
            float(b.selected.value),
            percent(float(b.selected.value)),
            interval=_interval(b.selected),
        )
        for b in found.burden
        if np.isfinite(b.selected.value)
    )
    goal = speech.plain(want)
    title = f"Decided {goal}, by {speech.name(column)}"
    heads = (f"decided {goal}", "without recourse", "changes needed", "distance")
    return Grouped(
        Bars(bars, OF, title=title, shares=True) if bars else None,
        (speech.name(column), *heads),
        tuple(
            (
                b.group,
                b.selected.percent(),
                b.without.percent(),
                b.changes.number(),
                b.distance.number(),
            )
            for b in found.burden
        ),
        tuple(found.reading()[:SENTENCES]),
        found.rows,
        found.explained,
        goal,
    )


def _several(column: Column) -> bool:
    return len(column.seen) + column.missing > 1


def _interval(share: Estimate) -> tuple[float, float] | None:
    return None if share.low is None or share.high is None else (share.low, share.high)
