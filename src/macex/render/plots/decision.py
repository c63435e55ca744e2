"""What the model decides along columns, and on the way to a counterfactual, change by change.

The rows are made from the codes of a query and are read toward its goal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from macex.ask.answers import Needed
from macex.ask.goals import AnyOf, at_least
from macex.errors import OptionError
from macex.render.charts.axes import Categories, Dot, Measure
from macex.render.charts.bars import Bar, Bars
from macex.render.charts.curve import Curve, Line
from macex.render.charts.two_columns import HeatMap
from macex.render.contexts import column_axis
from macex.render.plots.display import Display, bounds, score_axis, score_name, shaded
from macex.render.speech import Speech
from macex.render.values import score_text
from macex.schema import Array, special

MOST = 40  # categories of a column that are drawn


@dataclass(frozen=True)
class Axis:
    """The values of one column that were asked about, and where they lie on the axis drawn.

    The places of query and counterfactual are empty where they lie nowhere: a missing number, or
    no counterfactual.
    """

    name: str
    codes: Array
    places: Array
    drawn: Measure | Categories
    query: Array
    found: Array


@dataclass(frozen=True)
class DecisionDisplay(Display):
    """The score along one column (a line) or two (a map), with query and counterfactual marked.

    `scores` has one axis for each of `along`. The mark of the counterfactual stands at its own
    values of these columns; its other changes are not part of the picture.
    """

    along: tuple[Axis, ...]
    scores: Array
    needed: Needed
    query_score: float
    found_score: float | None = None
    name: str = "score"
    alone: bool = True  # the counterfactual changes nothing but these columns

    @classmethod
    def from_explanation(
        cls,
        explainer: Any,
        explanation: Any,
        columns: str | Sequence[str],
        *,
        rank: int | None = None,
        points: int = 60,
    ) -> DecisionDisplay:
        """Ask the explainer's model about every point.

        `rank` says which counterfactual to mark; without it the best one, if there is any.
        """
        names = [columns] if isinstance(columns, str) else list(columns)
        if len(names) not in (1, 2) or len(set(names)) < len(names):
            raise OptionError(f"columns takes one column or two different ones, not {columns!r}")
        if rank is None:
            found = explanation.counterfactuals[0] if explanation.counterfactuals else None
        else:
            found = chosen(explanation, rank)
        along = tuple(_axis(explanation, found, name, points) for name in names)
        return cls(
            along,
            _grid(explainer, explanation, names, along),
            explanation.needed,
            explanation.score,
            None if found is None else found.score,
            score_name(explanation),
            found is None or {change.column for change in found.changes} <= set(names),
            title="The decision along " + " and ".join(axis.name for axis in along),
        )

    @property
    def chart(self) -> Curve | HeatMap:
        """The line or the map."""
        return self._line() if len(self.along) == 1 else self._map()

    def _line(self) -> Curve:
        (axis,) = self.along
        scores = tuple(float(score) for score in self.scores)
        found = [] if self.found_score is None else [self.found_score]
        y = score_axis(self.name, [*scores, self.query_score, *found], self.needed)
        return Curve(
            axis.drawn,
            y,
            (Line(tuple(axis.places.tolist()), scores),),
            bounds(self.needed),
            shaded(self.needed, y),
            self._dots(axis, [self.query_score], found),
        )

    def _map(self) -> HeatMap:
        across, up = self.along
        return HeatMap(
            across.drawn,
            up.drawn,
            tuple(tuple(map(float, line)) for line in self.scores),
            (tuple(across.places.tolist()), tuple(up.places.tolist())),
            self.name,
            self.needed.low,
            self.needed.high,
            self._dots(across, up.query, up.found),
        )

    def _dots(self, across: Axis, query: Any, found: Any) -> tuple[Dot, ...]:
        """A dot for the query and one for the counterfactual, where they lie on both axes."""
        label = "counterfactual" if self.alone else "counterfactual, with its other changes"
        own = [Dot(float(x), float(y), "query") for x, y in zip(across.query, query, strict=False)]
        new = [
            Dot(float(x), float(y), label, "after")
            for x, y in zip(across.found, found, strict=False)
        ]
        return (*own, *new)


def _grid(explainer: Any, explanation: Any, names: list[str], along: tuple[Axis, ...]) -> Array:
    """The scores at every combination of the values, (values,) or (values, values)."""
    schema = explanation.source.rows.schema
    meshes = np.meshgrid(*(axis.codes for axis in along), indexing="ij")
    rows = np.repeat(explanation.source.codes[None], meshes[0].size, axis=0)
    for name, mesh in zip(names, meshes, strict=True):
        rows[:, schema.position(name)] = mesh.reshape(-1)
    return scored(explainer, explanation, rows).reshape(meshes[0].shape)


def _axis(explanation: Any, found: Any, name: str, points: int) -> Axis:
    schema, speech = explanation.source.rows.schema, Speech(explanation.names)
    at = schema.position(name)
    column = schema.columns[at]
    own = _known(explanation.source.codes[at])
    then = _known(found.source.codes[at]) if found is not None else own[:0]
    if column.discrete:
        often = column.seen[np.argsort(-column.counts, kind="stable")][:MOST]
        codes = np.unique([*often, *own, *then])
        texts = tuple(speech.value(name, column.value(code)) for code in codes.tolist())
        drawn: Measure | Categories = Categories(speech.name(name), texts)
        at_own, at_then = _position(codes, own), _position(codes, then)
        return Axis(drawn.name, codes, np.arange(len(codes)), drawn, at_own, at_then)
    low, high = min([column.low, *own, *then]), max([column.high, *own, *then])
    codes = np.unique([*column.held(np.linspace(low, high, points)), *own, *then])
    drawn = column_axis(column, np.array([low, high]), speech)
    return Axis(drawn.name, codes, codes, drawn, own, then)


def _known(code: float) -> Array:
    """A code as an array of one, or of none for a missing or unknown value."""
    codes = np.array([code])
    return codes[~special(codes)]


def _position(among: Array, codes: Array) -> Array:
    """Where codes stand among sorted ones."""
    places: Array = np.searchsorted(among, codes)
    return places


@dataclass(frozen=True)
class PathDisplay(Display):
    """The score after each change, the one that helps most first.

    The first entry of `steps` and `scores` is the query itself.
    """

    steps: Sequence[str]
    scores: Sequence[float]
    needed: Needed
    name: str = "score"
    title: str = field(default="The score after each change", kw_only=True)

    @classmethod
    def from_explanation(cls, explainer: Any, explanation: Any, *, rank: int = 1) -> PathDisplay:
        """Ask the explainer's model about every row on the way."""
        found = chosen(explanation, rank)
        order, scores = walked(explainer, explanation, found)
        speech = Speech(explanation.names)
        steps = ["now"]
        for change in (found.changes[at] for at in order):
            before, after = speech.change(change)
            steps.append(f"{speech.name(change.column)} {before} → {after}")
        return cls(tuple(steps), tuple(scores), explanation.needed, score_name(explanation))

    @property
    def chart(self) -> Bars:
        """A bar for each step, from the score before it to the score after it."""
        before = [min(0.0, *self.scores), *self.scores[:-1]]
        steps = zip(self.steps, before, self.scores, strict=True)
        bars = tuple(Bar(step, to, score_text(to), start=start) for step, start, to in steps)
        axis = score_axis(self.name, self.scores, self.needed)
        return Bars(bars, self.name, bounds=bounds(self.needed), goal=shaded(self.needed, axis))


def walked(explainer: Any, explanation: Any, found: Any) -> tuple[list[int], list[float]]:
    """The changes in the order in which they help most, and the score after each.

    What has causes follows each change; cells that are computed are written with the last one.
    """
    row, target = explanation.source.codes.copy(), found.source.codes
    schema = explanation.source.rows.schema
    left = {at: schema.position(change.column) for at, change in enumerate(found.changes)}
    order, scores = [], [float(explanation.score)]
    while left:
        tries = np.stack([_set(row, target, column) for column in left.values()])
        causal = explainer.engine.fitted.causal
        rows = tries if causal is None else causal.followed(tries, explanation.source.codes)
        if len(left) == 1:
            rows[:] = target
        values = scored(explainer, explanation, rows)
        best = int(values.argmax())
        at = list(left)[best]
        row, _ = tries[best], left.pop(at)
        order.append(at)
        scores.append(float(values[best]))
    return order, scores


def _set(row: Array, target: Array, column: int) -> Array:
    changed = row.copy()
    changed[column] = target[column]
    return changed


def scored(explainer: Any, explanation: Any, codes: Array) -> Array:
    """The scores of rows of codes (n, d) that differ from the query, toward its goal."""
    source = explanation.source
    if explainer.columns != list(source.rows.schema.frame_names):
        raise OptionError("the explanation is of other columns than the explainer's: give its own")
    frame = source.rows.frame(np.full(len(codes), source.query), codes)
    scores: Array = explainer.score(frame, want=_toward(explainer, explanation))
    return scores


def _toward(explainer: Any, explanation: Any) -> Any:
    """The goal as it was for the query, whatever the row that is scored."""
    goal = explanation.goal
    if not isinstance(goal, AnyOf):
        return at_least(0.0, label=goal.label)
    if goal.labels is not None:
        return goal
    return AnyOf(tuple(label for label in explainer.classes if label != explanation.label))


def chosen(explanation: Any, rank: int) -> Any:
    """The counterfactual of a rank, 1 being the best."""
    count = len(explanation.counterfactuals)
    if not 1 <= rank <= count:
        known = f"has {count}" if count else f"has none ({explanation.status})"
        raise OptionError(f"rank={rank}: the explanation {known}")
    return explanation.counterfactuals[rank - 1]
