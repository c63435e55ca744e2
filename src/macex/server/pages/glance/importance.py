"""Which columns decide: those that answers change, and those that matter when they are shuffled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from macex.ask.answers import Answers
from macex.explainer import Explainer
from macex.models.asker import Asker
from macex.render.charts import Bar, Bars
from macex.render.sheets import percent
from macex.render.speech import Speech
from macex.schema import Array
from macex.server.projects.project import Project
from macex.stages.plausibility.distance import evenly

EXPLAINED = 48  # rows of each of the two samples
SHUFFLED = 160  # rows whose columns are shuffled
COLUMNS = 60  # that are shuffled at most
SHOWN = 12


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
    near = np.argsort(lead, kind="stable")[:EXPLAINED]
    return evenly(np.arange(count), EXPLAINED), near


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
    for turn, at in enumerate(columns.tolist(), 1):
        part = slice(turn * count, (turn + 1) * count)
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
