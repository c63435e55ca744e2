"""What models return, as tables of floats and positions of classes; what no model may return.

A classifier of several labels that do not exclude each other gives a score for each, no decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from macex.ask.answers import Scale
from macex.errors import ModelError
from macex.schema import Array


class NotAScoreError(Exception):
    """Rows whose answers are not scores; `rows` are their positions in the frame that was asked."""

    def __init__(self, message: str, bad: Array) -> None:
        super().__init__(message)
        self.rows = np.flatnonzero(bad)


def table_of(given: Any, count: int) -> Array:
    """Any answer as a float table (n, K)."""
    if hasattr(given, "detach"):
        given = given.detach().cpu()
    if are_tables(given):
        given = np.stack([np.asarray(one)[:, -1] for one in given], axis=1)
    try:
        table = np.asarray(given)
        table = table.astype(float, casting="same_kind" if table.dtype.kind == "c" else "unsafe")
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"the model returned {type(given).__name__}, not numbers: {error}"
        ) from error
    if table.ndim == 1:
        table = table[:, None]
    if table.ndim != 2 or len(table) != count or not table.shape[1]:
        raise ModelError(
            f"the model returned an array of shape {np.shape(given)} for {count} rows: "
            f"({count},) or ({count}, classes) was expected"
        )
    return table


def two_sided(table: Array, scale: Scale) -> Array:
    """The two columns that one number for 'yes' stands for."""
    yes = table[:, 0]
    return np.stack([1 - yes if scale == "probabilities" else -yes, yes], axis=1)


def are_probable(table: Array) -> bool:
    """Whether all rows of a table are probabilities."""
    inside = bool(((table >= -1e-6) & (table <= 1 + 1e-6)).all())
    return inside and (table.shape[1] == 1 or bool(np.allclose(table.sum(axis=1), 1, atol=1e-3)))


def plainly_probable(table: Array) -> bool:
    """Whether all numbers are probabilities, looked at in one go; NaN is none."""
    if not table.size:
        return True
    if not (table.min() >= -1e-6 and table.max() <= 1 + 1e-6):
        return False
    total = table[:, 0] + table[:, 1] if table.shape[1] == 2 else np.einsum("nk->n", table)
    return bool(np.abs(total - 1).max() <= 1e-3)


def refuse_unbounded(table: Array, *, infinite: bool = True) -> None:
    """Raise for NaN and, if `infinite` numbers are none either, for those."""
    refused = ~np.isfinite(table) if infinite else np.isnan(table)
    if refused.any():
        bad = np.asarray(refused.any(axis=1))
        row = int(bad.argmax())
        number = table[row][refused[row]][0]
        what = "NaN" if np.isnan(number) else f"an infinite score ({number})"
        raise NotAScoreError(f"the model returned {what}", bad)


def refuse_improbable(table: Array) -> None:
    """Raise for rows that are not probabilities."""
    outside = (table < -1e-6) | (table > 1 + 1e-6)
    uneven = np.abs(np.einsum("nk->n", table) - 1) > 1e-3
    if outside.any() or uneven.any():
        bad = outside.any(axis=1) | uneven
        row = int(bad.argmax())
        raise NotAScoreError(
            f"the model returned {table[row].tolist()}, which are no probabilities", bad
        )


def positions_of(given: Any, classes: Sequence[object], count: int) -> Array:
    """Labels as positions among the classes."""
    labels = np.asarray(on_host(given)).reshape(-1)
    if len(labels) != count:
        raise ModelError(f"the model returned {len(labels)} labels for {count} rows")
    known = {label: place for place, label in enumerate(classes)}
    distinct, inverse = np.unique(labels, return_inverse=True)
    places = np.array([known.get(plain_label(label), -1) for label in distinct], dtype=int)
    found: Array = places[inverse.reshape(-1)] if len(places) else np.zeros(0, int)
    if (found < 0).any():
        row = int((found < 0).argmax())
        raise NotAScoreError(
            f"the model returned the label {labels[row]!r}, which is none of its classes", found < 0
        )
    return found


def on_host(given: Any) -> Any:
    """What a model returned, without its graph and off its device."""
    return given.detach().cpu() if hasattr(given, "detach") else given


def plain_label(value: Any) -> Any:
    """A label as a value of Python."""
    return value.item() if isinstance(value, np.generic) else value


def one_hot(positions: Array, width: int) -> Array:
    """1 for the class at each position and 0 for the others."""
    table = np.zeros((len(positions), width))
    table[np.arange(len(positions)), positions] = 1.0
    return table


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
