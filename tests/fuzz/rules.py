"""Random rules and formulas: an expression, and the same in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from fuzz.tables import Field, Table
from macex.structure import Implication, Order


@dataclass(frozen=True)
class Rule:
    """A rule as it is handed over, and the rows that clearly break it."""

    said: str | Callable[[pd.DataFrame], Any]
    breaks: Callable[[pd.DataFrame, pd.DataFrame], np.ndarray]  # (rows, the row's own)


def quoted(name: str) -> str:
    return f"`{name}`"


def literal(value: Any) -> str:
    return "'" + value + "'" if isinstance(value, str) else repr(value).lower()


def numbers(one: Field, frame: pd.DataFrame) -> np.ndarray:
    return frame[one.columns[0]].to_numpy(float, na_value=np.nan)


def random_rule(rng: np.random.Generator, table: Table, order: list[Field]) -> Rule | None:
    """A rule about numbers, categories or datetimes; None where the table has none."""
    named = [one for one in order if "`" not in one.name]
    amounts = [one for one in named if one.kind == "number"]
    kinds = [one for one in named if one.kind in ("category", "one-hot") and texts(table, one)]
    days = [one for one in named if one.kind == "datetime"]
    makers: list[Callable[[], Rule]] = []
    if amounts:
        makers += [
            lambda: bound(rng, table, amounts[0]),
            lambda: near(table, amounts[0]),
            lambda: by_function(rng, table, amounts[0]),
        ]
    if len(amounts) > 1:
        makers += [lambda: pair(*amounts[:2]), lambda: rise(*amounts[:2])]
    if kinds:
        makers.append(lambda: choice(rng, table, kinds[0]))
    if kinds and amounts:
        makers.append(lambda: condition(rng, table, kinds[0], amounts[0]))
    if days:
        makers.append(lambda: since(rng, table, days[0]))
    return makers[rng.integers(len(makers))]() if makers else None


def texts(table: Table, one: Field) -> bool:
    """Whether all values are text that needs no escaping."""
    return all(isinstance(value, str) and "'" not in value for value in table.known(one))


def middle(rng: np.random.Generator, table: Table, one: Field) -> float:
    """A number that lies on no grid."""
    return float(rng.choice(table.known(one))) + 0.0049


def bound(rng: np.random.Generator, table: Table, one: Field) -> Rule:
    cut, sign = middle(rng, table, one), str(rng.choice(["<", ">="]))
    inside = np.less if sign == "<" else np.greater_equal

    def breaks(rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        values = numbers(one, rows)
        return ~inside(values, cut) & ~np.isnan(values)

    return Rule(f"{quoted(one.name)} {sign} {cut}", breaks)


def near(table: Table, one: Field) -> Rule:
    values = [float(value) for value in table.known(one)]
    reach = (max(values) - min(values)) / 2 + 0.0049

    def breaks(rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        return np.abs(numbers(one, rows) - numbers(one, own)) > reach

    return Rule(f"abs({quoted(one.name)} - old({quoted(one.name)})) <= {reach}", breaks)


def by_function(rng: np.random.Generator, table: Table, one: Field) -> Rule:
    cut = middle(rng, table, one)

    def kept(rows: pd.DataFrame) -> np.ndarray:
        return ~(numbers(one, rows) > cut)

    return Rule(kept, lambda rows, _: numbers(one, rows) > cut)


def pair(one: Field, other: Field) -> Rule:
    def breaks(rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        return numbers(one, rows) - 1.0049 > numbers(other, rows)

    return Rule(f"{quoted(one.name)} - 1.0049 <= {quoted(other.name)}", breaks)


def ordered(one: Field, other: Field) -> Rule:
    """A relation of training: one number is never above another, where the row keeps that."""

    def breaks(rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        kept = not (numbers(one, own) > numbers(other, own))[0]
        return (numbers(one, rows) > numbers(other, rows)) & kept

    return Rule("", breaks)


def exclusive(one: Field, value: Any, other: Field, values: tuple[Any, ...]) -> Rule:
    """A relation of training: a value of one column excludes others, where the row keeps that."""

    def broken(rows: pd.DataFrame) -> np.ndarray:
        pairs = zip(one.values(rows), other.values(rows), strict=True)
        return np.array([a == value and b in values for a, b in pairs])

    def breaks(rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        return broken(rows) & (not broken(own)[0])

    return Rule("", breaks)


def random_structure(rng: np.random.Generator, table: Table) -> tuple[list[Any], tuple[Rule, ...]]:
    """Relations to be kept, and what they mean; none where the columns give none."""
    plain = [one for one in table.fields if one.name not in table.derived]
    figures = [one for one in plain if one.kind == "number"]
    words = [one for one in plain if one.kind == "category" and len(table.known(one)) > 2]
    if len(figures) > 1 and rng.random() < 0.6:
        one, other = (figures[at] for at in rng.permutation(len(figures))[:2])
        return [Order(columns=(one.name, other.name))], (ordered(one, other),)
    if len(words) > 1:
        one, other = (words[at] for at in rng.permutation(len(words))[:2])
        value, others = table.known(one)[0], tuple(table.known(other)[:2])
        relation = Implication(columns=(one.name, other.name), when=value, never=others)
        return [relation], (exclusive(one, value, other, others),)
    return [], ()


def rise(one: Field, other: Field) -> Rule:
    """Who changes one number may not lower the other."""

    def breaks(rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        now, before = numbers(one, rows), numbers(one, own)
        moved = (now != before) & ~np.isnan(now) & ~np.isnan(before)
        return moved & (numbers(other, rows) < numbers(other, own))

    a, b = quoted(one.name), quoted(other.name)
    return Rule(f"if {a} != old({a}) then {b} >= old({b})", breaks)


def choice(rng: np.random.Generator, table: Table, one: Field) -> Rule:
    values = table.known(one)
    some = [values[at] for at in rng.permutation(len(values))[: max(1, len(values) - 1)]]

    def breaks(rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        return np.array([v is not None and v not in some for v in one.values(rows)], bool)

    return Rule(f"{quoted(one.name)} in ({', '.join(map(literal, some))})", breaks)


def condition(rng: np.random.Generator, table: Table, kind: Field, one: Field) -> Rule:
    value, cut = str(rng.choice(table.known(kind))), middle(rng, table, one)

    def breaks(rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        asked = np.array([v == value for v in kind.values(rows)], bool)
        return asked & (numbers(one, rows) < cut)

    return Rule(
        f"if {quoted(kind.name)} == {literal(value)} then {quoted(one.name)} >= {cut}", breaks
    )


def since(rng: np.random.Generator, table: Table, one: Field) -> Rule:
    values = sorted(table.known(one))
    day = values[rng.integers(len(values))].normalize()

    def breaks(rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        return np.array([v is not None and v > day for v in one.values(rows)], bool)

    return Rule(f"{quoted(one.name)} <= '{day.isoformat()}'", breaks)


@dataclass(frozen=True)
class Formula:
    """A derived column: the expression, its inputs, and the same in NumPy."""

    text: str
    inputs: tuple[str, ...]
    compute: Callable[[pd.DataFrame], np.ndarray]


def total(one: Field, other: Field) -> Formula:
    def compute(rows: pd.DataFrame) -> np.ndarray:
        return rows[one.name].to_numpy() + rows[other.name].to_numpy()

    return Formula(f"{quoted(one.name)} + {quoted(other.name)}", (one.name, other.name), compute)


def ratio(one: Field, other: Field) -> Formula:
    def compute(rows: pd.DataFrame) -> np.ndarray:
        return rows[one.name].to_numpy(float) / (rows[other.name].to_numpy(float) + 20)

    text = f"{quoted(one.name)} / ({quoted(other.name)} + 20)"
    return Formula(text, (one.name, other.name), compute)


def with_derived(rng: np.random.Generator, table: Table) -> Table:
    """The table with one more column, which two numbers determine; training may hold it rounded."""
    whole = [
        one
        for one in table.fields
        if one.kind == "number" and "`" not in one.name and not table.data[one.name].hasnans
    ]
    whole = [one for one in whole if str(table.data[one.name].dtype) in ("int64", "float64")]
    if len(whole) < 2:
        return table
    formula = (total, ratio)[rng.integers(2)](*whole[:2])
    digits = int(rng.choice([1, 1, 15]))
    data, rows = (
        frame.assign(sum=np.round(formula.compute(frame), digits))
        for frame in (table.data, table.rows)
    )
    made = Field("sum", ("sum",), "number")
    return Table(data, rows, (*table.fields, made), table.schema, {"sum": formula})
