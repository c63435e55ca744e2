"""The cells of a tree model, read once and checked against the model itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from macex.errors import OptionError
from macex.models.quick import Quick
from macex.models.trees import cuts
from macex.schema import Array, special
from macex.stages.thresholds import CellGrid, Thresholds

if TYPE_CHECKING:
    from macex.ask.answers import Answers
    from macex.ask.units import Ground
    from macex.engine.options import Options
    from macex.models.oracle import Oracle

SAMPLE = 256


def grid_of(
    model: Any, oracle: Oracle, ground: Ground, answers: Answers, options: Options
) -> CellGrid | None:
    """The cells that the model's splits make, if candidates are to be made of them."""
    choice = options.candidates
    if not isinstance(choice, Thresholds):
        return None
    trees = model if choice.trees is None else choice.trees
    trees = trees.original if isinstance(trees, Quick) else trees
    grid = CellGrid.of(ground.schema.columns, cuts(trees, ground.schema), choice.proof_rows)
    _check(grid, oracle, ground, answers)
    return grid


def _check(grid: CellGrid, oracle: Oracle, ground: Ground, answers: Answers) -> None:
    """Refuse cells within which the model's answers differ: it is not what was read."""
    at = np.unique(np.linspace(0, len(ground.codes) - 1, SAMPLE).astype(int))
    codes, said = ground.codes[at], answers.scores[at]
    if _same(oracle, ground, _moved(grid, codes, list(grid.cells)), said):
        return
    for column in grid.cells:
        moved = _moved(grid, codes, [column])
        if not _same(oracle, ground, moved, said):
            name = ground.schema.names[column]
            raise OptionError(
                f'candidates="thresholds": the model answers differently for values of {name!r} '
                "between which the trees have no split; something else than these trees answers"
            )


def _same(oracle: Oracle, ground: Ground, codes: Array, said: Array) -> bool:
    now = oracle(ground.schema.frame(codes), len(codes)).scores
    return bool(np.allclose(now, said, rtol=1e-4, atol=10 * oracle.outlook.unit))


def _moved(grid: CellGrid, codes: Array, columns: list[int]) -> Array:
    """Rows whose numbers are moved to an end of their cells: the first and the last in turn."""
    moved = codes.copy()
    for column in columns:
        cells, own = grid.cells[column], codes[:, column]
        if not len(cells.first):
            continue
        home = cells.home(own)
        inside = ~special(own) & (own >= cells.first[home]) & (own <= cells.last[home])
        end = np.where(np.arange(len(own)) % 2, cells.first[home], cells.last[home])
        moved[:, column] = np.where(inside, end, own)
    return moved
