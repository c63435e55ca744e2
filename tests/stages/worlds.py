"""Small worlds for single stages: a space from frames, and a judge that is a plain function."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.answers import Verdict
from macex.ask.compilation import build_space
from macex.ask.constraints import Constraints
from macex.ask.space import Space
from macex.ask.units import Ground
from macex.schema import Array, Schema
from macex.stages.candidates import Candidates, remaining
from macex.stages.distance import learn_scales
from macex.stages.draws import Draws, column_keys, row_keys
from macex.stages.shapes import Task


def space_of(data: pd.DataFrame, rows: pd.DataFrame | None = None, **wish: Any) -> Space:
    """The space of `rows` (the first row of `data` if not given) under constraints."""
    schema = Schema.infer(data)
    ground = Ground(schema, schema.read(data).codes)
    read = schema.read(data.head(1) if rows is None else rows)
    return build_space(ground, read, [Constraints(**wish)] * len(read))


class PlainJudge:
    """Calls a function of codes by unit; the goal is reached above one half."""

    def __init__(self, chance: Callable[[Array], Array], queries: int) -> None:
        self.chance = chance
        self.ran_out = np.zeros(queries, bool)
        self.finished = np.zeros(queries, bool)
        self.late = self.capped = False
        self.sizes: list[int] = []

    def __call__(
        self, codes: Array, at: Array, *, probe: bool = False, turn=None, told=True
    ) -> Verdict:
        self.sizes.append(len(codes))
        score = self.chance(codes)
        return Verdict(score > 0.5, score, score - 0.5)

    def affordable(self, at: Array, turn: Any) -> Array:
        """All rows, whatever they cost."""
        return np.ones(len(at), bool)

    def renew(self, queries: Array, rows: int) -> None:
        """Nothing is ever spent."""

    def rationed(self, least: int = 0) -> nullcontext[None]:
        """Nothing is ever short."""
        return nullcontext()


def task_of(
    space: Space, chance: Callable[[Array], Array], prefer: Any = "fewest", count: int = 1
) -> Task:
    """A batch whose goal is a chance above one half."""
    scales = learn_scales(space.ground.schema, space.ground.codes)

    def measure(codes: Array, at: Array) -> Array:
        return scales.total(space.own[at], space.columns(codes, at))

    keys = column_keys([unit.name for unit in space.units])
    return Task(
        space=space,
        judge=PlainJudge(chance, len(space)),
        measure=measure,
        drawn=lambda: Draws(row_keys(0, space.ground.schema.names, space.own), keys),
        base=chance(space.queries) - 0.5,
        bounded=np.zeros(len(space), bool),
        count=count,
        prefer=prefer,
        rest=partial(remaining, space),
    )


def offered(space: Space, candidates: Candidates, query: int = 0) -> dict[str, list[float]]:
    """The values on offer to a query, by the name of their unit, in the order of offering."""
    found: dict[str, list[float]] = {}
    for entry in np.flatnonzero(candidates.real[query]):
        name = space.units[candidates.unit[entry]].name
        found.setdefault(name, []).append(float(candidates.value[query, entry]))
    return found
