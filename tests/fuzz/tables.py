"""Random small tables: odd names, datetimes, missing values, mixed types, one-hot families."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

NAMES = ("a", "b c", "é", "1", "if", "old", "x`y", "A", "row", "size", "it's", "-", "Ω", "index")
WORDS = ("red", "", " ", "ä", "it's", 'say "x"', "nan", "None", "0", "true", "Red", "a;b")
ZONES = (None, None, "UTC", "Europe/Oslo", "America/St_Johns")
START = pd.Timestamp("2023-10-25")


@dataclass(frozen=True)
class Field:
    """What may change as one: a column, or a family of one-hot columns."""

    name: str
    columns: tuple[str, ...]
    kind: str  # "number", "datetime", "category", "ordered" or "one-hot"
    step: float | None = None  # the grid of a number
    order: tuple[Any, ...] = ()  # the values of an ordered category, least first

    @property
    def ranked(self) -> bool:
        """Whether its values have an order."""
        return self.kind in ("number", "datetime", "ordered")

    def values(self, frame: pd.DataFrame) -> list[Any]:
        """The field's value in every row; None where it is missing."""
        if self.kind == "one-hot":
            hot = frame[list(self.columns)].to_numpy(float).argmax(axis=1)
            return [self.columns[at].removeprefix(f"{self.name}_") for at in hot]
        cells = frame[self.columns[0]]
        if cells.dtype == np.float32:
            return [None if np.isnan(cell) else float(str(cell)) for cell in cells.to_numpy()]
        return [None if pd.isna(value) else value for value in cells.tolist()]

    def between(self, low: Any, high: Any, most: int) -> list[Any]:
        """Values of a number's grid between two ends, all of them or so many; six decimals."""
        step = self.step or 1e-6
        first, last = int(np.ceil(low / step - 1e-6)), int(np.floor(high / step + 1e-6))
        at = np.unique(np.linspace(first, last, min(last - first + 1, most)).round())
        made = np.round(at * step, 6)
        return [int(value) if isinstance(low, int) else float(value) for value in made]

    def rank(self, value: Any) -> Any:
        """Where a value stands in the order of the field."""
        return self.order.index(value) if self.kind == "ordered" else value


@dataclass
class Table:
    """Training rows, the rows to explain, and what is known of the columns."""

    data: pd.DataFrame
    rows: pd.DataFrame
    fields: tuple[Field, ...]
    schema: dict[str, Any]
    derived: dict[str, Any] = field(default_factory=dict)  # column -> formula
    seen: dict[str, Counter[Any]] = field(init=False)
    pools: dict[Any, tuple[pd.DataFrame, list[Any]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.seen = {one.name: Counter(one.values(self.data)) for one in self.fields}

    def field(self, name: str) -> Field:
        return next(one for one in self.fields if one.name == name)

    def known(self, one: Field) -> list[Any]:
        """The values seen in training, missing ones aside."""
        return [value for value in self.seen[one.name] if value is not None]

    def pool(self, unit: list[Field], *, whole: bool) -> tuple[pd.DataFrame, list[Any]]:
        """What a unit may hold: the cells, and the values of its fields, one of each.

        Combinations seen in training; with `whole` every value of a number's grid between them.
        """
        key = (*(one.name for one in unit), whole)
        if key not in self.pools:
            columns = [column for one in unit for column in one.columns]
            cells = self.data[columns]
            if whole and len(unit) == 1 and unit[0].kind == "number":
                cells = pd.concat([self.grid(unit[0]), cells], ignore_index=True)
            cells = cells.drop_duplicates()
            self.pools[key] = cells, list(zip(*(one.values(cells) for one in unit), strict=True))
        return self.pools[key]

    def grid(self, one: Field) -> pd.DataFrame:
        """The values of a number's grid within the range of training."""
        known = self.known(one)
        values = one.between(min(known), max(known), 1_000)
        return pd.DataFrame({one.name: pd.Series(values).astype(self.data[one.name].dtype)})


def random_table(rng: np.random.Generator) -> Table:
    """Three to five fields of any kind, 24 to 60 training rows, six rows to explain."""
    count = int(rng.integers(24, 61))
    names = [str(name) for name in rng.choice(NAMES, int(rng.integers(3, 6)), replace=False)]
    kinds = list(rng.choice(list(MAKERS), len(names), p=WEIGHTS))
    made = [MAKERS[kind](rng, name, count) for kind, name in zip(kinds, names, strict=True)]
    data = pd.concat([columns for _, columns, _ in made], axis=1)
    schema = {name: kind for _, _, kinds in made for name, kind in kinds.items()}
    fields = tuple(one for one, _, _ in made)
    return Table(data, random_rows(rng, data, fields), fields, schema)


def random_rows(
    rng: np.random.Generator, data: pd.DataFrame, fields: tuple[Field, ...]
) -> pd.DataFrame:
    """Training rows, some with cells of other rows, or with values never seen."""
    rows = data.iloc[rng.choice(len(data), 6, replace=False)].copy()
    other = data.iloc[rng.choice(len(data), 6, replace=False)]
    for one in fields:
        swapped = np.flatnonzero(rng.random(6) < 0.3)
        for column in one.columns:
            cells = rows[column].array.copy()
            cells[swapped] = other[column].array[swapped]
            rows[column] = cells
        if one.kind != "one-hot" and rng.random() < 0.15:
            strange(rng, rows, one)
    rows = rows.astype(data.dtypes)
    return rows.set_axis([f"r{at}" for at in range(6)]) if rng.random() < 0.5 else rows


def strange(rng: np.random.Generator, rows: pd.DataFrame, one: Field) -> None:
    """Give a row a value that training never saw."""
    (column,), place = one.columns, int(rng.integers(len(rows)))
    cells = rows[column].array.copy()
    if one.kind == "number" and str(cells.dtype) in ("int64", "float64"):
        cells[place] = cells[place] + int(rng.choice([-50, 50]))
    elif one.kind == "datetime" and not pd.isna(cells[place]):
        cells[place] = cells[place] + pd.Timedelta(days=400)
    elif one.kind == "category" and cells.dtype in ("object", "str"):
        cells[place] = "never seen"
    rows[column] = cells


def drawn(rng: np.random.Generator, pool: Any, count: int) -> np.ndarray:
    """A random choice in which every value of the pool occurs."""
    at = rng.choice(len(pool), count, p=rng.dirichlet(np.full(len(pool), 3.0)))
    at[rng.choice(count, len(pool), replace=False)] = np.arange(len(pool))
    return at


def blanked(rng: np.random.Generator, cells: pd.Series, share: float = 0.3) -> pd.Series:
    """Some cells missing, in one column of three."""
    if rng.random() < share:
        cells = cells.mask(rng.random(len(cells)) < 0.15)
    return cells


def integers(rng: np.random.Generator, name: str, count: int):
    """Whole numbers of several widths, now and then declared a category."""
    pool = np.unique(rng.integers(0, 12, 7)) * int(rng.choice([1, 1, 1, 5])) - int(
        rng.choice([0, 3])
    )
    kind = rng.choice(["int64", "int64", "int32", "int8", "Int64"])
    cells = pd.Series(pool[drawn(rng, pool, count)], name=name).astype(kind)
    if kind == "Int64":
        cells = blanked(rng, cells, 0.7)
    if rng.random() < 0.15:
        return Field(name, (name,), "category"), cells, {name: "categorical"}
    return Field(name, (name,), "number", step=1), cells, {}


def decimals(rng: np.random.Generator, name: str, count: int):
    """Numbers with one or two decimals, or with all their digits."""
    digits = int(rng.choice([1, 1, 2, 15]))
    pool = np.unique(np.round(rng.uniform(-1, 4, int(rng.integers(3, 8))), digits))
    kind = "float32" if digits < 3 and rng.random() < 0.2 else "float64"
    cells = blanked(rng, pd.Series(pool[drawn(rng, pool, count)], name=name).astype(kind))
    step = None if digits == 15 else 10.0**-digits
    return Field(name, (name,), "number", step=step), cells, {}


def texts(rng: np.random.Generator, name: str, count: int):
    """Text, as objects, as strings and as categories."""
    pool = np.array(rng.choice(WORDS, int(rng.integers(2, 6)), replace=False), object)
    kind = str(rng.choice(["object", "str", "category"]))
    cells = blanked(rng, pd.Series(pool[drawn(rng, pool, count)], name=name, dtype="object"))
    return Field(name, (name,), "category"), cells.astype(kind), {}


def mixed(rng: np.random.Generator, name: str, count: int):
    """Numbers and text in one column."""
    pool = np.array([3, "three", 2.5, "x"][: int(rng.integers(2, 5))], object)
    cells = pd.Series(pool[drawn(rng, pool, count)], name=name, dtype="object")
    return Field(name, (name,), "category"), blanked(rng, cells), {}


def booleans(rng: np.random.Generator, name: str, count: int):
    """Truth values, with and without missing ones."""
    cells = pd.Series(drawn(rng, (False, True), count) == 1, name=name)
    if rng.random() < 0.3:
        cells = blanked(rng, cells.astype("boolean"), 0.7)
    return Field(name, (name,), "category"), cells, {}


def ordered(rng: np.random.Generator, name: str, count: int):
    """Ordered categories, one of which may never occur."""
    levels = ["S", "M", "L", "XL"]
    pool = np.array(levels[: int(rng.integers(2, 5))], object)
    cells = blanked(rng, pd.Series(pool[drawn(rng, pool, count)], name=name, dtype="object"))
    kind = pd.CategoricalDtype(levels, ordered=True)
    return Field(name, (name,), "ordered", order=tuple(levels)), cells.astype(kind), {}


def datetimes(rng: np.random.Generator, name: str, count: int):
    """Datetimes of every resolution and several zones, at midnight or at any tick."""
    unit, zone = str(rng.choice(["s", "ms", "us", "ns"])), ZONES[rng.integers(len(ZONES))]
    days = np.unique(rng.integers(0, 20, int(rng.integers(3, 7))))
    ticks = pd.to_timedelta(days, unit="D")
    if rng.random() < 0.5:
        ticks = ticks + pd.to_timedelta(rng.integers(0, 10**14, len(days)), unit="ns")
    pool = (START + ticks).as_unit(unit)
    pool = pool if zone is None else pool.tz_localize("UTC").tz_convert(zone)
    cells = pd.Series(pool[drawn(rng, pool, count)], name=name)
    return Field(name, (name,), "datetime"), blanked(rng, cells), {}


def constants(rng: np.random.Generator, name: str, count: int):
    """A column with a single value."""
    return Field(name, (name,), "number", step=1), pd.Series([7] * count, name=name), {}


def one_hot(rng: np.random.Generator, name: str, count: int):
    """A family of columns of which exactly one is 1."""
    name = name if name.isidentifier() else f"hot{len(name)}{ord(name[0])}"
    parts = tuple(f"{name}_{part}" for part in ("u", "v", "w")[: int(rng.integers(2, 4))])
    at = drawn(rng, parts, count)
    kind = str(rng.choice(["bool", "int64", "float64"]))
    cells = {part: pd.Series((at == place).astype(kind)) for place, part in enumerate(parts)}
    return Field(name, parts, "one-hot"), pd.DataFrame(cells), {}


MAKERS = {
    "integers": integers,
    "decimals": decimals,
    "texts": texts,
    "mixed": mixed,
    "booleans": booleans,
    "ordered": ordered,
    "datetimes": datetimes,
    "constants": constants,
    "one-hot": one_hot,
}
WEIGHTS = (0.25, 0.2, 0.15, 0.05, 0.1, 0.05, 0.12, 0.01, 0.07)
