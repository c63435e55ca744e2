"""The structure of training rows: the relations that they (almost) never break.

Every kind of relation is held against chance. A relation is only listed where independent columns
would make at least 30 exceptions (`categories.CERTAIN`) and the rows make none, or so few that
chance is out of the question. Fewer than some 40 rows say nothing. A sample proposes, all rows
decide, and the work is bounded in columns and categories.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, overload

import numpy as np

from macex.errors import ConstraintError
from macex.schema import Array, Schema
from macex.structure.categories import families, flags, implications
from macex.structure.determined import determinations
from macex.structure.levels import LEAST, numbers_of
from macex.structure.pairs import lines, orders
from macex.structure.relations import Arithmetic, Determination, Linear, Relation, relation_from
from macex.structure.triples import triples

HEADS = ("relation", "rows", "exceptions", "example")
SHOWN = 40
PRIVATE_ROWS = 10  # fewer rows with a value would show them
MOST = 1000  # relations that are listed


@dataclass(frozen=True, repr=False)
class Structure(Sequence[Relation]):
    """What holds between the columns of the training rows: a list of relations.

    >>> from macex.structure.relations import Order
    >>> Structure((Order(columns=("net", "gross"), support=500, example=(80, 100)),))
    1 relation in the training rows
      net <= gross  500 rows  no exceptions  80, 100
    """

    relations: tuple[Relation, ...] = ()

    def __len__(self) -> int:
        return len(self.relations)

    @overload
    def __getitem__(self, at: int) -> Relation: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Relation, ...]: ...
    def __getitem__(self, at: int | slice) -> Relation | tuple[Relation, ...]:
        return self.relations[at]

    def to_list(self) -> list[dict[str, Any]]:
        """The relations as JSON or TOML can hold them."""
        return [relation.to_dict() for relation in self.relations]

    @staticmethod
    def from_list(stored: Iterable[Any]) -> Structure:
        """The relations that were written down."""
        if isinstance(stored, str) or not isinstance(stored, Iterable):
            raise ConstraintError(f"structure is a list of relations, not {stored!r}")
        return Structure(
            tuple(one if isinstance(one, Relation) else relation_from(one) for one in stored)
        )

    def about(self, *columns: str) -> Structure:
        """The relations that speak of any of these columns."""
        return Structure(tuple(r for r in self.relations if set(columns) & set(r.columns)))

    @property
    def binding(self) -> Structure:
        """The relations that answers keep: those without exceptions, and formulas."""
        return Structure(tuple(filter(binds, self.relations)))

    def private(self, schema: Schema) -> Structure:
        """The same without any training row: no examples, and no pair of values of few rows."""
        return Structure(tuple(_private(relation, schema) for relation in self.relations))

    def __repr__(self) -> str:
        if not self.relations:
            return "no relations in the training rows"
        table = [_cells(relation) for relation in self.relations[:SHOWN]]
        widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        lines = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]
        count = len(self.relations)
        head = f"{count} relation{'s' * (count != 1)} in the training rows"
        more = [f"… and {count - SHOWN} more"] * (count > SHOWN)
        return "\n  ".join([head, *lines, *more])

    def _repr_html_(self) -> str:
        if not self.relations:
            return "<p>no relations in the training rows</p>"
        heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(relation))}</tr>"
            for relation in self.relations
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def binds(relation: Relation) -> bool:
    """Whether answers keep it: a formula with a few exceptions still says what follows."""
    return relation.exceptionless or isinstance(relation, Arithmetic | Linear | Determination)


def _private(relation: Relation, schema: Schema) -> Relation:
    if not isinstance(relation, Determination):
        return replace(relation, example=None)
    first = schema.columns[schema.position(relation.columns[0])]
    rows = dict(zip(first.seen.tolist(), first.counts.tolist(), strict=True))
    pairs = tuple(p for p in relation.pairs if rows.get(first.code(p[0]), 0) >= PRIVATE_ROWS)
    return replace(relation, example=None, pairs=pairs)


def _cells(relation: Relation) -> tuple[str, str, str, str]:
    exceptions = f"{relation.exceptions:,} exception{'s' * (relation.exceptions != 1)}"
    values = ("missing" if value is None else str(value) for value in relation.example or ())
    return (
        relation.text,
        f"{relation.support:,} rows",
        exceptions if relation.exceptions else "no exceptions",
        ", ".join(values),
    )


def find_structure(schema: Schema, codes: Array) -> Structure:
    """The relations between the columns of the training rows, codes (n, d).

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"net": range(100), "tax": [7, 11] * 50})
    >>> rows["gross"] = rows["net"] + rows["tax"]
    >>> known = Schema.infer(rows)
    >>> print(find_structure(known, known.read(rows).codes)[0])
    gross = net + tax
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # of columns that are all missing
        grouped = families(schema, codes)
        determined = determinations(schema, codes)
        computed = _formulas(schema, codes)
    told = _pairs(schema, [*grouped, *determined, *computed])
    twins = [schema.position(r.columns[1]) for r in determined if r.mutual]
    told[twins, :] = told[:, twins] = True  # what holds of one column of a pair holds of the other
    ordered = [r for r in orders(schema, codes) if not told[_places(schema, r)]]
    implied = implications(schema, codes, told)
    formed = _pairs(schema, computed)
    determined = [r for r in determined if not formed[_places(schema, r)]]
    found = [*computed, *determined, *grouped, *ordered, *implied, *flags(schema, codes)]
    return Structure(tuple(found[:MOST]))


def _formulas(schema: Schema, codes: Array) -> list[Relation]:
    """The formulas that nearly all rows keep; a line of another column enters no other."""
    numbers = numbers_of(schema, codes)
    if len(codes) < LEAST or len(numbers.places) < 2:
        return []
    straight = list(lines(schema, numbers))
    twins = {schema.position(relation.columns[1]) for relation in straight}
    return [*straight, *triples(schema, numbers.without(twins))]


def _places(schema: Schema, relation: Relation) -> tuple[int, int]:
    first, second = (schema.position(name) for name in relation.columns)
    return first, second


def _pairs(schema: Schema, relations: list[Relation]) -> Array:
    """Pairs of columns of which a relation speaks already, (d, d) bool."""
    told = np.zeros((len(schema.columns),) * 2, bool)
    for relation in relations:
        places = [schema.position(name) for name in relation.columns]
        told[np.ix_(places, places)] = True
    return told
