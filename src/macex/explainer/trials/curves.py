"""How the score goes when one column takes other values and all else stays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from macex.ask.answers import Needed
from macex.errors import SchemaError
from macex.explainer.trials.aims import Aim
from macex.explainer.trials.grids import AxisGrid, grid
from macex.schema import Array
from macex.stages.plausibility.distance import evenly

POINTS = 41
AVERAGED = 40  # training rows whose mean is the average


@dataclass(frozen=True)
class Curves:
    """The score over the values of a column: of each variant, and the average of training rows.

    `places` are where the variants are now, None where their value is not on the axis.
    """

    grid: AxisGrid
    lines: tuple[Array, ...]
    places: tuple[float | None, ...]
    average: Array
    averaged: int
    enough: Needed


def curves(aim: Aim, name: str, variants: Sequence[Array]) -> Curves:
    """The curves of a column for variants of the row, given as codes.

    Each variant is one call to the model, the average another; while the column itself changes
    the lines are known already.
    """
    at = aim.rows.schema.position(name)
    made = grid(aim.rows.schema.columns[at], float(aim.rows.codes[0, at]), POINTS, aim.speech)
    if made is None:
        raise SchemaError(f"column {name!r} has one value only: there is no curve")
    average, averaged = _average(aim, made, at)
    return Curves(
        made,
        tuple(_line(aim, made, at, codes) for codes in variants),
        tuple(made.place(float(codes[at])) for codes in variants),
        average,
        averaged,
        aim.said.enough,
    )


def _line(aim: Aim, made: AxisGrid, at: int, codes: Array) -> Array:
    full = np.repeat(codes[None], len(made.codes), axis=0)
    full[:, at] = made.codes
    full = aim.followed(full)
    return aim.known(("line", aim.rows.codes.tobytes(), full.tobytes()), lambda: aim.scores(full))


def _average(aim: Aim, made: AxisGrid, at: int) -> tuple[Array, int]:
    ground = aim.explainer.engine.fitted.ground
    if ground.private:
        return np.zeros(0), 0
    sample = evenly(np.arange(len(ground.codes)), AVERAGED)

    def asked() -> Array:
        full = np.repeat(ground.codes[sample], len(made.codes), axis=0)
        full[:, at] = np.tile(made.codes, len(sample))
        score = aim.training_scores(full, np.repeat(sample, len(made.codes)))
        return score.reshape(len(sample), -1).mean(axis=0)

    return aim.known(("average", at, made.codes.tobytes()), asked), len(sample)
