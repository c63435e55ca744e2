"""Random numbers as a function of what they are for, never of when they are drawn.

A draw is a counter-based integer hash of (seed, the row's own content, the column's name, a
stream, a counter). So the draws of a row do not depend on which rows share its batch, on their
order, or on the number of workers.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from macex.schema import Array

if TYPE_CHECKING:
    from collections.abc import Sequence


_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MUL_A = np.uint64(0xBF58476D1CE4E5B9)
_MUL_B = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True)
class Draws:
    """The random numbers of a batch: one key per query, one per column."""

    rows: Array  # (Q,) uint64
    columns: Array  # (U,) uint64

    def uniform(self, stream: str, start: int, count: int) -> Array:
        """Numbers in (0, 1), shape (Q, count, U): entries `start` to `start + count` of a stream.

        >>> draws = Draws(row_keys(0, ["a"], np.array([[1.0]])), column_keys(["a"]))
        >>> bool(draws.uniform("demo", 0, 3)[0, 2, 0] == draws.uniform("demo", 2, 1)[0, 0, 0])
        True
        """
        counter = np.arange(start, start + count, dtype=np.uint64) * _GOLDEN + _text_key(stream)
        key = _mix(self.rows[:, None] ^ _mix(counter)[None, :])
        bits = _mix(key[:, :, None] ^ self.columns[None, None, :])
        return ((bits >> np.uint64(12)).astype(float) + 0.5) * 2.0**-52

    def normal(self, stream: str, start: int, count: int) -> Array:
        """Standard normal numbers, shape (Q, count, U)."""
        from scipy.special import ndtri  # slow to import, and seldom needed

        numbers: Array = ndtri(self.uniform(stream, start, count))
        return numbers

    def take(self, who: Array) -> Draws:
        """The draws of some of the queries."""
        return Draws(self.rows[who], self.columns)

    def of(self, at: Array, codes: Array) -> Draws:
        """The draws of single examples: keyed by their query and their own content."""
        own = _mix(_bits(codes) ^ self.columns).sum(axis=1, dtype=np.uint64)
        return Draws(_mix(self.rows[at] ^ own), self.columns)


def row_keys(seed: int, names: Sequence[str], codes: Array) -> Array:
    """One key per row from its content by column name, whatever the order of columns."""
    keys = _mix(_bits(codes) ^ column_keys(names)).sum(axis=1, dtype=np.uint64)
    return _mix(keys ^ _mix(np.array([seed % 2**64], dtype=np.uint64)))


def column_keys(names: Sequence[str]) -> Array:
    """One key per column from its name."""
    return np.array([_text_key(name) for name in names], dtype=np.uint64).reshape(-1)


def _bits(values: Array) -> Array:
    return np.ascontiguousarray(values + 0.0).view(np.uint64)


def _mix(keys: Array) -> Array:
    """Scramble 64-bit integers (the finaliser of splitmix64)."""
    keys = keys + _GOLDEN
    keys = (keys ^ (keys >> np.uint64(30))) * _MUL_A
    keys = (keys ^ (keys >> np.uint64(27))) * _MUL_B
    mixed: Array = keys ^ (keys >> np.uint64(31))
    return mixed


@cache
def _text_key(text: str) -> np.uint64:
    key = 0xCBF29CE484222325
    for byte in text.encode():
        key = ((key ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return np.uint64(key)
