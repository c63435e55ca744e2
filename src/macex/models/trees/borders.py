"""Where the tests of splits turn: the smallest value of a column that no longer goes to the left.

The turn is found by halving, over the values that the column can be set to and with the test and
the steps before it as they are. So rounding (to float32, in a scaler) is right by construction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from macex.models.trees.readers import Reading, readings, unreadable
from macex.models.trees.trace import ANY, path
from macex.schema import MISSING, Array, Column, Schema


def cuts(model: Any, schema: Schema) -> dict[str, Array]:
    """For every column of numbers the values, sorted, at which a new cell begins.

    Between two cuts the model's answer cannot depend on the column. Cuts outside the column's
    range are left out.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> ages = np.array([[20], [30], [40], [50]])
    >>> tree = DecisionTreeClassifier().fit(ages, [0, 0, 1, 1])
    >>> cuts(tree, Schema.infer(ages))
    {'x0': array([36.])}
    """
    found: dict[str, list[Array]] = {
        column.name: [np.zeros(0)] for column in schema.columns if not column.discrete
    }
    for reading in readings(model):
        for at, borders in _borders(reading, schema).items():
            found[schema.names[at]].append(borders)
    return {name: np.unique(np.concatenate(parts)) for name, parts in found.items()}


def _borders(reading: Reading, schema: Schema) -> dict[int, Array]:
    """The cuts of one set of splits, by column of the schema."""
    way = path(schema, reading.steps)
    if way.source is None:
        return {}
    place = _places(reading, schema, len(way.source))
    source = np.array(way.source)
    _refuse_categories(reading, schema, source[place])
    column = source[place[reading.splits.feature]]
    splits = np.column_stack([column, place[reading.splits.feature], reading.splits.threshold])
    splits = np.unique(splits[column != ANY], axis=0)
    if not len(splits):  # only categories are asked about
        return {}
    column, feature = splits[:, 0].astype(int), splits[:, 1].astype(int)
    start = np.array([_some_value(column) for column in schema.columns])

    def goes_left(values: Array) -> Array:
        rows = np.repeat(start[None], len(values), axis=0)
        rows[np.arange(len(rows)), column] = values
        matrix = way.matrix(rows)
        return reading.splits.left(matrix[np.arange(len(rows)), feature], splits[:, 2])

    turns = _halved(goes_left, [schema.columns[at] for at in column])
    return {int(at): turns[(column == at) & ~np.isnan(turns)] for at in np.unique(column)}


def _places(reading: Reading, schema: Schema, width: int) -> Array:
    """For each feature of the trees its position among the outputs of the steps."""
    names = reading.splits.names
    if reading.subset is not None:
        return np.asarray(reading.subset, dtype=int)
    if names is not None and not reading.steps and set(names) == set(schema.frame_names):
        return np.array([schema.frame_names.index(name) for name in names])
    if names is not None and len(names) != width:
        raise unreadable(f"the trees have {len(names)} features, the rows {width}")
    return np.arange(width)


def _refuse_categories(reading: Reading, schema: Schema, source: Array) -> None:
    for feature in sorted(reading.splits.categorical):
        at = source[feature]
        if at != ANY:
            name = schema.names[at]
            raise unreadable(
                f"the trees take column {name!r} for categories: say so in the schema, "
                f'{{{name!r}: "categorical"}}'
            )


def _some_value(column: Column) -> float:
    return float(column.seen[0]) if len(column.seen) else MISSING


def _halved(goes_left: Any, columns: list[Column]) -> Array:
    """For each test the smallest value that fails it, NaN where its column's range has no turn."""
    whose = {id(column): column for column in columns}
    groups = [
        (Ladder(column), np.flatnonzero([other is column for other in columns]))
        for column in whose.values()
    ]
    low, high = np.zeros(len(columns), np.int64), np.zeros(len(columns), np.int64)
    for ladder, mine in groups:
        low[mine], high[mine] = ladder.ends

    def left(ranks: Array) -> Array:
        return np.asarray(goes_left(_values(groups, ranks)))

    turns = left(low) & ~left(high)
    while (low + 1 < high).any():
        middle = (low & high) + ((low ^ high) >> 1)  # their mean, which never overflows
        small = left(middle)
        low, high = np.where(small, middle, low), np.where(small, high, middle)
    return np.where(turns, _values(groups, high), np.nan)


def _values(groups: list[tuple[Ladder, Array]], ranks: Array) -> Array:
    values = np.zeros(len(ranks))
    for ladder, mine in groups:
        values[mine] = ladder.values(ranks[mine])
    return values


class Ladder:
    """The values that a column can be set to, in order: its grid, or all that its dtype holds."""

    def __init__(self, column: Column) -> None:
        times = column.kind == "datetime"
        self.column, self.kind = column, np.dtype(float) if times else column.storage.numbers
        held = bool(column.step) and np.array_equal(column.held(column.seen), column.seen)
        self.step = column.step if held else float(self.kind.kind != "f")

    @property
    def ends(self) -> tuple[int, int]:
        """The ranks of the first and last value of the column's range."""
        low, high = self.column.low, self.column.high
        if self.step:
            first, last = np.rint(np.array([low, high]) / self.step)
            held = self.values(np.array([first, last]))
            return int(first + (held[0] < low)), int(last - (held[1] > high))
        first, last = ordered_bits(np.array([low, high]), self.kind)
        return int(first), int(last)

    def values(self, ranks: Array) -> Array:
        """The values of some ranks."""
        if self.step:
            return self.column.held(ranks * self.step)
        return from_ordered_bits(ranks, self.kind)


def ordered_bits(values: Array, kind: np.dtype[Any]) -> Array:
    """Floats as whole numbers in the same order, neighbours being one apart.

    >>> np.diff(ordered_bits(np.array([-0.0, 1e-45]), np.dtype("f4"))).tolist()
    [1]
    """
    bits = (values + 0.0).astype(kind).view(f"i{kind.itemsize}").astype(np.int64)
    least = np.int64(-(2 ** (8 * kind.itemsize - 1)))
    return np.where(bits < 0, least - bits, bits)


def from_ordered_bits(ranks: Array, kind: np.dtype[Any]) -> Array:
    """The floats, as float64, that `ordered_bits` gives these numbers."""
    least = np.int64(-(2 ** (8 * kind.itemsize - 1)))
    bits = np.where(ranks < 0, least - ranks, ranks).astype(f"i{kind.itemsize}")
    return bits.view(kind).astype(np.float64)
