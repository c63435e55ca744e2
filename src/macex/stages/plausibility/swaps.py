"""Copies of rows in which one to three cells were replaced by values from elsewhere.

Two of three new values come from other rows, which keeps how often each value occurs and breaks
what goes with what. The third is any value of the column, however rare, because a row may look
strange by a single value, too.
"""

from __future__ import annotations

import numpy as np

from macex.schema import Array

MOST_CELLS = 3
TRIES = 6  # draws until a new value differs from the old one


def swapped(rows: Array, source: Array, draw: np.random.Generator) -> tuple[Array, Array]:
    """Copies of `rows` (n, d) with cells from `source` (T, d); which have a cell that differs.

    >>> rows = np.array([[0.0, 5.0], [1.0, 5.0]])
    >>> copies, differs = swapped(rows, rows, np.random.default_rng(0))
    >>> copies.tolist(), differs.tolist()
    ([[1.0, 5.0], [0.0, 5.0]], [True, True])
    """
    copies = rows.copy()
    seen = [np.unique(column) for column in source.T]
    varied = np.flatnonzero([len(values) > 1 for values in seen])
    if not len(varied) or not len(rows):
        return copies, np.zeros(len(rows), bool)
    cells = np.minimum(draw.integers(1, MOST_CELLS + 1, len(rows)), len(varied))
    turn = draw.random((len(rows), len(varied))).argsort(axis=1)
    for place in range(min(MOST_CELLS, len(varied))):
        who = np.flatnonzero(cells > place)
        column = varied[turn[who, place]]
        copies[who, column] = _other(rows[who, column], column, source, seen, draw)
    return copies, (copies != rows).any(axis=1)


def _other(
    old: Array, column: Array, source: Array, seen: list[Array], draw: np.random.Generator
) -> Array:
    """A value of each cell's column, another one than the cell's where a few draws find one."""
    new, rare = old.copy(), draw.random(len(old)) < 1 / 3
    sizes = np.array([len(values) for values in seen])
    every, start = np.concatenate(seen), np.cumsum(sizes) - sizes
    for _ in range(TRIES):
        open_ = np.flatnonzero(new == old)
        if not len(open_):
            break
        mine, chance = column[open_], draw.random(len(open_))
        common = source[(chance * len(source)).astype(int), mine]
        any_one = every[start[mine] + (chance * sizes[mine]).astype(int)]
        new[open_] = np.where(rare[open_], any_one, common)
    return new
