"""64-bit keys of rows of codes: equal rows have equal keys.

The key of a row is the sum of the keys of its cells, and a cell's key is a well-mixed hash of its
column and value. So the key of a set of changes is the sum of theirs, in any order; two different
rows share a key with a chance of about 2^-64.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from macex.schema.cells import Array

BLOCK = 65_536  # cells that are hashed at once: few enough for the cache


def cell_keys(codes: Array, columns: Array) -> Array:
    """The key of each cell: `columns` says which column it is in."""
    return _salted(codes, _salts(columns))


def row_keys(codes: Array) -> Array:
    """A key per row over the last axis, equal for equal rows.

    >>> grid = np.stack(np.meshgrid(*[np.arange(20.0)] * 4), axis=-1).reshape(-1, 4)
    >>> len(np.unique(row_keys(grid))) == len(grid)
    True
    """
    salts = _first_salts(codes.shape[-1])
    keys = np.empty(codes.shape[:-1], np.uint64)
    step = max(1, BLOCK * len(codes) // max(1, codes.size))
    for start in range(0, len(codes), step):
        part = slice(start, start + step)
        keys[part] = np.einsum("...c->...", _salted(codes[part], salts))  # a quicker sum
    return keys


def _salted(codes: Array, salts: Array) -> Array:
    bits = np.ascontiguousarray(codes + 0.0).view(np.uint64)
    bits += salts
    return _mix(bits)


def _salts(columns: Array) -> Array:
    return _mix((columns.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15))


@cache
def _first_salts(count: int) -> Array:
    """The salts of the first columns, which nearly every key needs."""
    return _salts(np.arange(count))


def _mix(bits: Array) -> Array:
    """Every input bit reaches every output bit (the finaliser of MurmurHash3); in place."""
    shift, upper = np.uint64(33), np.empty_like(bits)
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53, None):
        np.right_shift(bits, shift, out=upper)
        bits ^= upper
        if factor is not None:
            bits *= np.uint64(factor)
    return bits
