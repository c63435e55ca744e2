"""The decision along one column or two, everything else as in the query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from typing import Any

import numpy as np

from macex.ask.needed import Needed
from macex.errors import OptionError
from macex.render.plots.canvas import EDGE, INK, QUIET, axes, mark_goal, score_name
from macex.render.plots.scoring import chosen, scored
from macex.render.speech import Speech
from macex.schema import Array, special

MOST = 40  # categories of a column that are drawn


@dataclass(frozen=True)
class Axis:
    """The values of one column that were asked about, and where they lie on the axis.

    `texts` are those of categories. The places of query and counterfactual are empty where they
    lie nowhere: a missing number, or no counterfactual.
    """

    name: str
    codes: Array
    places: Array
    texts: tuple[str, ...]
    query: Array
    found: Array


@dataclass
class DecisionDisplay:
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
    figure_: Any = field(default=None, repr=False)
    ax_: Any = field(default=None, repr=False)

    @classmethod
    def from_explanation(
        cls,
        explainer: Any,
        explanation: Any,
        columns: str | Sequence[str],
        *,
        rank: int | None = None,
        points: int = 60,
        ax: Any = None,
    ) -> DecisionDisplay:
        """Ask the explainer's model about every point, and draw.

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
        made = cls(
            along,
            _grid(explainer, explanation, names, along),
            explanation.needed,
            explanation.score,
            None if found is None else found.score,
            score_name(explanation),
            found is None or {change.column for change in found.changes} <= set(names),
        )
        return made.plot(ax)

    def plot(self, ax: Any = None) -> DecisionDisplay:
        """Draw on these axes, or on new ones."""
        ax = axes(ax, (6, 3.6 if len(self.along) == 1 else 4.6))
        if len(self.along) == 1:
            self._line(ax)
        else:
            self._map(ax)
        above = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": 2}
        ax.legend(frameon=False, fontsize="small", **above)
        self.figure_, self.ax_ = ax.figure, ax
        return self

    def _line(self, ax: Any) -> None:
        (axis,) = self.along
        style = "o" if axis.texts else "-"
        ax.plot(axis.places, self.scores, style, color=QUIET, ms=4, lw=1.5, zorder=2)
        found = [] if self.found_score is None else [self.found_score]
        self._marks(ax, [self.query_score], found)
        mark_goal(ax, self.needed, "y")
        _label_x(ax, axis)
        ax.set_ylabel(self.name)

    def _map(self, ax: Any) -> None:
        across, up = self.along
        shade = ax.pcolormesh(
            across.places, up.places, self.scores.T, cmap="BuGn", shading="nearest", rasterized=True
        )
        ax.figure.colorbar(shade, ax=ax, label=self.name)
        bounds = [bound for bound in (self.needed.low, self.needed.high) if isfinite(bound)]
        inside = [b for b in bounds if self.scores.min() < b < self.scores.max()]
        if inside and not (across.texts or up.texts):
            ax.contour(across.places, up.places, self.scores.T, levels=inside, colors=EDGE)
        self._marks(ax, up.query, up.found)
        _label_x(ax, across)
        _label_y(ax, up)

    def _marks(self, ax: Any, query: Any, found: Any) -> None:
        """A mark for the query and one for the counterfactual, where they lie on both axes."""
        first = self.along[0]
        mark = {"ls": "", "ms": 8, "zorder": 4, "clip_on": False, "marker": "o"}
        if len(first.query) and len(query):
            ax.plot(first.query, query, color="white", mec=INK, label="query", **mark)
        if len(first.found) and len(found):
            label = "counterfactual" if self.alone else "counterfactual, with its other changes"
            ax.plot(first.found, found, color=INK, mec="white", label=label, **mark)


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
        places = partial(_position, codes)
    else:
        low, high = min([column.low, *own, *then]), max([column.high, *own, *then])
        codes = np.unique([*column.held(np.linspace(low, high, points)), *own, *then])
        texts = ()
        places = partial(_measured, column)
    return Axis(speech.name(name), codes, places(codes), texts, places(own), places(then))


def _known(code: float) -> Array:
    """A code as an array of one, or of none for a missing or unknown value."""
    codes = np.array([code])
    return codes[~special(codes)]


def _position(among: Array, codes: Array) -> Array:
    """Where codes stand among sorted ones."""
    places: Array = np.searchsorted(among, codes)
    return places


def _measured(column: Any, codes: Array) -> Array:
    """Codes of numbers as numbers, of times as times, of durations as days."""
    if column.kind != "datetime":
        return codes
    if column.storage.numbers.kind == "m":
        days: Array = codes / 86_400
        return days
    stamps: Array = column.clock.stamps(codes).astype("datetime64[us]")
    return stamps


def _label_x(ax: Any, axis: Axis) -> None:
    ax.set_xlabel(axis.name)
    if axis.texts:
        long = sum(map(len, axis.texts)) > 50
        turn = {"rotation": 45, "ha": "right"} if long else {}
        ax.set_xticks(axis.places, axis.texts, **turn)


def _label_y(ax: Any, axis: Axis) -> None:
    ax.set_ylabel(axis.name)
    if axis.texts:
        ax.set_yticks(axis.places, axis.texts)
