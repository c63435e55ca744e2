"""Asking the model about the training rows, once, and finding out how it decides.

A classifier may decide by a threshold of its own instead of by its largest probability. Where that
shows on the training rows, or on blends of rows from both sides of the decision, the model's
`predict` is asked ever after.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from macex.ask.answers import Answers
from macex.errors import MacexError, ModelError
from macex.models.asking import CHUNK_ROWS
from macex.models.oracle import NotAScoreError, Oracle, consult
from macex.models.steady import SAMPLE, warn_if_fickle
from macex.schema import Array, Rows, Schema, special

PAIRS = 48
SHARES = np.arange(1, 8) / 8


def consulted(
    model: Any, rows: Rows, schema: Schema, classes: Sequence[object] | None
) -> tuple[Oracle, Answers]:
    """The oracle for a model, and its answers for the training rows."""
    oracle, answers = _asked(model, rows, schema, classes)
    some = np.arange(min(SAMPLE, len(rows)))
    warn_if_fickle(oracle, schema.frame(rows.codes[some], rows, some), answers.take(some))
    if oracle.decide is None or not len(rows):
        return oracle, answers
    blends = blended(schema, rows.codes, answers)
    try:
        decided = _decided(oracle, rows, schema)
        between = schema.frame(blends)
        scores = np.concatenate([answers.scores, oracle(between, len(blends)).scores])
        both = np.concatenate([decided, _positions(oracle, between, len(blends))])
    except Exception:  # noqa: BLE001 - a model whose predict cannot be asked decides by its scores
        return oracle, answers
    return oracle.heeding(scores, both), Answers(answers.scores, decided)


def _asked(
    model: Any, rows: Rows, schema: Schema, classes: Sequence[object] | None
) -> tuple[Oracle, Answers]:
    parts: list[Answers] = []
    oracle: Oracle | None = None
    for start in range(0, len(rows), CHUNK_ROWS):
        at = np.arange(start, min(start + CHUNK_ROWS, len(rows)))
        frame = schema.frame(rows.codes[at], rows, at)
        try:
            if oracle is None:
                oracle, answers = consult(model, frame, len(at), classes)
            else:
                answers = oracle(frame, len(at))
        except NotAScoreError as fault:
            row = start + int(fault.rows[0])
            raise ModelError(f"{fault}, for training row {row}", row=rows.row(row)) from fault
        except MacexError:
            raise
        except Exception as fault:
            message = (
                f"the model raised {fault!r} when asked about the training rows: it is called with "
                "frames of exactly the columns, order and dtypes of data"
            )
            raise ModelError(message) from fault
        parts.append(answers)
    if oracle is None:
        raise TypeError("there is at least one training row")
    scores = np.concatenate([part.scores for part in parts])
    return oracle, Answers(scores, np.concatenate([part.decision for part in parts]))


def _decided(oracle: Oracle, rows: Rows, schema: Schema) -> Array:
    """The model's own decisions for the training rows."""
    parts = []
    for start in range(0, len(rows), CHUNK_ROWS):
        at = np.arange(start, min(start + CHUNK_ROWS, len(rows)))
        parts.append(_positions(oracle, schema.frame(rows.codes[at], rows, at), len(at)))
    return np.concatenate(parts)


def _positions(oracle: Oracle, frame: Any, count: int) -> Array:
    decided = oracle.decisions(frame, count)
    if decided is None:
        raise TypeError("only a model that decides is asked")
    return decided


def blended(schema: Schema, codes: Array, answers: Answers) -> Array:
    """Rows between training rows of different decisions that are least certain.

    Numbers are interpolated; of the categories more and more are the other row's.
    """
    ranked = np.sort(answers.scores, axis=1)
    lead = ranked[:, -1] - ranked[:, -2] if ranked.shape[1] > 1 else ranked[:, -1]
    order = np.argsort(lead, kind="stable")
    first = answers.decision[order[0]]
    here = order[answers.decision[order] == first][:PAIRS]
    there = order[answers.decision[order] != first][:PAIRS]
    if not len(there):
        return codes[:0]
    count = max(len(here), len(there))
    a, b = codes[np.resize(here, count)], codes[np.resize(there, count)]
    made = np.repeat(a[:, None], len(SHARES), axis=1)  # (pair, share, d)
    for place, column in enumerate(schema.columns):
        turn = (sorted(schema.names).index(column.name) + 1) / (len(schema.columns) + 1)
        x, y = a[:, place][:, None], b[:, place][:, None]
        plain = ~special(x) & ~special(y) & (not column.discrete)
        moved = column.snap(np.where(plain, x + SHARES * (y - x), 0.0))
        made[:, :, place] = np.where(plain, moved, np.where(turn <= SHARES, y, x))
    return made.reshape(-1, codes.shape[1])
