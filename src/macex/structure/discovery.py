"""Finding structure: what training rows (almost) never break.

Every kind of relation is held against chance. A relation is only listed where independent columns
would make at least 30 exceptions (`categories.CERTAIN`) and the rows make none, or so few that
chance is out of the question. Fewer than some 40 rows say nothing. A sample proposes, all rows
decide, and the work is bounded in columns and categories.
"""

from __future__ import annotations

import warnings

import numpy as np

from macex.schema import Array, Schema
from macex.structure.categories import implications
from macex.structure.determined import determinations
from macex.structure.families import families, flags
from macex.structure.lines import lines
from macex.structure.numbers import LEAST, numbers_of
from macex.structure.orders import orders
from macex.structure.relations import Relation
from macex.structure.structure import Structure
from macex.structure.triples import triples

MOST = 1000  # relations that are listed


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
