"""The true labels of a project's rows, where its files have them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macex.explanation.json import plain
from macex.scale.readers import read_table
from macex.schema import Array
from macex.schema.text import text_of


def read_labels(path: Path, label: str) -> pd.Series | None:
    """The labels in a file; None where it has no such column."""
    table = read_table(path)
    return table[label] if label in table.columns else None


def positions(labels: Any, classes: Sequence[object]) -> Array | None:
    """Which class each label is, by its place; -1 for those that are none of them.

    Labels are matched by what they say. Where none does, whole numbers are places themselves.

    >>> positions(pd.Series(["yes", None, "no"]), ("no", "yes")).tolist()
    [1, -1, 0]
    >>> positions(pd.Series([1, 0]), ("refused", "granted")).tolist()
    [1, 0]
    """
    which, values = pd.factorize(pd.Series(labels))
    told = [text_of(plain(value)) for value in values]
    known = {text_of(plain(label)): at for at, label in enumerate(classes)}
    if not any(text in known for text in told):
        known = {str(at): at for at in range(len(classes))}
    places = np.array([known.get(text, -1) for text in told] + [-1])
    found: Array = places[which]
    return found if (found >= 0).any() else None
