"""Tests of whole rows: expressions, Python functions of frames, and relations found in training.

Where relations and the caller's constraints meet, the constraints come first. A column that depends
on others follows them, as far as the caller lets it go. Where the caller holds it, the relation is
a rule like any other. Of two columns that determine each other the one that may change leads. A
relation that contradicts the caller's constraints is dropped, and a note says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.ask.expressions import RowRule
from macex.errors import ConstraintError
from macex.schema import Array, Rows, Schema
from macex.structure.enforcement import Follower, Implied, Keeping, Kept
from macex.structure.relations import MissingTogether, OneOf


@dataclass(frozen=True)
class TextRule:
    """An expression, used as a rule."""

    rule: RowRule

    def __call__(self, new: Array, old: Array, at: Array) -> Array:  # noqa: ARG002
        """Whether the new rows satisfy it."""
        return self.rule(new, old)


@dataclass(frozen=True)
class FrameRule:
    """A Python function of one frame (the new rows), used as a rule."""

    test: Callable[[Any], Any]
    schema: Schema
    rows: Rows

    def __call__(self, new: Array, old: Array, at: Array) -> Array:  # noqa: ARG002
        """Whether the new rows satisfy it."""
        name = getattr(self.test, "__name__", "rule")
        try:
            verdict = np.asarray(self.test(self.schema.frame(new, self.rows, at)))
            holds = verdict.astype(bool)
        except Exception as fault:
            raise ConstraintError(f"the rule {name} raised {fault!r} when given a frame") from fault
        if verdict.shape != (len(new),):
            raise ConstraintError(f"the rule {name} returned {verdict.shape} for {len(new)} rows")
        return holds


@dataclass(frozen=True)
class KeptRule:
    """A relation found in training, used as a rule."""

    kept: Kept
    by_category: bool  # numbers have no say in it

    def __call__(self, new: Array, old: Array, at: Array) -> Array:  # noqa: ARG002
        """Whether the new rows keep it."""
        return self.kept(new)


@dataclass(frozen=True)
class UnmovedRule:
    """A fixed column that has causes: it may not follow these either."""

    column: int

    def __call__(self, new: Array, old: Array, at: Array) -> Array:  # noqa: ARG002
        """Whether the new rows have the column as it was."""
        return np.asarray(new[:, self.column] == old[:, self.column])


@dataclass(frozen=True)
class FollowerRule:
    """A column that follows others, and goes no farther than the caller lets it."""

    column: int
    own: Array  # (Q, d)
    admit: Callable[[Array, Array, int, Array], Array]

    def __call__(self, new: Array, old: Array, at: Array) -> Array:
        """Whether the new rows have the column as it was, or as it may be."""
        value = new[:, self.column]
        admitted = self.admit(self.own, at, self.column, value)
        return np.asarray(admitted | (value == old[:, self.column]))


RowTest = TextRule | FrameRule | KeptRule | UnmovedRule | FollowerRule


def structural_rules(
    schema: Schema,
    own: Array,
    per_query: Sequence[Constraints],
    admit: Callable[[Array, Array, int, Array], Array],
    kin: Kin,
    caused: Iterable[int],
) -> Iterator[tuple[RowTest, Array, str]]:
    """What structure and causes ask of whole rows, and of which queries (Q,) bool.

    A relation is kept by the rows of queries that keep it themselves. A column that is fixed stays
    though it has causes, and one that follows others goes no farther than the caller lets it go.
    """
    discrete = [column.discrete for column in schema.columns]
    for kept in kin.rules:
        by_category = all(discrete[schema.position(name)] for name in kept.relation.columns)
        yield KeptRule(kept, by_category), kept(own), repr(kept.text)
    for column in caused:
        name = schema.names[column]
        bound = np.array([name in constraints.fixed for constraints in per_query], bool)
        if bound.any():
            yield UnmovedRule(column), bound, f"fixed {name!r}"
    for column in kin.following:
        name = schema.names[column]
        bound = np.array([name in bounded(constraints) for constraints in per_query], bool)
        if bound.any():
            yield FollowerRule(column, own, admit), bound, f"what {name!r} may be"


def bounded(constraints: Constraints) -> set[str]:
    """The columns of which the caller says how far they may go."""
    one = constraints
    return {*one.ranges, *one.increase, *one.decrease, *one.allowed}


@dataclass(frozen=True)
class Kin:
    """What a structure means under some constraints.

    `rules` must be kept by rows whose query keeps them, `dependents` are columns that are computed
    and never change on their own, `implied` those that are set when something else is.
    """

    rules: tuple[Kept, ...] = ()
    dependents: tuple[tuple[int, Follower], ...] = ()
    implied: tuple[tuple[int, Implied], ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def signature(self) -> tuple[object, ...]:
        """What rows of one block must have in common."""
        return (
            tuple(kept.text for kept in self.rules),
            tuple((column, follower.columns) for column, follower in self.dependents),
            tuple((column, follower.test.when) for column, follower in self.implied),
        )

    @property
    def following(self) -> tuple[int, ...]:
        """The columns that follow others."""
        return tuple(dict.fromkeys(column for column, _ in (*self.dependents, *self.implied)))


NOTHING = Kin()


def kin_of(keeping: Keeping | None, constraints: Constraints) -> Kin:
    """What is kept, and what follows, under the caller's constraints."""
    if keeping is None or not keeping.binding:
        return NOTHING
    names = keeping.schema.names
    rules, notes = [], []
    dependents: dict[int, Follower] = {}
    implied: list[tuple[int, Implied]] = []
    taken = {keeping.schema.position(name) for name in constraints.derived}
    reads = {**keeping.caused, **_derived_reads(keeping, constraints)}
    for kept in keeping.binding:
        why = keeping.overruled(kept) or _contradiction(kept, constraints)
        if why:
            notes.append(f"{kept.text} is not kept: {why}")
            continue
        rules.append(kept)
        following = kept.back if _leads_back(kept, constraints) else kept.follower
        if following is None:
            continue
        column, follower = following
        if names[column] in _held(constraints):
            continue
        if isinstance(follower, Implied):
            implied.append((column, follower))
        elif column not in taken and not _reaches(reads, column, follower.columns):
            dependents[column] = follower
            reads[column] = follower.columns
            taken.add(column)
    implied = [(column, one) for column, one in implied if column not in taken]
    return Kin(tuple(rules), _in_order(dependents), tuple(implied), tuple(notes))


def _derived_reads(keeping: Keeping, constraints: Constraints) -> dict[int, tuple[int, ...]]:
    from macex.ask.expressions import parse

    position = keeping.schema.position
    return {
        position(name): tuple(position(read) for read in parse(text).reads_now)
        for name, text in constraints.derived.items()
        if isinstance(text, str)
    }


def _reaches(reads: Mapping[int, tuple[int, ...]], column: int, inputs: tuple[int, ...]) -> bool:
    """Whether one of the inputs is computed from the column itself."""
    todo, seen = list(inputs), set[int]()
    while todo:
        place = todo.pop()
        if place == column:
            return True
        if place not in seen:
            seen.add(place)
            todo += reads.get(place, ())
    return False


def _in_order(dependents: dict[int, Follower]) -> tuple[tuple[int, Follower], ...]:
    """Inputs before what is computed from them."""
    left, done = dict(dependents), list[tuple[int, Follower]]()
    while left:
        ready = [c for c, follower in left.items() if not set(follower.columns) & set(left)]
        for column in sorted(ready):
            done.append((column, left.pop(column)))
    return tuple(done)


def _held(constraints: Constraints) -> set[str]:
    """The columns that follow nothing, because the caller holds them, groups or blanks them."""
    parts = (constraints.fixed, constraints.protected, constraints.may_blank, *constraints.groups)
    return {name for part in parts for name in part}


def _leads_back(kept: Kept, constraints: Constraints) -> bool:
    """Whether the second column may change and the first, which it determines, may not."""
    if kept.back is None or constraints.only is None:
        return False
    first, second = kept.relation.columns
    return second in constraints.only and first not in constraints.only


def _moved(constraints: Constraints) -> set[str]:
    """The columns that the caller names as ones that move."""
    return bounded(constraints).union(constraints.only or ())


def _contradiction(kept: Kept, constraints: Constraints) -> str:
    """Why the caller's constraints contradict a relation; empty if they do not."""
    *sources, result = kept.relation.columns
    if kept.follower is not None:
        if result in constraints.derived:
            return f"the constraints compute {result} themselves"
        held = {*constraints.fixed, *constraints.protected}
        named = sorted(_moved(constraints).intersection(sources))
        if isinstance(kept.follower[1], Implied):
            return ""
        if result in held and named:
            return f"the constraints hold {result} and let {named[0]} change"
        only = constraints.only
        if kept.back is not None:
            return ""
        if only is not None and result in only and not set(only) & set(sources):
            return f"the constraints let {result} change alone"
        return ""
    if isinstance(kept.relation, OneOf | MissingTogether) and constraints.only is not None:
        free = [name for name in kept.relation.columns if name in constraints.only]
        if len(free) == 1:
            return f"the constraints let {free[0]} change alone"
    return ""
