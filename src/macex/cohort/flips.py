"""What becomes of decisions when one column is different, alone or with what follows from it.

Every row gets every other value of the column seen in training, all else kept, and the model is
asked. The table of rows by values is scored in batches; what is kept of it are counts.

With causes, what is particular about every row is kept, and what follows then follows along all
ways of the causal graph (Kusner et al., 2017: a decision that changes is not counterfactually
fair), or along none, or along all but those that lead through columns which may count (Kilbertus et
al., 2017: resolving variables). These are held at the row's own values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.space import Caused
from macex.causes import CausalModel
from macex.cohort.estimates import Estimate
from macex.cohort.population import Crowd, Population, slabs
from macex.engine.engine import Engine
from macex.errors import OptionError, closest
from macex.schema import Array, Column, special

MOST_PAIRS = 20_000_000  # rows times values that are tried unless the caller says how many values


@dataclass(frozen=True)
class Flips:
    """What other values of one column do to the decisions of some rows.

    `values` are the codes that were tried. For every row and group of values, `others` counts the
    other values seen in training, `tried` those that were tried and `flips` those that change the
    decision. `drawn` is the share of other values that change it, each weighted by how often
    training has it, and `open` the weight of those that were not tried. `toward` counts, for each
    group of rows and decision, the flips by value, `after` the same by new decision.
    """

    before: Array  # (Q,) position of the class
    values: Array  # (V,) codes
    others: Array  # (Q, T)
    tried: Array  # (Q, T)
    flips: Array  # (Q, T)
    drawn: Array  # (Q,)
    open: Array  # (Q,)
    toward: Array  # (G, K, V)
    after: Array  # (G, K, K)

    @property
    def flipped(self) -> Array:
        """The rows whose decision some value changes, (Q,) bool."""
        some: Array = self.flips.sum(axis=1) > 0
        return some

    @property
    def settled(self) -> Array:
        """The rows of which it is known whether some value changes their decision, (Q,) bool."""
        known: Array = self.flipped | (self.tried == self.others).all(axis=1)
        return known


def flips_of(
    everyone: Crowd,
    column: str,
    group: Array,
    part: Array,
    most: int | None = None,
    following: Mapping[int, Caused] | None = None,
) -> Flips:
    """Set a column to other values seen in training, all else kept, and ask the model.

    With `following` the columns in it follow by causes.

    `group` (Q,) is each row's group, `part` (S,) that of each seen value. At most `most` values
    are tried; by default all, unless rows times values are more than `MOST_PAIRS`.
    """
    alone = everyone.under(lambda given: Constraints(only=(column,), derived=given.derived))
    alone = replace(alone, structured=False, following=following or {})  # else it changes alone
    place = everyone.rows.schema.position(column)
    known, rows = everyone.rows.schema.columns[place], len(everyone)
    kept = kept_values(known, MOST_PAIRS // max(1, rows) if most is None else most)
    codes, weight = known.seen[kept], known.counts[kept].astype(float)
    others, heavy = _others(known, everyone.rows.codes[:, place], part)
    classes, groups = len(everyone.fitted.outlook.classes or ()), int(group.max(initial=-1)) + 1
    found = Flips(
        before=np.zeros(rows, int),
        values=codes,
        others=others,
        tried=np.zeros(others.shape, np.int32),
        flips=np.zeros(others.shape, np.int32),
        drawn=np.zeros(rows),
        open=heavy.copy(),
        toward=np.zeros((groups, classes, len(codes)), np.int32),
        after=np.zeros((groups, classes, classes), np.int64),
    )
    for places, some in alone.blocks(1):
        found.before[places] = some.own.decision
        for at, value, decision in _decided(some, place, codes):
            who, own = places[at], some.own.decision[at]
            np.add.at(found.tried, (who, part[kept][value]), 1)
            np.subtract.at(found.open, who, weight[value])
            hit = np.flatnonzero(decision != own)
            own, chosen = own[hit], value[hit]
            np.add.at(found.flips, (who[hit], part[kept][chosen]), 1)
            np.add.at(found.drawn, who[hit], weight[chosen])
            np.add.at(found.toward, (group[who[hit]], own, chosen), 1)
            np.add.at(found.after, (group[who[hit]], own, decision[hit]), 1)
    found.drawn[:] /= np.maximum(heavy, 1.0)
    found.open[:] /= np.maximum(heavy, 1.0)
    return found


def _others(column: Column, own: Array, part: Array) -> tuple[Array, Array]:
    """For every row how many other values each group has, (Q, T), and their weight, (Q,)."""
    sizes = np.bincount(part, minlength=1)
    others = np.repeat(sizes[None].astype(np.int32), len(own), axis=0)
    heavy = np.full(len(own), float(column.counts.sum()))
    place = np.minimum(np.searchsorted(column.seen, own), len(column.seen) - 1)
    has = np.flatnonzero(column.seen[place] == own)
    others[has, part[place[has]]] -= 1
    heavy[has] -= column.counts[place[has]]
    return others, heavy


def kept_values(column: Column, most: int) -> Array:
    """Positions of at most `most` seen values: frequent categories, numbers evenly spread."""
    count = len(column.seen)
    if count <= max(1, most):
        return np.arange(count)
    if column.kind == "categorical":
        return np.sort(np.lexsort((column.seen, -column.counts))[: max(1, most)])
    return np.unique(np.linspace(0, count - 1, max(1, most)).astype(int))


def _decided(part: Population, place: int, codes: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Rows, positions of values, and decisions, for every row and other value, call by call."""
    space = part.space
    unit = next(at for at, unit in enumerate(space.units) if unit.members == (place,))
    for turn in slabs(len(part) * len(codes)):
        at, value = np.divmod(turn, max(1, len(codes)))
        other = (codes[value] != space.queries[at, unit]) & ~special(codes[value])
        at, value = at[other], value[other]
        rows = space.queries[at]
        rows[:, unit] = codes[value]
        full = space.columns(rows, at)
        sound = space.tellable(full, at)
        answers, _ = part.judge.asker(full[sound], at[sound])
        yield at[sound], value[sound], answers.decision


@dataclass(frozen=True)
class Pathway:
    """What one other value of a column, drawn as in training, does along some ways.

    `ways` is `"every"`, `"direct"` (nothing follows) or `"otherwise"` (all ways but those through
    `through`); `some` is the share of rows that some value changes, `one` that of decisions that
    one value does.
    """

    column: str
    ways: str
    through: tuple[str, ...]
    some: Estimate
    one: Estimate


def through_columns(engine: Engine, columns: Sequence[str], given: Any) -> tuple[str, ...]:
    """The columns through which the others may count, checked."""
    if not isinstance(given, Iterable):
        raise OptionError(f"through takes names of columns, e.g. ['income'], not {given!r}")
    names = (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))
    if not names:
        return ()
    causes = engine.options.causes
    if causes is None:
        raise OptionError(
            "through= names columns that follow from protected ones, so it needs causes: "
            "Explainer(..., causes=mx.Causes(...))"
        )
    follow = {name for column in columns for name in causes.effects_of(column)}
    for name in names:
        if name not in follow:
            hint = closest(name, follow) if follow else ""
            raise OptionError(f"through: {name!r} does not follow from what is protected{hint}")
    return names


def open_ways(
    engine: Engine, column: str, through: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], dict[int, Caused]]]:
    """What the ways are called, the columns held that may count, and what follows along them."""
    causal = engine.fitted.causal
    follow = () if causal is None else causal.causes.effects_of(column)
    if causal is None or not follow:
        return
    held = tuple(name for name in through if name in follow)
    yield "every", held, _but(causal, ())
    yield "direct", held, _but(causal, causal.schema.names)
    if held:
        yield "otherwise", held, _but(causal, held)


def _but(causal: CausalModel, held: Sequence[str]) -> dict[int, Any]:
    """The mechanisms of all effects but those that are held."""
    places = {causal.schema.position(name) for name in held}
    return {place: one for place, one in causal.mechanisms if place not in places}
