"""Mechanisms that another library has fitted, such as the invertible ones of DoWhy's `gcm`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import ConstraintError
from macex.schema import Array, Schema, special


@dataclass(frozen=True)
class Known:
    """An effect whose mechanism tells the noise of a row and takes it back.

    It has `estimate_noise(values, causes)` and `evaluate(causes, noise)`, and reads its causes as
    a table in the order of their names.
    """

    schema: Schema
    column: int
    columns: tuple[int, ...]  # in the order of their names
    mechanism: Any
    estimated: bool = True
    how: str = "known"

    def __call__(self, new: Array, old: Array) -> Array:
        """The codes of the column in the new rows (n, d), which started from the old ones."""
        kind, own = self.schema.columns[self.column], old[:, self.column]
        known = ~special(new[:, list(self.columns)]).any(axis=1)
        known &= ~special(old[:, [*self.columns, self.column]]).any(axis=1)
        result, at = own.copy(), np.flatnonzero(known)
        if not len(at):
            return result
        noise = self.mechanism.estimate_noise(own[at][:, None], self._table(old[at]))
        made = self.mechanism.evaluate(self._table(new[at]), noise)
        value = np.round(np.asarray(made, dtype=float).reshape(len(at)), 9)
        result[at] = kind.in_dtype(value)
        return result

    def drawn(self, new: Array, old: Array, number: int, uniform: Array) -> Array:  # noqa: ARG002
        """The same: how sure it is, is not known."""
        return self(new, old)

    def _table(self, codes: Array) -> Array:
        kinds = [self.schema.columns[place] for place in self.columns]
        if not any(kind.discrete for kind in kinds):
            return codes[:, list(self.columns)]
        cells = [
            np.array([kind.value(code) for code in codes[:, place].tolist()], dtype=object)
            if kind.discrete
            else codes[:, place].astype(object)
            for kind, place in zip(kinds, self.columns, strict=True)
        ]
        return np.column_stack(cells)


def known_mechanism(schema: Schema, place: int, parents: tuple[int, ...], mechanism: Any) -> Known:
    """A mechanism of another library for a number."""
    kind = schema.columns[place]
    if kind.discrete or not hasattr(mechanism, "evaluate"):
        raise ConstraintError(
            f"the mechanism of {kind.name!r}, {type(mechanism).__name__}, cannot be used: leave it "
            "out to have one fitted, or state an expression"
        )
    ordered = tuple(sorted(parents, key=lambda parent: schema.names[parent]))
    return Known(schema, place, ordered, mechanism)
