"""Stage 1: which columns to change, and to which values (the paper's Algorithm 1).

`popular` counts, among the nearest rows that meet the goal, which columns differ from the query
and which values they have there. `Domain` offers values of the training rows at large. What is
offered is already within the constraints.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from macex.ask.units import Unit
from macex.errors import OptionError, closest, require_count, require_counts
from macex.schema import MISSING, Array, Column, special
from macex.stages.shapes import Candidates
from macex.stages.spread import (
    admitted,
    concatenate,
    domains,
    entries,
    spread,
    without_repeats,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from macex.ask.space import Space


INDEXES = ("auto", "exact", "ivf", "hnsw")
MOST_REMAINING = 2000  # values that a query's first level is completed with


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Values of the nearest training rows that meet the goal (Algorithm 1 as printed).

    `k` neighbours, the `columns` in which most of them differ from the query (the paper's s), in
    each the `values` most of them have (m); numbers are compared by `bins` quantile bins. With
    `match="changeable"` neighbours are sought on the columns that may change, with `"all"` on all.
    `index` says how: `"exact"` by comparing all rows, `"ivf"` or `"hnsw"` by an index of faiss,
    `"auto"` by comparing up to 200,000 rows that meet a goal and by `"ivf"` beyond.
    """

    k: int = 30
    columns: int = 10
    values: int = 3
    bins: int = 10
    match: Literal["changeable", "all"] = "changeable"
    index: Literal["auto", "exact", "ivf", "hnsw"] = "auto"

    def __post_init__(self) -> None:
        require_counts(self, "k", "columns", "values", "bins")
        if str(self.match) not in ("changeable", "all"):
            raise OptionError(f"Neighbors(match=) is 'changeable' or 'all', not {self.match!r}")
        if str(self.index) not in INDEXES:
            raise OptionError(f"Neighbors(index={self.index!r}){closest(self.index, INDEXES)}")


@dataclass(frozen=True, slots=True)
class Domain:
    """Values seen in training: all of them, or the most frequent and evenly spread ones."""

    categories: int | None = None
    quantiles: int | None = None
    rows: int | None = None  # about how many single changes to offer a query at most
    beside: int = 0  # seen numbers on either side of the query's own: the next, 2nd, 4th, 8th...

    def __post_init__(self) -> None:
        require_count("Domain(beside=)", self.beside, 0)
        for name in ("categories", "quantiles", "rows"):
            if getattr(self, name) is not None:
                require_count(f"Domain({name}=)", getattr(self, name))

    @property
    def whole(self) -> bool:
        """Whether every value is on offer."""
        return (self.categories, self.quantiles, self.rows, self.beside) == (None, None, None, 0)

    def per_unit(self, unit: Unit | Column, units: Array) -> Array | None:
        """How many values of a unit each query is offered, of `units` (Q,); None for all."""
        most = self.categories if unit.discrete else self.quantiles
        if most is None:
            return None
        room = most if self.rows is None else self.rows // np.maximum(1, units)
        return np.maximum(2, np.minimum(most, room)) * np.ones(len(units), int)

    def singles(self, units: Sequence[Unit | Column], count: int) -> Array:
        """About how many changes each unit is offered to a query that may change `count`, (U,)."""
        one = np.array([count])
        most = [self.per_unit(unit, one) for unit in units]
        beside = [0 if unit.discrete else 2 * self.beside for unit in units]
        seen = np.array([len(unit.seen) for unit in units])
        room = [
            len(unit.seen) if m is None else int(m[0]) for unit, m in zip(units, most, strict=True)
        ]
        return np.maximum(np.minimum(np.add(room, beside), seen - 1), 0)

    def within(self, units: Sequence[Unit], most: int) -> Domain:
        """The same; evenly thinned if it is every value and those are more than `most`."""
        if not self.whole or sum(len(unit.seen) for unit in units) <= most:
            return self
        return Domain(categories=most, quantiles=most, rows=most)


@dataclass(frozen=True, slots=True)
class Both:
    """The neighbours' values and a spread of all values: the default.

    A policy is learnt over few values: it gets the neighbours' and the spread `few`.
    """

    neighbors: Neighbors = Neighbors()
    domain: Domain = Domain(categories=32, quantiles=40, rows=500, beside=5)
    few: Domain = Domain(categories=2, quantiles=4)

    @property
    def for_policy(self) -> Both:
        """The same with few values."""
        return Both(self.neighbors, self.few, self.few)


NAMED: dict[str, Neighbors | Domain | Both] = {
    "neighbors": Neighbors(),
    "domain": Domain(),
    "both": Both(),
}


class Near(NamedTuple):
    """The nearest rows that meet the goal, by unit."""

    values: Array  # (Q, K, U)
    bins: Array  # (Q, K, U)
    own_bins: Array  # (Q, U)
    real: Array  # (Q, K) bool


def offer(
    choice: Neighbors | Domain | Both, space: Space, near: Near | None, most: int = 6000
) -> Candidates:
    """The candidates of a batch, of the domain alone about `most` for each query.

    A query to which the neighbours offer nothing gets the domain's values instead.
    """
    if isinstance(choice, Domain):
        return spread(choice.within(space.units, most), space, np.ones(len(space), bool))
    if near is None:
        raise TypeError("neighbours are needed")
    if isinstance(choice, Both):
        popular = _popular_values(choice.neighbors, space, near)
        every = spread(choice.domain, space, np.ones(len(space), bool))
        return without_repeats(every, popular)
    popular = _popular_values(choice, space, near)
    lost = np.asarray(~(popular.real & popular.allowed).any(axis=1))
    if not lost.any():
        return popular
    return popular.join(spread(Both().domain, space, lost))


def led(space: Space, near: Near, found: Candidates, queries: Array) -> Candidates:
    """What is on offer, in another order for the queries (Q,) bool that can pay for little of it.

    The values of the nearest row that meets the goal lead. Then comes, of every number, the value
    on offer that goes farthest in the same direction.
    """
    values, own = near.values[:, 0], space.queries
    real = _usable(space, near.values[:, :1].transpose(0, 2, 1))[:, :, 0]
    real &= (queries & near.real[:, 0])[:, None]
    nearest = Candidates(np.arange(space.width), values, real, real & space.changeable)
    number = np.array([not unit.discrete for unit in space.units])
    way = np.where(real & number, np.sign(values - own), 0.0)[:, found.unit]
    units, entry = found.best(np.where(found.real, way * (found.value - own[:, found.unit]), 0.0))
    line = np.arange(len(own))[:, None]
    ahead = way[line, entry] * (found.value[line, entry] - own[:, units]) > 0
    far = Candidates(units, found.value[line, entry], ahead, ahead & found.allowed[line, entry])
    first = without_repeats(nearest, far)
    return replace(without_repeats(first, found), whole=found.whole, leading=len(first.unit))


def remaining(
    space: Space, open_: Array, given: Candidates, limit: int = 256
) -> tuple[Candidates, Array]:
    """The seen values not yet on offer, and for which queries nothing is missing after that.

    A unit with more than `limit` values is left as it is, so that cardinality costs nothing; and
    so is a query with too many values over all its units.
    """
    parts: list[Candidates] = []
    complete = np.ones(len(space), bool)
    for place, unit in enumerate(space.units):
        for values, whose in domains(space, unit):
            if _many(space, unit, values, whose, limit) and not given.exact:
                complete &= ~(space.changeable[:, place] & whose)
                continue
            wide = np.broadcast_to(values, (len(space), len(values)))
            mine = np.flatnonzero(open_ & whose & space.changeable[:, place])
            new = np.zeros(wide.shape, bool)
            new[mine] = ~_taken(given, mine, place, values)
            new[mine] &= space.admits_one(mine[:, None], place, wide[mine])
            parts.append(entries(place, wide, new, new))
    rest = concatenate(parts, len(space), exact=given.exact)
    if given.exact:
        return rest, complete
    affordable = rest.real.sum(axis=1) <= MOST_REMAINING
    real = rest.real & affordable[:, None]
    return Candidates(rest.unit, rest.value, real, real), complete & affordable


def _many(space: Space, unit: Unit, values: Array, whose: Array, limit: int) -> bool:
    """Whether a unit has too many values to be completed; a menu counts for each query alone."""
    if values is unit.seen or len(values) <= limit:
        return len(values) > limit
    allowed = space.bounds.menus[unit.members[0]].allowed
    return bool((allowed.sum(axis=1)[whose] > limit).any())


def _taken(given: Candidates, queries: Array, place: int, values: Array) -> Array:
    """Which values of a unit are on offer to some queries already, (q, v) bool."""
    taken = np.zeros((len(queries), len(values)), bool)
    mine = np.flatnonzero(given.unit == place)
    if not taken.size or not len(mine):
        return taken
    offered = given.value[queries[:, None], mine]
    where = np.minimum(np.searchsorted(values, offered), len(values) - 1)
    real = given.real[queries[:, None], mine] & (values[where] == offered)
    line, entry = np.nonzero(real)
    taken[line, where[line, entry]] = True
    return taken


def _popular_values(choice: Neighbors, space: Space, near: Near) -> Candidates:
    """Algorithm 1, steps 3-9, for all queries and units at once."""
    queries, count, width = near.values.shape
    values = near.values.transpose(0, 2, 1).reshape(queries * width, count)
    bins = near.bins.transpose(0, 2, 1).reshape(queries * width, count)
    own = space.queries.reshape(-1)
    usable = near.real[:, None, :] & (near.bins != near.own_bins[:, None, :]).transpose(0, 2, 1)
    usable &= _usable(space, near.values.transpose(0, 2, 1))
    picked, real, total = popular(bins, values, usable.reshape(-1, count), own, choice.values)
    first = np.where(space.changeable, total.reshape(queries, width) + count, 0)
    rank = np.argsort(np.argsort(-first, axis=1, kind="stable"), axis=1)
    real = real.reshape(queries, width, choice.values) & (rank < choice.columns)[:, :, None]
    return Candidates(
        unit=np.repeat(np.arange(width), choice.values),
        value=picked.reshape(queries, width * choice.values),
        real=real.reshape(queries, -1),
        allowed=np.repeat(space.changeable, choice.values, axis=1),
    )


def popular(
    bins: Array, values: Array, usable: Array, own: Array, count: int
) -> tuple[Array, Array, Array]:
    """For every line the `count` most frequent bins, each with its median value.

    Also which of them are real, and how many neighbours were counted at all. Ties go to the value
    nearer to the query's own.

    >>> picked, real, total = popular(np.array([[1, 2, 2]]), np.array([[5.0, 8.0, 9.0]]),
    ...                               np.ones((1, 3), bool), np.array([0.0]), 2)
    >>> picked.tolist(), total.tolist()
    ([[8.0, 5.0]], [3])
    """
    lines, width = bins.shape
    last = np.iinfo(np.int32).max
    key = np.where(usable, bins, last)
    order = _by_bin(key, np.where(usable, values, np.inf))
    key, ranked = np.take_along_axis(key, order, axis=1), np.take_along_axis(values, order, axis=1)
    start = np.ones((lines, width), bool)
    start[:, 1:] = key[:, 1:] != key[:, :-1]
    start &= key != last
    runs = np.cumsum(start, axis=1) + (np.arange(lines) * width - 1)[:, None]
    first = np.flatnonzero(start)
    run = runs.reshape(-1).take(first)
    counts = np.bincount(runs[key != last], minlength=lines * width)
    value = np.zeros(lines * width)
    value[run] = ranked.reshape(-1).take(first + (counts[run] - 1) // 2)
    most = int(start.sum(axis=1).max(initial=1))
    counts, value = counts.reshape(lines, width)[:, :most], value.reshape(lines, width)[:, :most]
    best = np.lexsort((value, np.abs(value - own[:, None]), -counts), axis=1)[:, :count]
    taken = np.take_along_axis(counts, best, axis=1)
    picked = np.take_along_axis(value, best, axis=1)
    if best.shape[1] < count:
        gap = ((0, 0), (0, count - best.shape[1]))
        picked, taken = np.pad(picked, gap), np.pad(taken, gap)
    return picked, taken > 0, counts.sum(axis=1)


def _by_bin(bins: Array, values: Array) -> Array:
    """The order by bin, then by value, in each line; where bins rise with values one sort does."""
    order = np.argsort(values, axis=1, kind="stable")
    ranked = np.take_along_axis(bins, order, axis=1)
    if (ranked[:, 1:] >= ranked[:, :-1]).all():
        return order
    return np.lexsort((values, bins), axis=1)


def _usable(space: Space, values: Array) -> Array:
    """Which neighbour values may be offered, (Q, U, K): as changes, or at least as reasons."""
    if space.plain:
        other = values != space.queries[:, :, None]
        return other & np.where(
            space.changeable[:, :, None],
            values != MISSING,
            space.reason[:, :, None] & ~special(values),
        )
    ok = np.empty(values.shape, bool)
    for place in range(space.width):
        fits = admitted(space, place, values[:, place])
        plain = (values[:, place] != space.queries[:, place, None]) & ~special(values[:, place])
        ok[:, place] = np.where(
            space.changeable[:, place, None], fits, plain & space.reason[:, place, None]
        )
    return ok
