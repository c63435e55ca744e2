"""Codes as the inputs of a torch module: a line of a table for categories, a slope for numbers.

What a caller's `prepare` does to frames (one-hot, scaling) is found out by asking it about rows
that differ in one column, and checked on training rows. Then codes become inputs by few lookups
and one small matrix product, on the device.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from macex.errors import ModelError
from macex.schema import MISSING, Array, Column, Schema

CLOSE = 1e-4
CHECKED = 1000
MOST_LINES = 1 << 16  # of a table that several columns of categories share

Prepare = Callable[[Array], Array]  # rows of codes (n, d) -> inputs (n, F)


@dataclass(frozen=True)
class Embedding:
    """Inputs (n, F) as a sum: a constant, a line for each category, a slope for each number.

    The first line of every column of categories, and `blank`, is what a missing value adds.
    """

    constant: Array  # (F,)
    categories: Array  # (C,) which columns are categories
    lines: tuple[Array, ...]  # for each of them (1 + categories, F)
    numbers: Array  # (M,) which columns are numbers
    center: Array  # (M,) taken from numbers first, so that 32 bits hold what is left
    slope: Array  # (M, F)
    blank: Array  # (M, F)

    def __call__(self, codes: Array) -> Array:
        """The inputs of rows of codes (n, d)."""
        total = np.repeat(self.constant[None], len(codes), axis=0)
        for column, lines in zip(self.categories, self.lines, strict=True):
            total += lines[(np.maximum(codes[:, column], -1.0) + 1.0).astype(np.intp)]
        missing = codes[:, self.numbers] <= MISSING
        plain = np.where(missing, 0.0, codes[:, self.numbers] - self.center)
        return total + plain @ self.slope + missing @ self.blank

    def through(self, weight: Array, bias: Array) -> Embedding:
        """The same followed by a linear layer: inputs @ weight.T + bias."""
        return replace(
            self,
            constant=self.constant @ weight.T + bias,
            lines=tuple(lines @ weight.T for lines in self.lines),
            slope=self.slope @ weight.T,
            blank=self.blank @ weight.T,
        )


class Tables(NamedTuple):
    """The lines of several columns in one table, so that one lookup serves them all.

    Line `codes @ stride[:, g] + first[g]` of table g is what the categories of a row add, where
    the code of a missing one is -1; the first table holds the constant, too.
    """

    lines: tuple[Array, ...]  # for each table g (L, F)
    stride: Array  # (C, G)
    first: Array  # (G,)


def learn_embedding(schema: Schema, codes: Array, prepare: Callable[[Any], Any]) -> Embedding:
    """The embedding that gives what `prepare` gives, found out from training rows (T, d)."""

    def inputs(rows: Array) -> Array:
        return np.asarray(prepare(schema.frame(rows)), dtype=float).reshape(len(rows), -1)

    start = codes[:1]
    origin = inputs(start)[0]
    effects = [
        _effect(column, start, place, inputs) - origin
        for place, column in enumerate(schema.columns)
    ]
    discrete = np.array([column.discrete for column in schema.columns], dtype=bool)
    numbers = np.flatnonzero(~discrete)
    ends = np.array([_ends(schema.columns[at]) for at in numbers], dtype=float).reshape(-1, 2)
    three = np.array([effects[at] for at in numbers]).reshape(len(numbers), 3, len(origin))
    middle = three[:, :2].mean(axis=1)
    found = Embedding(
        constant=origin + middle.sum(axis=0),
        categories=np.flatnonzero(discrete),
        lines=tuple(effects[at] for at in np.flatnonzero(discrete)),
        numbers=numbers,
        center=ends.mean(axis=1),
        slope=(three[:, 1] - three[:, 0]) / (ends[:, 1] - ends[:, 0])[:, None],
        blank=three[:, 2] - middle,
    )
    _check(found, codes, inputs)
    return found


def _ends(column: Column) -> tuple[float, float]:
    """Two different values of a column of numbers."""
    return column.low, column.high if column.high > column.low else column.low + 1.0


def _effect(column: Column, start: Array, place: int, inputs: Prepare) -> Array:
    """The inputs with each category in turn, missing first; or with two numbers, and missing."""
    if column.discrete:
        values = [MISSING, *map(float, range(len(column.table)))]
    else:
        values = [*_ends(column), MISSING]
    asked = [value for value in values if value != MISSING or column.missing]
    rows = np.repeat(start, len(asked), axis=0)
    rows[:, place] = asked
    found = dict(zip(asked, inputs(rows), strict=True))
    middle = inputs(start)[0] if column.discrete else (found[asked[0]] + found[asked[1]]) / 2
    return np.stack([found.get(value, middle) for value in values])


def _check(found: Embedding, codes: Array, inputs: Prepare) -> None:
    """Raise unless the embedding gives what was prepared for some training rows."""
    some = codes[:: max(1, len(codes) // CHECKED)]
    made, told = found(some), inputs(some)
    wrong = ~(np.abs(made - told) <= CLOSE * np.maximum(1.0, np.abs(told).max(axis=0)))
    if wrong.any():
        row, feature = (int(place[0]) for place in np.nonzero(wrong))
        raise ModelError(
            f"prepare is no sum over columns that is linear in numbers: input {feature} is "
            f"{told[row, feature]:g} for a training row, the sum gives {made[row, feature]:g}; "
            "give a function of codes of your own instead"
        )


def tables_of(embedding: Embedding, most: int = MOST_LINES) -> Tables:
    """The lines of all categories, those of columns with few of them joined.

    >>> one, two = np.array([[0.0], [1.0]]), np.array([[0.0], [10.0]])
    >>> none = np.zeros(0, int), np.zeros(0), np.zeros((0, 1)), np.zeros((0, 1))
    >>> joined = tables_of(Embedding(np.array([5.0]), np.arange(2), (one, two), *none))
    >>> joined.lines[0][:, 0].tolist(), joined.first.tolist()
    ([5.0, 6.0, 15.0, 16.0], [3.0])
    """
    groups, members = [embedding.constant[None]], [list[int]()]
    strides = np.zeros(len(embedding.lines))
    for place, lines in enumerate(embedding.lines):
        if len(groups[-1]) * len(lines) > most and members[-1]:
            groups.append(np.zeros_like(embedding.constant)[None])
            members.append([])
        strides[place] = len(groups[-1])
        members[-1].append(place)
        groups[-1] = (lines[:, None] + groups[-1][None]).reshape(-1, len(embedding.constant))
    stride = np.zeros((len(strides), len(groups)))
    for group, places in enumerate(members):
        stride[places, group] = strides[places]
    return Tables(tuple(groups), stride, stride.sum(axis=0))
