"""One 64-bit key for every row of codes, so that equal rows can be found by sorting numbers."""

from __future__ import annotations

import numpy as np

from macex.schema.cells import Array


def row_keys(codes: Array) -> Array:
    """A key per row over the last axis, equal for equal rows.

    >>> keys = row_keys(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(keys[0] == keys[2]), bool(keys[0] == keys[1])
    (True, False)
    """
    bits = np.ascontiguousarray(codes + 0.0).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
    turn = np.arange(1, codes.shape[-1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (bits ^ (bits >> np.uint64(29))) * (turn | np.uint64(1))
    return np.asarray(mixed.sum(axis=-1, dtype=np.uint64))
