"""Cells: every value of a column is in one of them, and the nearest of each is offered."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from macex.errors import OptionError
from macex.schema import Continuous, Schema
from macex.stages.thresholds import CellGrid, ColumnCells, Thresholds, cells_of

WIDE = np.array([np.inf])


def column(values, kind=None):
    return Schema.infer(pd.DataFrame({"n": values}), {} if kind is None else {"n": kind}).columns[0]


@pytest.mark.parametrize(
    ("values", "borders"),
    [
        (np.arange(20), [3.0, 4.0, 11.0]),
        (np.arange(-8, 9) / 10, [-0.25, 0.0, 0.31]),
        ((np.arange(-8, 9) / 10).astype(np.float32), [-0.25, 0.31]),
    ],
)
def test_every_value_on_the_grid_is_in_exactly_one_cell(values, borders):
    kind = column(values)
    cells = cells_of(kind, np.array(borders))
    inside = (kind.seen[:, None] >= cells.first) & (kind.seen[:, None] <= cells.last)
    assert (inside.sum(axis=1) == 1).all()
    assert np.array_equal(inside.argmax(axis=1), np.searchsorted(borders, kind.seen, "right"))
    assert np.array_equal(cells.home(kind.seen), inside.argmax(axis=1))


def test_numbers_without_a_grid_end_at_the_last_one_before_the_border():
    kind = column(np.random.default_rng(0).normal(size=30))
    cells = cells_of(kind, np.array([0.5]))
    assert cells.first.tolist() == [kind.low, 0.5]
    assert cells.last.tolist() == [np.nextafter(0.5, 0), kind.high]


def test_a_cell_without_a_value_on_the_grid_has_the_one_seen_or_is_left_out():
    kind = column([10, 12, 20, 30], Continuous(step=10))
    cells = cells_of(kind, np.array([11.0, 13.0, 14.0]))
    assert cells.first.tolist() == [10, 12, 20]
    assert cells.last.tolist() == [10, 12, 30]


def test_the_value_of_a_cell_is_the_nearest_to_the_query_within_its_bounds():
    cells = ColumnCells(np.array([0.0, 5.0, 10.0]), np.array([4.0, 9.0, 20.0]), 7.0)
    values, real = cells.nearest(np.array([6.0]), -WIDE, WIDE)
    assert values.tolist() == [[4, 6, 10]]
    values, real = cells.nearest(np.array([30.0]), np.array([3.0]), np.array([8.0]))
    assert values[real].tolist() == [4, 8]
    assert real.tolist() == [[True, True, False]]


def test_a_query_without_a_value_starts_from_the_middle():
    cells = ColumnCells(np.array([0.0, 5.0, 10.0]), np.array([4.0, 9.0, 20.0]), 7.0)
    missing = Schema.infer(pd.DataFrame({"n": [1.0, None]})).read({"n": None}).codes[:, 0]
    assert cells.nearest(missing, -WIDE, WIDE)[0].tolist() == [[4, 7, 10]]


def test_too_many_cells_are_thinned_and_shared_out():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(9000, 4)), columns=list("abcd"))
    columns = Schema.infer(data).columns
    cuts = {kind.name: kind.seen[1:] for kind in columns}
    grid = CellGrid.of(columns, cuts, 1000)
    assert grid.width(0) == 9000
    assert 4000 < grid.rows <= 20_000
    cells = grid.cells[0].thinned(100)
    assert len(cells.first) == 100
    assert (cells.first[0], cells.last[-1]) == (grid.cells[0].first[0], grid.cells[0].last[-1])


@pytest.mark.parametrize("rows", [0, 1.5, True, "many"])
def test_a_limit_is_a_whole_number(rows):
    with pytest.raises(OptionError, match="proof_rows"):
        Thresholds(proof_rows=rows)
