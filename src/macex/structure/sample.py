"""A sample of the training rows in which relations are looked for before all rows decide."""

from __future__ import annotations

import numpy as np

from macex.schema import Array

LEAST = 200


def sample(count: int, most: int) -> Array:
    """Positions of at most `most` rows (at least 200), the same every time, in order."""
    most = max(most, LEAST)
    if count <= most:
        return np.arange(count)
    return np.sort(np.random.default_rng(0).choice(count, most, replace=False))
