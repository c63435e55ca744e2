"""Causes made ready for codes: one mechanism for every effect, causes first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np

from macex.ask.units import Ground
from macex.causes.categories import Likely, fitted_category
from macex.causes.causes import Causes, is_expression
from macex.causes.numbers import Added, Fitting, fitted_number, usable
from macex.causes.stated import Known, Stated, known_mechanism, stated
from macex.errors import ConstraintError, SchemaError
from macex.schema import Array, Schema, special

Mechanism = Stated | Added | Likely | Known
LEAST_ROWS = 10  # that know an effect and its causes


@dataclass(frozen=True)
class CausalModel:
    """The mechanisms of all effects, by column, causes first."""

    causes: Causes
    schema: Schema
    mechanisms: tuple[tuple[int, Mechanism], ...]

    @cached_property
    def reads(self) -> Mapping[int, tuple[int, ...]]:
        """What each effect is read from."""
        return {column: mechanism.columns for column, mechanism in self.mechanisms}

    @cached_property
    def columns(self) -> frozenset[int]:
        """All columns of the graph."""
        return frozenset(self.schema.position(name) for name in self.causes.columns)

    @cached_property
    def estimated(self) -> frozenset[int]:
        """The effects that are estimated, and those that follow from estimated ones."""
        found: set[int] = set()
        for column, mechanism in self.mechanisms:
            if mechanism.estimated or found.intersection(mechanism.columns):
                found.add(column)
        return frozenset(found)

    def followed(self, codes: Array, own: Array) -> Array:
        """Rows of codes (n, d) made of the row `own` (d,), with what follows from what was set."""
        full, old = codes.copy(), np.repeat(own[None], len(codes), axis=0)
        for column, mechanism in self.mechanisms:
            inputs = list(mechanism.columns)
            moved = (full[:, inputs] != own[inputs]).any(axis=1) & (codes[:, column] == own[column])
            if moved.any():
                kind, value = self.schema.columns[column], mechanism(full[moved], old[moved])
                if not kind.discrete:
                    value = np.where(special(value), value, kind.in_dtype(value))
                full[moved, column] = value
        return full

    def told(self, codes: Array, own: Array) -> Array:
        """`followed` for rows that a caller asks about; what cannot follow is an error."""
        full = self.followed(codes, own)
        for reason in self.refusals(codes, own, full).values():
            raise SchemaError(reason)
        return full

    def refusals(self, codes: Array, own: Array, full: Array) -> dict[str, str]:
        """Why effects cannot follow, by column: what is `followed` in the rows is `full`."""
        found, old = {}, np.repeat(own[None], len(codes), axis=0)
        for at, mechanism in self.mechanisms:
            column, inputs = self.schema.columns[at], list(mechanism.columns)
            moved = (full[:, inputs] != own[inputs]).any(axis=1) & (codes[:, at] == own[at])
            values = full[moved, at]
            beyond = ~(column.discrete | special(values) | column.fits(values))
            if isinstance(mechanism, Stated) and mechanism.fails(full[moved], old[moved]).any():
                why = f"would follow as {mechanism.formula.text!r}, which has no value here"
            elif beyond.any():
                value = column.value(float(values[np.argmax(beyond)]))
                why = f"would follow as {value}, which {column.dtype} cannot hold"
            else:
                continue
            found[column.name] = f"column {column.name!r} {why}: give it a value as well"
        return found

    @property
    def fitted(self) -> tuple[str, ...]:
        """The effects whose mechanisms are fitted to training rows."""
        names = self.schema.names
        return tuple(names[at] for at, one in self.mechanisms if isinstance(one, Added | Likely))

    @property
    def unsure(self) -> tuple[str, ...]:
        """The effects whose mechanisms another library fitted: how sure they are is not known."""
        return tuple(self.schema.names[at] for at, one in self.mechanisms if isinstance(one, Known))

    @property
    def average(self) -> bool:
        """Whether effects are those of rows alike, not of the row itself."""
        return self.causes.effects == "average"


def causal_model(causes: Causes, ground: Ground, seed: int = 0) -> CausalModel:
    """The mechanisms that are stated, and the others fitted to the training rows."""
    schema = ground.schema
    causes.check(schema)
    made: list[tuple[int, Mechanism]] = []
    for name in causes.order:
        mechanism = causes.mechanisms.get(name, "auto")
        place = schema.position(name)
        parents = tuple(schema.position(parent) for parent in causes.edges[name])
        if is_expression(mechanism):
            made.append((place, _stated(ground, name, mechanism, causes.noise)))
        elif hasattr(mechanism, "estimate_noise"):
            made.append((place, known_mechanism(schema, place, parents, mechanism)))
        else:
            fitting = _fitting(ground, name, parents, seed)
            made.append((place, _fitted(fitting, place, mechanism, average=causes.effects)))
    return CausalModel(causes, schema, tuple(made))


def _stated(ground: Ground, name: str, text: str, noise: str) -> Stated:
    """The mechanism that an expression states, if it can be so of any training row."""
    found, codes = stated(ground.schema, name, text, noise), ground.codes
    known = codes[usable(codes, (*found.columns, found.column))]
    if len(known) and not ground.private and np.isnan(found.made(known, known)).all():
        raise ConstraintError(
            f"the mechanism of {name!r}, {text!r}, has a value for no training row"
        )
    return found


def _fitted(fitting: Fitting, place: int, mechanism: Any, average: str) -> Added | Likely:
    discrete = fitting.schema.columns[place].discrete
    fit = fitted_category if discrete else fitted_number
    return fit(fitting, place, mechanism, average=average == "average")


def _fitting(ground: Ground, name: str, parents: tuple[int, ...], seed: int) -> Fitting:
    schema, codes = ground.schema, ground.codes
    place = schema.position(name)
    rows = usable(codes, (place, *parents))
    if ground.private:
        raise ConstraintError(
            f"the mechanism of {name!r} is fitted to training rows, and this explainer was saved "
            "without them (private=True): state it as an expression"
        )
    if len(rows) < LEAST_ROWS:
        raise ConstraintError(
            f"only {len(rows)} training rows know {name!r} and all its causes, too few to fit how "
            "it comes about: state its mechanism as an expression"
        )
    known, values = codes[rows], codes[rows, place]
    return Fitting(schema, parents, known, np.asarray(values), (seed % 2**63, crc32(name.encode())))
