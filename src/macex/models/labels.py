"""Classifiers of several labels that do not exclude each other: a score for each, no decision."""

from __future__ import annotations

from typing import Any

import numpy as np

from macex.errors import ModelError
from macex.schema import Array


def many_labels(model: Any, given: Any, frame: Any) -> bool:
    """Whether probabilities are of several labels that do not exclude each other."""
    if are_tables(given):
        return True
    table = np.asarray(given.detach().cpu() if hasattr(given, "detach") else given)
    if table.dtype.kind not in "fi" or table.ndim != 2 or table.shape[1] < 2:
        return False
    if np.allclose(table.sum(axis=1), 1, atol=1e-3):
        return False
    return hasattr(model, "predict") and np.shape(model.predict(frame)) == table.shape


def are_tables(given: Any) -> bool:
    """Whether an answer is a list of tables, one for each label."""
    return isinstance(given, list) and len(given) > 0 and getattr(given[0], "ndim", 0) == 2


def count_labels(given: Any) -> int:
    """How many labels an answer is about."""
    return len(given) if are_tables(given) else int(np.shape(given)[1])


def each_label(model: Any, frame: Any) -> Array:
    """The probability of each of several labels: the second class of each output."""
    given = model.predict_proba(frame)
    if not are_tables(given):
        return np.asarray(given)
    columns = []
    for place, (part, classes) in enumerate(zip(given, model.classes_, strict=True)):
        table = np.asarray(part)
        if len(classes) > 2:
            raise ModelError(
                f"output {place} of the model has {len(classes)} classes; explain it alone: "
                f"lambda rows: model.predict_proba(rows)[{place}]"
            )
        columns.append(table[:, 1] if len(classes) == 2 else table[:, 0] * float(classes[0]))
    return np.stack(columns, axis=1)
