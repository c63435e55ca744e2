"""Random constraints, each with what it means: the contract of `Constraints` in code."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from fuzz.rules import Rule, random_rule
from fuzz.tables import Field, Table

KEPT, UNCLEAR, BROKEN = 1, 0, -1  # unclear: the contract does not say, so that both are right


@dataclass(frozen=True)
class Wish:
    """Constraints in the words of their caller."""

    fixed: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    protected: tuple[str, ...] = ()
    ranges: dict[str, tuple[Any, Any]] = field(default_factory=dict)
    increase: tuple[str, ...] = ()
    decrease: tuple[str, ...] = ()
    allowed: dict[str, Any] = field(default_factory=dict)
    groups: tuple[tuple[str, ...], ...] = ()
    rules: tuple[Rule, ...] = ()
    derived: dict[str, str] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    max_changes: int | None = None
    may_blank: tuple[str, ...] = ()
    min_support: int | None = None
    strict: bool = False
    kept: tuple[Rule, ...] = ()  # relations of the explainer, which binds rows that keep them

    def parts(self) -> dict[str, Any]:
        """What `Constraints` takes: only what was said."""
        said = {one.name: getattr(self, one.name) for one in fields(self)}
        said["rules"] = tuple(rule.said for rule in self.rules)
        del said["kept"]
        nothing: tuple[Any, ...] = ((), {}, None, False)
        return {name: value for name, value in said.items() if value not in nothing}

    def __repr__(self) -> str:
        return f"Constraints({', '.join(f'{k}={v!r}' for k, v in self.parts().items())})"

    def merged(self, other: Wish) -> Wish:
        """Both sets of constraints at once; only one of the two bounds a column."""
        joined = {
            name: getattr(self, name) + getattr(other, name)
            for name in ("fixed", "protected", "increase", "decrease", "groups", "rules", "kept")
        }
        both = {
            name: getattr(self, name) | getattr(other, name)
            for name in ("ranges", "allowed", "derived", "weights")
        }
        least = [most for most in (self.max_changes, other.max_changes) if most is not None]
        support = [count for count in (self.min_support, other.min_support) if count is not None]
        only = [set(names) for names in (self.only, other.only) if names is not None]
        return Wish(
            **joined,
            **both,
            only=tuple(sorted(set.intersection(*only))) if only else None,
            max_changes=min(least, default=None),
            min_support=max(support, default=None),
            may_blank=self.may_blank + other.may_blank,
            strict=self.strict or other.strict,
        )

    def may_set(self, table: Table, one: Field, before: Any, after: Any) -> int:
        """Whether a change of one field, from one value to another, is allowed by itself."""
        if one.name in (*self.fixed, *self.protected, *self.derived):
            return BROKEN
        if self.only is not None and one.name not in self.only:
            return BROKEN
        if after is None:
            bounds = (*self.ranges, *self.increase, *self.decrease, *self.allowed)
            unclear = one.name in bounds or self.min_support is not None
            return BROKEN if one.name not in self.may_blank else UNCLEAR if unclear else KEPT
        return min(self._tests(table, one, before, after), default=KEPT)

    def _tests(self, table: Table, one: Field, before: Any, after: Any) -> Iterator[int]:
        if one.name in self.ranges:
            yield verdict(within(one, after, self.ranges[one.name]))
        if one.name in (*self.increase, *self.decrease):
            up = one.name in self.increase
            if before is None:
                yield UNCLEAR
            else:
                low, high = (before, after) if up else (after, before)
                yield verdict(one.rank(low) < one.rank(high))
        if one.name in self.allowed:
            values = self.allowed[one.name]
            values = values.get(before, ()) if isinstance(values, dict) else values
            yield verdict(after in values)
        if self.min_support is not None:
            yield verdict(table.seen[one.name][after] >= self.min_support)

    def may_stay(self, one: Field, own: Any) -> int:
        """Whether a strict range or allowed set lets the row keep its own value."""
        values = self.allowed.get(one.name)
        if not self.strict or (one.name not in self.ranges and values is None):
            return KEPT
        if own is None or isinstance(values, dict):
            return UNCLEAR
        inside = one.name not in self.ranges or within(one, own, self.ranges[one.name])
        return verdict(inside and (values is None or own in values))

    def broken_rules(self, rows: pd.DataFrame, own: pd.DataFrame) -> np.ndarray:
        """The rows that break a rule, (n,) bool."""
        broken = np.zeros(len(rows), bool)
        for rule in (*self.rules, *self.kept):
            broken |= np.asarray(rule.breaks(rows, own), bool)
        return broken


def verdict(kept: bool) -> int:
    return KEPT if kept else BROKEN


def within(one: Field, value: Any, bounds: tuple[Any, Any]) -> bool:
    low, high = bounds
    above = low is None or one.rank(low) <= one.rank(value)
    return above and (high is None or one.rank(value) <= one.rank(high))


def random_wish(
    rng: np.random.Generator, table: Table, parts: int, beside: Wish | None = None
) -> Wish:
    """So many constraints of different kinds; no column is bound twice, here or `beside`."""
    wish, free = Wish(), [one for one in table.fields if one.name not in table.derived]
    for kind in rng.permutation(list(WISHES))[:parts]:
        taken = bounded(wish) if beside is None else bounded(wish) | bounded(beside)
        order = [free[at] for at in rng.permutation(len(free)) if free[at].name not in taken]
        wish = WISHES[kind](rng, table, wish, order) if order else wish
    return wish


def bounded(wish: Wish) -> set[str]:
    """Columns of which something is said already."""
    grouped = (name for group in wish.groups for name in group)
    return {
        *wish.fixed,
        *wish.protected,
        *wish.ranges,
        *wish.increase,
        *wish.decrease,
        *wish.allowed,
        *grouped,
    }


def ranked(order: list[Field]) -> Field | None:
    return next((one for one in order if one.ranked), None)


def fixed(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    return replace(wish, **{str(rng.choice(["fixed", "protected"])): (order[0].name,)})


def only(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    return replace(wish, only=tuple(one.name for one in order[: int(rng.integers(1, 4))]))


def ranges(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    one = ranked(order)
    if one is None:
        return wish
    values = sorted(table.known(one), key=one.rank)
    low, high = sorted(rng.integers(0, len(values), 2).tolist())
    ends = (values[low], values[high])
    ends = (None, ends[1]) if rng.random() < 0.3 else ends
    ends = (ends[0], None) if rng.random() < 0.3 else ends
    return replace(wish, ranges={one.name: ends}, strict=bool(rng.random() < 0.3))


def direction(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    one = ranked(order)
    part = str(rng.choice(["increase", "decrease"]))
    return wish if one is None else replace(wish, **{part: (one.name,)})


def allowed(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    one = order[0]
    values = table.known(one)
    some = [values[at] for at in rng.permutation(len(values))[: max(1, len(values) // 2)]]
    if rng.random() < 0.4 and one.kind in ("category", "ordered", "one-hot"):
        return replace(wish, allowed={one.name: dict.fromkeys(values[::2], some)})
    return replace(wish, allowed={one.name: some}, strict=bool(rng.random() < 0.2))


def groups(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    together = tuple(one.name for one in order[: int(rng.choice([2, 2, 3]))])
    return replace(wish, groups=(together,)) if len(order) > 2 else wish


def most(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    return replace(wish, max_changes=int(rng.integers(1, 4)))


def blank(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    holes = [one.name for one in order if table.seen[one.name][None]]
    return replace(wish, may_blank=tuple(holes[:2]))


def support(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    return replace(wish, min_support=int(rng.integers(2, 8)))


def weights(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    return replace(wish, weights={order[0].name: float(rng.choice([0.2, 3.0]))})


def derived(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    return replace(wish, derived={name: made.text for name, made in table.derived.items()})


def rules(rng, table: Table, wish: Wish, order: list[Field]) -> Wish:
    made = [random_rule(rng, table, order) for _ in range(int(rng.integers(1, 3)))]
    return replace(wish, rules=tuple(rule for rule in made if rule is not None))


WISHES = {
    "fixed": fixed,
    "only": only,
    "ranges": ranges,
    "direction": direction,
    "allowed": allowed,
    "groups": groups,
    "max_changes": most,
    "may_blank": blank,
    "min_support": support,
    "weights": weights,
    "derived": derived,
    "rules": rules,
}
