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
    coded: dict[str, tuple[Any, Array]] = field(default_factory=dict, repr=False, compare=False)

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
        if isinstance(column, pd.Series) and isinstance(column.dtype, pd.CategoricalDtype):
            return self._of_categories(column.array, name)
        values: Any = column if isinstance(column, pd.Series) else column.to_numpy().astype(object)
        places, distinct = pd.factorize(values)
        codes = self._codes(list(distinct), name)
        self._refuse_unknown(list(distinct), codes[:-1], name)
        return codes[places]

    def _of_categories(self, held: Any, name: str) -> Array:
        """Categories by their codes; a frame of the same type as the last has the same ones."""
        categories, codes = self.coded.get(name, (None, None))
        if categories is not held.categories or codes is None:
            codes = self._codes(held.categories.tolist(), name)
            self.coded[name] = (held.categories, codes)
        found: Array = codes[held.codes]
        if self.strict and np.isnan(found).any():
            seen = np.unique(held.codes[held.codes >= 0])
            self._refuse_unknown(held.categories[seen], codes[seen], name)
        return found

    def _codes(self, values: Sequence[object], name: str) -> Array:
        """What each value is to the model, and behind them what a missing one is."""
        position = {value: float(place) for place, value in enumerate(self.categories[name])}
        return np.array([position.get(value, np.nan) for value in values] + [np.nan])

    def _refuse_unknown(self, values: Sequence[object], codes: Array, name: str) -> None:
        unknown = np.isnan(codes)
        if self.strict and unknown.any():
            value = values[int(unknown.argmax())]
            raise ValueError(
                f"column {name!r} holds {value!r}, a category the model does not know"
                f"{closest(value, self.categories[name])}"
            )


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
