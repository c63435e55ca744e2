"""The page of a model at a glance; what takes the model longer is worked out when it is seen.

Which columns decide: those that answers change, and those that matter when they are shuffled. What
the model does to the groups of a column: rates, burden and recourse, with intervals.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from fastapi import APIRouter, Request
from fastapi.responses import Response

from macex.ask.answers import Answers
from macex.cohort.estimates import Estimate
from macex.errors import MacexError
from macex.explainer import Explainer
from macex.models.asker import Asker
from macex.render.charts import Bar, Bars
from macex.render.sheets import percent
from macex.render.speech import Speech
from macex.schema import Array
from macex.server.api.needs import Reader
from macex.server.pages.address import Address
from macex.server.pages.charts import Told, scattered, scored
from macex.server.pages.panes import Pane, nearest_real
from macex.server.pages.questions import Gone, gone_of, turn, wanted
from macex.server.pages.row import Look
from macex.server.pages.shell import PageRoute, address_of, moved, page, parts_asked, pieces
from macex.server.projects.project import Project
from macex.server.projects.series import SeriesProject
from macex.server.state import server_of
from macex.stages.plausibility.distance import evenly

router = APIRouter(include_in_schema=False, route_class=PageRoute)
PARTS = ("scores", "scatter", "importance", "groups", "structure")
AT_ONCE = ("scores", "scatter")  # they ask the model for nothing new
ASKING = ("importance", "groups")  # they put questions to the model
RELATIONS = 12
ROWS = 1000  # whose decisions are looked at
EXPLAINED = 150
VALUES = 12  # other values that are tried
SENTENCES = 6
OF = "share of rows, with 95 % intervals"
SAMPLED = 48  # rows of each of the two samples
SHUFFLED = 160  # rows whose columns are shuffled
COLUMNS = 60  # that are shuffled at most
SHOWN = 12


@router.get("/projects/{name}/glance")
def glance_page(request: Request, name: str, caller: Reader) -> Response:
    """The model at a glance."""
    server, address = server_of(request), address_of(request)
    project = server.projects[name].open()
    if isinstance(project, SeriesProject):
        return moved(request, f"/projects/{project.name}")
    look, may_explain = None, caller.may("explain")
    if (row := address.one("row")).isdecimal() and len(row) < 12 and may_explain:
        look = Look(server.settings, project, int(row), request)
    glance = Glance(project, address, gone_of(request), server.settings.explain_seconds, look)
    asked = parts_asked(request, PARTS)
    shown = [one for one in (address.one("show"),) if one in PARTS]
    known = [part for part in asked or (*AT_ONCE, *shown) if part not in ASKING or may_explain]
    values = glance.shown(known, request.scope.get("root_path", ""))
    if asked:
        return pieces(request, [f"glance_{part}" for part in asked], values, project=project)
    return page(request, "glance", values, project=project)


@dataclass(frozen=True)
class Glance:
    """A project that is glanced at."""

    project: Project
    address: Address
    gone: Gone
    seconds: float
    look: Look | None = None  # a row to be shown among the others, with its answers

    def shown(self, parts: list[str], root: str) -> dict[str, Any]:
        """What the templates need; a part that is not among these is None."""
        speech = Speech(self.project.parts.names)
        explainer, one = self.project.explainer(), self.address.one
        of, at, group, names = one("of"), one("at"), one("group"), (one("x"), one("y"))
        here = f"{root}/projects/{self.project.name}"
        make: dict[str, Callable[[], Any]] = {
            "scores": lambda: scored(self.project, of, at),
            "scatter": lambda: scattered(self.project, names, here, speech, self._told()),
            "importance": lambda: self._kept(
                "importance", "", lambda: importance(self.project, self.seconds, speech)
            ),
            "groups": lambda: self._groups(group, one("hoped"), speech),
            "structure": self._structure,
        }
        classes = explainer.classes
        return {
            **{part: self._made(part, make[part], parts) for part in PARTS},
            "speech": speech,
            "classes": None if classes is None else [str(label) for label in classes],
            "counts": self.project.table.counts(),
            "rows": len(self.project.table),
            "trained": len(self.project.parts.training),
            "columns": list(explainer.schema.columns),
            "groupable": groupable(self.project) if classes is not None else [],
        }

    def _told(self) -> list[Told]:
        """The row that is looked at, its best answer and the nearest real row."""
        if self.look is None:
            return []
        told: list[Told] = [(f"row {self.look.at}", "before", self.look.rows.codes[0])]
        told += [(name, "after", codes) for name, codes in self.look.answered()[:1]]
        nearest = nearest_real(self.look.aim)
        return told if nearest is None else [*told, ("nearest real row", "other", nearest)]

    def _made(self, part: str, make: Callable[[], Any], parts: list[str]) -> Pane | None:
        if part not in parts:
            return None
        try:
            return Pane(make())
        except MacexError as error:
            return Pane(fault=str(error))

    def _kept(self, part: str, about: str, make: Callable[[], Any]) -> Any:
        """What was worked out before, or now, when it is this project's turn."""

        def asked() -> Any:
            with turn(self.project, self.gone):
                return make()

        return self.project.remembered.get(("glance", part, about), asked)

    def _groups(self, column: str, hoped: str, speech: Speech) -> Any:
        known = groupable(self.project)
        if self.project.explainer().classes is None or not known or not column:
            return None
        want = wanted(Address([("want", hoped)]), self.project.explainer().classes)

        def made() -> Any:
            return grouped_by(self.project, column, want, speech)

        return self._kept("groups", f"{column}\n{hoped}", made)

    def _structure(self) -> Any:
        found = tuple(self.project.explainer().structure)
        return found[:RELATIONS], len(found)


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
    return [
        column.name
        for column in project.explainer().schema.columns
        if len(column.seen) + column.missing > 1
    ]


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


def _interval(share: Estimate) -> tuple[float, float] | None:
    return None if share.low is None or share.high is None else (share.low, share.high)


@dataclass(frozen=True)
class Importance:
    """Shares by column: of answers that change it, near the border and anywhere; by shuffling."""

    columns: Bars
    border: Bars
    explained: int
    bordering: int
    without: int  # rows without an answer
    shuffled: int
    left_out: int  # columns that were not shuffled


def importance(project: Project, seconds: float, speech: Speech) -> Importance:
    """What a bounded sample of the rows says: two questions, and one call for the shuffling."""
    explainer = Explainer.of(project.explainer().engine)
    anywhere, near = _samples(project)
    both = np.concatenate([anywhere, near])
    found = explainer.explain(project.table.frame(both), on_error="keep", timeout_s=seconds)
    used = np.array([_changed(item, explainer.columns) for item in found]).reshape(len(both), -1)
    answered = np.array([bool(item.counterfactuals) for item in found], bool)
    some, border = answered.copy(), answered.copy()
    some[len(anywhere) :] = border[: len(anywhere)] = False
    everywhere, bordering = (_mean(used[part]) for part in (some, border))
    order = np.argsort(-(everywhere + bordering), kind="stable")
    shuffled, count = _shuffled(project, order[:COLUMNS])
    ranked = np.argsort(-(everywhere + shuffled), kind="stable")[:SHOWN]
    names = [speech.name(name) for name in explainer.columns]
    closest = np.argsort(-bordering, kind="stable")[:SHOWN]
    return Importance(
        Bars(
            tuple(_bar(names[at], everywhere[at], shuffled[at]) for at in ranked.tolist()),
            "share of rows",
            series=("answers change it", "shuffling it changes the decision"),
            title="Which columns matter",
            shares=True,
        ),
        Bars(
            tuple(_bar(names[at], bordering[at]) for at in closest.tolist() if bordering[at]),
            "share of rows",
            title="Which columns decide at the border",
            shares=True,
        ),
        int(some.sum()),
        int(border.sum()),
        int((~answered).sum()),
        count,
        max(0, len(names) - COLUMNS),
    )


def _samples(project: Project) -> tuple[Array, Array]:
    """Places of rows: evenly spaced ones, and those whose decision is the narrowest."""
    scores, count = project.table.predictions.scores, len(project.table)
    if scores.shape[1] >= 2:
        ranked = np.sort(scores, axis=1)
        lead = ranked[:, -1] - ranked[:, -2]
    else:
        lead = np.abs(scores[:, 0] - np.median(scores[:, 0]))
    near = np.argsort(lead, kind="stable")[:SAMPLED]
    return evenly(np.arange(count), SAMPLED), near


def _changed(item: object, columns: list[str]) -> Array:
    answers = getattr(item, "counterfactuals", ())
    changed = {change.column for change in answers[0].changes} if answers else set()
    return np.array([name in changed for name in columns], float)


def _mean(used: Array) -> Array:
    mean: Array = used.mean(axis=0) if len(used) else np.zeros(used.shape[1])
    return mean


def _shuffled(project: Project, columns: Array) -> tuple[Array, int]:
    """How often the decision is another when a column takes the value of another row.

    For a model of scores it is the mean change of the score, in its standard deviations, at most 1.
    """
    explainer, schema = project.explainer(), project.explainer().schema
    places = evenly(np.arange(len(project.table)), SHUFFLED)
    rows = schema.read(project.table.frame(places))
    count = len(rows)
    full = np.tile(rows.codes, (1 + len(columns), 1))
    draw = np.random.default_rng(0)
    for nth, at in enumerate(columns.tolist(), 1):
        part = slice(nth * count, (nth + 1) * count)
        full[part, at] = rows.codes[draw.permutation(count), at]
    at = np.tile(np.arange(count), 1 + len(columns))
    answers, _ = Asker(explainer.engine.fitted.oracle.own, schema, rows)(full, at)
    moved = _moved(answers, count, decides=explainer.classes is not None)
    effect = np.zeros(len(schema.columns))
    effect[columns] = moved.reshape(-1, count)[1:].mean(axis=1)
    return effect, count


def _moved(answers: Answers, count: int, *, decides: bool) -> Array:
    """How far each answer is from that for the row as it is, from 0 to 1, (n,)."""
    turns = len(answers.decision) // count
    if decides:
        return np.asarray(answers.decision != np.tile(answers.decision[:count], turns), float)
    own = answers.scores[:count, 0]
    spread = float(own.std()) or 1.0
    return np.minimum(np.abs(answers.scores[:, 0] - np.tile(own, turns)) / spread, 1.0)


def _bar(name: str, share: float, beside: float | None = None) -> Bar:
    other = None if beside is None else float(beside)
    return Bar(name, float(share), percent(float(share)), other)
