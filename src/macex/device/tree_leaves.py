"""From codes to sums of leaves, in torch.

On a GPU `torch.compile` makes one kernel of the sums, which is several times quicker than step by
step: what the tables leave of a row's leaves is an entry for every row and tree, and need not go
through memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from macex.device.arrays import ArrayPlace
from macex.device.tree_tables import Batch
from macex.errors import needed
from macex.schema import MISSING

MANTISSA = 23  # bits of a number of 32 that are behind its exponent


class Placed(NamedTuple):
    """A batch of trees on a device.

    The states of columns (n, d), which are codes but for numbers and blanks, times `strides` are
    the lines (n, tables) that a row is in.
    """

    cuts: list[tuple[int, Any]]  # of the columns of numbers that matter
    blanks: Any  # (d,) the state of a missing value; None where there is none
    strides: Any  # (d, tables) float64
    masks: list[Any]  # of each table (lines, P)
    values: Any  # (190, P)


def placed(batch: Batch, width: int, place: ArrayPlace, *, gaps: bool) -> Placed:
    """A batch on a device, for codes of a number of columns, with or without missing values."""
    strides, blanks, cuts = np.zeros((width, len(batch.tables))), np.zeros(width), []
    for at, table in enumerate(batch.tables):
        lines = 1
        for states in table.columns:
            strides[states.column, at] = lines
            lines *= len(states.masks)
            blanks[states.column] = len(states.masks) - 1
            if states.cuts is not None:
                cuts.append((states.column, place.array(states.cuts)))
    return Placed(
        cuts,
        place.array(blanks) if gaps else None,
        place.array(strides),
        [place.array(table.masks) for table in batch.tables],
        place.array(batch.values),
    )


def lines_of(codes: Any, batch: Placed) -> Any:
    """Which line of each table rows of codes (n, d) are in, (n, tables)."""
    torch = needed("torch", "torch")
    states = codes.clone() if batch.cuts else codes
    for column, cuts in batch.cuts:
        states[:, column] = torch.searchsorted(cuts, codes[:, column].contiguous(), right=True)
    if batch.blanks is not None:
        states = torch.where(codes <= MISSING, batch.blanks, states)
    return (states @ batch.strides).to(torch.int64)


def leaf_sums(masks: Sequence[Any], lines: Any, values: Any, classes: int) -> Any:
    """What the leaves of rows add to each class, (n, classes).

    All `masks` (lines, P) together leave one bit b of each piece, or none; what its leaf adds is in
    line 127 + b of `values`, or in the first.
    """
    torch = needed("torch", "torch")
    left = masks[0][lines[:, 0]]
    for at, table in enumerate(masks[1:], start=1):
        left = left & table[lines[:, at]]
    exponent = left.to(torch.float32).view(torch.int32) >> MANTISSA
    leaves = values.gather(0, exponent.to(torch.int64))
    return leaves.view(len(leaves), classes, -1).sum(dim=2, dtype=torch.float64)
