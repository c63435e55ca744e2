"""What the training data says about each column: kind, values, range and grid."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from macex.errors import SchemaError, closest
from macex.schema.blocks import find_blocks
from macex.schema.cells import Cells, all_numbers, distinct, numbers, plain, types_of
from macex.schema.codes import encode
from macex.schema.columns import Column, Floats, Storage, on_grid
from macex.schema.kinds import (
    Categorical,
    Continuous,
    Datetime,
    Kind,
    KindName,
    OneHot,
    Ordered,
    kind_of,
)
from macex.schema.moments import NANOSECONDS, Ticks, apart, seconds, step_of, tick_unit, ticks_in
from macex.schema.onehot import Folding, check_blocks, dummy_kind, folding

Inferred: TypeAlias = tuple[tuple[Column, ...], Folding | None]

MOST_DECIMALS = 6
TABLE_TYPES = (str, bool, int, float)


@dataclass(frozen=True)
class FoundKind:
    """What one kind finds in a column: the codes (m,) of the cells that are there, and more."""

    kind: KindName
    codes: Floats
    numbers: np.dtype[Any]
    span: tuple[float, float]
    step: float
    table: tuple[object, ...] = ()
    origin: int = 0
    ticks: Ticks = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True)
class Correction:
    """What the caller said: kinds by column, one-hot blocks, and names that are not blocks."""

    kinds: dict[str, Kind]
    blocks: dict[str, OneHot]
    apart: frozenset[str]

    @property
    def names(self) -> frozenset[str]:
        """Everything that was named."""
        members = (member for block in self.blocks.values() for member in block.columns)
        return frozenset([*self.kinds, *self.blocks, *self.apart, *members])


def told(given: object, names: list[str]) -> Correction:
    """What the caller said about the columns, checked."""
    if given is None:
        return Correction({}, {}, frozenset())
    if not isinstance(given, Mapping):
        raise SchemaError(
            f"schema: give a mapping from column to kind or a Schema, not {type(given).__name__}"
        )
    blocks = {str(name): kind for name, kind in given.items() if isinstance(kind, OneHot)}
    check_blocks(blocks, names)
    kinds = {name: kind for name, kind in given.items() if kind is not None and name not in blocks}
    inside = {member: name for name, block in blocks.items() for member in block.columns}
    for name in kinds:
        if name not in names:
            raise SchemaError(f"schema: there is no column {name!r}{closest(name, names)}")
        if name in inside:
            raise SchemaError(
                f"schema: column {name!r} is in the one-hot block {inside[name]!r} and has no kind "
                "of its own"
            )
    apart = frozenset(str(name) for name, kind in given.items() if kind is None)
    _check_apart(apart, names)
    return Correction({name: kind_of(name, kind) for name, kind in kinds.items()}, blocks, apart)


def _check_apart(apart: Iterable[str], names: list[str]) -> None:
    """Refuse a name that could be no block: no column starts with it."""
    for name in apart:
        if not any(column.startswith(name) for column in names):
            raise SchemaError(f"schema: there is no column {name!r}{closest(name, names)}")


def infer_columns(
    names: list[str], labels: list[Hashable], cells: list[Cells], said: Correction
) -> Inferred:
    """The columns of a frame, and how its one-hot blocks fold into columns of the schema."""
    by_name = dict(zip(names, cells, strict=True))
    blocks = said.blocks | find_blocks(by_name, said.names)
    kinds: dict[str, Kind] = dict(said.kinds)
    for block, one_hot in blocks.items():
        kinds |= {name: dummy_kind(by_name[name], name, block) for name in one_hot.columns}
    columns = tuple(
        infer_column(name, label, by_name[name], kinds.get(name))
        for name, label in zip(names, labels, strict=True)
    )
    if not blocks:
        return columns, None
    inside = {name for one_hot in blocks.values() for name in one_hot.columns}
    codes = {
        column.name: encode(by_name[column.name], column)[0]
        for column in columns
        if column.name in inside
    }
    folded = folding(columns, blocks, codes)
    return folded.columns, folded


def infer_column(name: str, label: Hashable, cells: Cells, kind: Kind | None) -> Column:
    """One column, as its values say or as told."""
    if kind is None:
        kind = _kind(cells)
    found = FINDERS[type(kind)](name, cells, kind)
    seen, counts = np.unique(found.codes + 0.0, return_counts=True)  # no -0.0
    return Column(
        name=name,
        label=label,
        kind=found.kind,
        dtype=cells.dtype,
        table=found.table,
        seen=seen,
        counts=counts.astype(np.int64),
        low=found.span[0],
        high=found.span[1],
        step=found.step,
        missing=bool(cells.missing.any()),
        storage=_storage(cells, found),
        ticks=found.ticks,
    )


def _storage(cells: Cells, found: FoundKind) -> Storage:
    return Storage(
        numbers=found.numbers,
        objects=cells.objects,
        nullable=cells.nullable,
        blank=_blank(cells) if cells.several_blanks else "",
        origin=found.origin,
        zone=cells.zone,
    )


def _kind(cells: Cells) -> Kind:
    if cells.missing.all() and cells.declared is None:
        return Categorical()
    if cells.family == "time":
        return Datetime()
    if cells.declared is None and all_numbers(cells):
        return Continuous()
    return Ordered() if cells.ordered else Categorical()


def _discrete(name: str, cells: Cells, kind: Kind) -> FoundKind:
    if cells.family == "number":
        numbers(cells, name)
    if cells.values.dtype.kind in "mM":  # NumPy makes whole numbers of nanoseconds
        _refuse_strange(list(cells.values[~cells.missing][:1]), name)
    positions, values = distinct(cells, name)
    scalars = [plain(value) for value in values]
    _refuse_strange(scalars, name)
    ordered = isinstance(kind, Ordered)
    table = _order(cells, kind, scalars, name) if isinstance(kind, Ordered) else _sorted(scalars)
    code = {(type(value), value): float(at) for at, value in enumerate(table)}
    codes = np.array([code[type(value), value] for value in scalars])
    return FoundKind(
        kind="ordered" if ordered else "categorical",
        codes=codes[positions[~cells.missing]],
        numbers=cells.values.dtype,
        span=(0.0, float(max(len(table) - 1, 0))),
        step=1.0,
        table=table,
    )


def _refuse_strange(scalars: list[object], name: str) -> None:
    for value in scalars:
        if not isinstance(value, TABLE_TYPES):
            raise SchemaError(
                f"column {name!r} holds {value!r} of type {type(value).__name__}; categories are "
                "text, numbers or booleans: convert the column"
            )
        if value in (float("inf"), float("-inf")):
            raise SchemaError(
                f"column {name!r} holds {value}; replace it by a number or by a missing value"
            )


def _sorted(values: list[Any]) -> tuple[object, ...]:
    """By type, then value, so that the order of the rows does not matter."""
    unique = {(type(value), value): value for value in values}.values()
    return tuple(sorted(unique, key=lambda value: (type(value).__name__, value)))


def _order(cells: Cells, kind: Ordered, values: list[Any], name: str) -> tuple[object, ...]:
    if kind.values:
        return _told_order(kind.values, values, name)
    if cells.declared is not None:
        return tuple(plain(value) for value in cells.declared)
    if any(isinstance(value, str) for value in values):
        raise SchemaError(
            f"column {name!r} is text, whose order is not known; give it: "
            f"Ordered(values=({', '.join(map(repr, _sorted(values)[:3]))}, ...))"
        )
    return _sorted(values)


def _told_order(order: tuple[object, ...], values: list[Any], name: str) -> tuple[object, ...]:
    """The order given, each value with the type it has in the data."""
    typed = {value: value for value in values}
    for value in values:
        if value not in order:
            raise SchemaError(
                f"column {name!r} holds {value!r}, which Ordered(values=...) does not list"
                f"{closest(value, order)}"
            )
    return tuple(typed.get(value, value) for value in order)


def _continuous(name: str, cells: Cells, kind: Kind) -> FoundKind:
    given = kind if isinstance(kind, Continuous) else Continuous()
    if cells.family == "bool" or cells.declared is not None:
        raise SchemaError(
            f"column {name!r} has dtype {cells.dtype} and cannot be continuous; "
            "convert it to numbers first"
        )
    codes = numbers(cells, name)[~cells.missing]
    if not len(codes):
        raise SchemaError(f"column {name!r} is missing in every row and cannot be continuous")
    kept = _number_type(cells)
    step = _step(np.unique(codes), kept) if given.step is None else given.step
    return FoundKind("continuous", codes, kept, _span(codes, given, kept), step)


def _number_type(cells: Cells) -> np.dtype[Any]:
    if cells.family != "object":
        return cells.values.dtype
    whole = all(issubclass(kind, int | np.integer) for kind in types_of(cells))
    return np.dtype(np.int64 if whole else np.float64)


def _span(codes: Floats, given: Continuous, kept: np.dtype[Any]) -> tuple[float, float]:
    low = float(codes.min()) if given.low is None else float(given.low)
    high = float(codes.max()) if given.high is None else float(given.high)
    if kept.kind in "iu":
        return float(np.ceil(low)), float(np.floor(high))
    return float(kept.type(low)), float(kept.type(high))


def _step(seen: Floats, kept: np.dtype[Any]) -> float:
    """The grid of the decimals seen, 0 if there are more than six.

    >>> _step(np.array([1.25, 3.5]), np.dtype(np.float64))
    0.01
    """
    if kept.kind in "iu":
        return 1.0
    for decimals in range(MOST_DECIMALS + 1):
        rounded = on_grid(seen, float(f"1e-{decimals}")).astype(kept)
        if np.array_equal(rounded.astype(np.float64), seen):
            return float(f"1e-{decimals}")
    return 0.0


def _datetime(name: str, cells: Cells, kind: Kind) -> FoundKind:
    del kind
    if cells.family != "time":
        raise SchemaError(
            f"column {name!r} has dtype {cells.dtype} and is not a datetime; convert it first"
        )
    if cells.missing.all():
        raise SchemaError(f"column {name!r} is missing in every row and cannot be a datetime")
    kept = cells.values.dtype
    unit = tick_unit(kept)
    ticks, whose = np.unique(ticks_in(cells.values[~cells.missing], unit), return_inverse=True)
    origin = int(ticks[0]) // (NANOSECONDS if unit == "ns" else 1)
    codes = apart(seconds(ticks, origin, unit))
    span = (float(codes[0]), float(codes[-1]))
    step = step_of(ticks, kept)
    return FoundKind("datetime", codes[whose], kept, span, step, origin=origin, ticks=ticks)


def _blank(cells: Cells) -> str:
    """The missing value most often seen, by name where two are as frequent."""
    names: npt.NDArray[np.object_] = cells.blanks()
    found, counts = np.unique(names.astype(str), return_counts=True)
    default = "nan" if cells.objects else "None"
    return str(found[np.argmax(counts)]) if len(found) else default


FINDERS: dict[type, Callable[[str, Cells, Kind], FoundKind]] = {
    Categorical: _discrete,
    Ordered: _discrete,
    Continuous: _continuous,
    Datetime: _datetime,
}
