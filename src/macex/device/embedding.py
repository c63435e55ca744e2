"""Codes as the inputs of a torch module: a line of a table for every category, a slope for numbers.

What a caller's `prepare` does to frames (one-hot, scaling) is found out by asking it about rows
that differ in one column, and checked on training rows. Then codes become inputs by one gather and
one matrix product, on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from macex.errors import ModelError
from macex.models.kinds.matrix import Matrix
from macex.models.optional import needed
from macex.schema import MISSING, Array, Column, Schema

if TYPE_CHECKING:
    from macex.explainer import Explainer

CLOSE = 1e-4
CHECKED = 1000


@dataclass(frozen=True)
class Tables:
    """Inputs (n, F) as a sum: a constant, a line for each category, a slope for each number."""

    constant: Array  # (F,)
    lines: Array  # (L, F) of all categories of all columns, one column after the other
    first: Array  # (C,) where the lines of each column of categories begin; line 0 is for missing
    categories: Array  # (C,) which columns are categories
    numbers: Array  # (M,) which columns are numbers
    center: Array  # (M,) taken from numbers first, so that 32 bits hold what is left
    slope: Array  # (M, F)
    blank: Array  # (M, F) what a missing number adds

    def __call__(self, codes: Array) -> Array:
        """The inputs of rows of codes (n, d)."""
        total = np.repeat(self.constant[None], len(codes), axis=0)
        for place, column in enumerate(self.categories):
            code = codes[:, column]
            line = np.where(code <= MISSING, 0, code + 1).astype(np.intp)
            total += self.lines[self.first[place] + line]
        missing = codes[:, self.numbers] <= MISSING
        plain = np.where(missing, 0.0, codes[:, self.numbers] - self.center)
        return total + plain @ self.slope + missing @ self.blank


def learn_tables(schema: Schema, codes: Array, prepare: Callable[[Any], Any]) -> Tables:
    """The tables that give what `prepare` gives, found out from training rows (T, d)."""
    start = codes[:1]

    def inputs(rows: Array) -> Array:
        return np.asarray(prepare(schema.frame(rows)), dtype=float).reshape(len(rows), -1)

    origin = inputs(start)[0]
    constant, lines, first, center, slope, blank = origin.copy(), [], [], [], [], []
    groups: dict[bool, list[int]] = {True: [], False: []}
    for place, column in enumerate(schema.columns):
        groups[column.discrete].append(place)
        effect = _effect(column, start, place, inputs) - origin
        if column.discrete:
            first.append(sum(map(len, lines)))
            lines.append(effect)
            continue
        low, high = _ends(column)
        rise = (effect[1] - effect[0]) / (high - low)
        slope.append(rise)
        center.append((low + high) / 2)
        middle = (effect[0] + effect[1]) / 2
        constant += middle
        blank.append(effect[2] - middle)
    width = (0, len(origin))
    found = Tables(
        constant,
        np.concatenate([*lines, np.zeros(width)]),
        np.array(first, dtype=np.intp),
        np.array(groups[True], dtype=np.intp),
        np.array(groups[False], dtype=np.intp),
        np.array(center, dtype=float),
        np.concatenate([*(row[None] for row in slope), np.zeros(width)]),
        np.concatenate([*(row[None] for row in blank), np.zeros(width)]),
    )
    _check(found, codes, inputs)
    return found


def _ends(column: Column) -> tuple[float, float]:
    """Two different values of a column of numbers."""
    return column.low, column.high if column.high > column.low else column.low + 1.0


def _effect(
    column: Column, start: Array, place: int, inputs: Callable[[Array], Array]
) -> Array:
    """The inputs with each category in turn, missing first; or with two numbers, and missing."""
    if column.discrete:
        values = [MISSING, *map(float, range(len(column.table)))]
    else:
        values = [*_ends(column), MISSING]
    able = column.storage.nullable and column.missing
    asked = [value for value in values if value != MISSING or able]
    rows = np.repeat(start, len(asked), axis=0)
    rows[:, place] = asked
    found = dict(zip(asked, inputs(rows), strict=True))
    stand_in = found[asked[0]]
    return np.stack([found.get(value, stand_in) for value in values])


def _check(found: Tables, codes: Array, inputs: Callable[[Array], Array]) -> None:
    """Raise unless the tables give what was prepared for some training rows."""
    some = codes[:: max(1, len(codes) // CHECKED)]
    made, told = found(some), inputs(some)
    wrong = np.abs(made - told) > CLOSE * np.maximum(1.0, np.abs(told).max(axis=0))
    if wrong.any():
        row, feature = (int(place[0]) for place in np.nonzero(wrong))
        raise ModelError(
            f"prepare is no sum over columns that is linear in numbers: input {feature} of training "
            f"row {row} is {told[row, feature]:g}, the sum gives {made[row, feature]:g}; give a "
            "function of codes of your own instead"
        )


class TorchScores:
    """A torch module as a function of codes, on the device of the module.

    Parameters
    ----------
    explainer : whose columns the codes are of.
    module : a network of dense float32 inputs, one row each, as after `prepare`.
    prepare : turns a frame into the inputs of the module: one-hot, scaling and the like, so that
        each input is a sum over columns. Without it the columns must be numbers.
    logits : the outputs are log odds: sigmoid of one, softmax of many.
    """

    def __init__(
        self,
        explainer: Explainer,
        module: Any,
        prepare: Callable[[Any], Any] | None = None,
        *,
        logits: bool = False,
    ) -> None:
        self._torch = needed("torch", "torch")
        codes = explainer._fitted.ground.codes  # noqa: SLF001 - the training rows it has learnt
        self.tables = learn_tables(explainer.schema, codes, prepare or Matrix())
        self.module, self.logits = module, logits
        weight = next(module.parameters(), None)
        self.device = self._torch.device("cpu") if weight is None else weight.device
        self._parts = {name: self._moved(value) for name, value in vars(self.tables).items()}
        self._shift = self._moved(self.tables.first + 1.0)
        self._missing = bool(self.tables.blank.any())

    def _moved(self, values: Array) -> Any:
        """A table of 32 bits, an index, or a line of numbers to be added to codes."""
        torch = self._torch
        exact = torch.int64 if values.dtype.kind in "iu" else torch.float64
        kind = torch.float32 if values.ndim == 2 else exact
        return torch.as_tensor(values, dtype=kind, device=self.device)

    def inputs(self, codes: Any) -> Any:
        """The inputs (n, F) of rows of codes (n, d), float32."""
        torch, parts = self._torch, self._parts
        total = parts["constant"].to(torch.float32)
        if len(self.tables.categories):
            chosen = codes[:, parts["categories"]].clamp(min=-1.0).add_(self._shift)
            bag = torch.nn.functional.embedding_bag
            total = bag(chosen.to(torch.int32), parts["lines"], mode="sum").add_(total)
        if not len(self.tables.numbers):
            return total
        numbers = codes[:, parts["numbers"]]
        missing = numbers <= MISSING
        plain = (numbers - parts["center"]).masked_fill_(missing, 0.0).to(torch.float32)
        total = torch.addmm(total, plain, parts["slope"])
        return total + missing.to(torch.float32) @ parts["blank"] if self._missing else total

    def __call__(self, codes: Any) -> Any:
        """The scores of rows of codes (n, d)."""
        torch = self._torch
        with torch.inference_mode():
            outputs = self.module(self.inputs(codes))
            if not self.logits:
                return outputs
            if outputs.ndim == 2 and outputs.shape[1] == 2:
                outputs = outputs[:, 1] - outputs[:, 0]
            outputs = outputs.to(torch.float64)
            many = outputs.ndim == 2 and outputs.shape[1] > 2
            return torch.softmax(outputs, dim=1) if many else torch.sigmoid(outputs)
