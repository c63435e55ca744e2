"""A frame as the matrix of floats that boosters and networks are asked about."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from macex.errors import ModelError, closest
from macex.schema import Array


@dataclass(frozen=True)
class Matrix:
    """Columns found by name, in the order of the model, as floats; categories as positions.

    Without `names` columns are taken as they stand. A category the model does not know is missing
    to it, or with `strict` an error.

    >>> frame = pd.DataFrame({"job": ["cook", "clerk"], "age": [30, 41]})
    >>> Matrix(("age", "job"), {"job": ("clerk", "cook")})(frame).tolist()
    [[30.0, 1.0], [41.0, 0.0]]
    """

    names: Sequence[str] | None = None
    categories: Mapping[str, Sequence[object]] = field(default_factory=dict)
    width: int | None = None
    strict: bool = False
    spelt: Callable[[str], str] = str  # how the model's library writes a name

    def __call__(self, frame: Any) -> Array:
        """The matrix (n, columns) of a pandas or polars frame or an array."""
        if isinstance(frame, np.ndarray):
            return self._of_array(frame)
        labels = {self.spelt(str(label)): label for label in frame.columns}
        names = list(labels) if self.names is None else self._found(labels)
        self._fits(len(names))
        table = np.empty((len(frame), len(names)))
        for place, name in enumerate(names):
            table[:, place] = self._column(frame[labels[name]], name)
        return table

    def _of_array(self, frame: Array) -> Array:
        self._fits(frame.shape[1])
        try:
            return frame.astype(float)
        except (TypeError, ValueError) as error:
            raise ModelError(f"the model takes numbers: {error}") from error

    def _fits(self, count: int) -> None:
        wanted = self.width if self.names is None else len(self.names)
        if wanted is not None and count != wanted:
            raise ModelError(f"the model was trained on {wanted} columns, data has {count}")

    def _found(self, labels: Mapping[str, Any]) -> list[str]:
        """The model's names; each must be a column, and each column must be one of them."""
        names = list(self.names or ())
        for name in names:
            if name not in labels:
                raise ModelError(
                    f"the model was trained on a column {name!r} that data does not have"
                    f"{closest(name, labels)}"
                )
        extra = [label for label in labels if label not in set(names)]
        if extra:
            raise ModelError(
                f"data has columns the model was not trained on: {', '.join(map(repr, extra))}; "
                "drop them"
            )
        return names

    def _column(self, column: Any, name: str) -> Array:
        known = self.categories.get(name)
        if known is None:
            return as_numbers(column, name)
        values, places = _distinct(column)
        position = {value: float(place) for place, value in enumerate(known)}
        codes = np.array([position.get(value, np.nan) for value in values] + [np.nan])
        if self.strict:
            unknown = [v for v, code in zip(values, codes, strict=False) if np.isnan(code)]
            if unknown:
                raise ValueError(
                    f"column {name!r} holds {unknown[0]!r}, a category the model does not know"
                    f"{closest(unknown[0], known)}"
                )
        return codes[places]


def as_numbers(column: Any, name: str) -> Array:
    """A column as floats, NaN where missing."""
    try:
        if isinstance(column, pd.Series) and not isinstance(column.dtype, np.dtype):
            return column.to_numpy(dtype=float, na_value=np.nan)
        return np.asarray(column.to_numpy(), dtype=float)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"column {name!r} holds {column.dtype}, and the model takes it as a number: "
            "encode it, or wrap the model in a function that does"
        ) from error


def _distinct(column: Any) -> tuple[list[object], Array]:
    """The values of a column, each once, and for each row which one it is, -1 where missing."""
    if isinstance(column, pd.Series) and isinstance(column.dtype, pd.CategoricalDtype):
        held: Any = column.array
        seen = np.unique(held.codes[held.codes >= 0])
        place = np.full(len(held.categories) + 1, -1)
        place[seen] = np.arange(len(seen))
        return held.categories[seen].tolist(), place[held.codes]
    values: Any = column if isinstance(column, pd.Series) else column.to_numpy().astype(object)
    places, distinct = pd.factorize(values)
    return list(distinct), places
