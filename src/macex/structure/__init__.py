"""What holds between columns: relations found in the training rows."""

from __future__ import annotations

from macex.structure.relations import (
    Arithmetic,
    Determination,
    Flag,
    Implication,
    Linear,
    MissingTogether,
    OneOf,
    Order,
    Relation,
    relation_from,
)
from macex.structure.structure import Structure, find_structure

__all__ = [
    "Arithmetic",
    "Determination",
    "Flag",
    "Implication",
    "Linear",
    "MissingTogether",
    "OneOf",
    "Order",
    "Relation",
    "Structure",
    "find_structure",
    "relation_from",
]
