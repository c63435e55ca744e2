"""What a row is: column kinds, inference, and the way between frames and codes.

Only this room knows frames. The rest of the engine sees float64 arrays of codes, one column each.
"""

from __future__ import annotations

from macex.schema.cells import Array
from macex.schema.columns import MISSING, UNKNOWN, Column, any_special, special
from macex.schema.kinds import Categorical, Continuous, Datetime, Kind, OneHot, Ordered
from macex.schema.rows import Rows, cell_keys, row_keys
from macex.schema.schema import Schema

__all__ = [
    "MISSING",
    "UNKNOWN",
    "Array",
    "Categorical",
    "Column",
    "Continuous",
    "Datetime",
    "Kind",
    "OneHot",
    "Ordered",
    "Rows",
    "Schema",
    "any_special",
    "cell_keys",
    "row_keys",
    "special",
]
