"""Asking the model about the training rows, once, and finding out how it decides.

A classifier may decide by a threshold of its own instead of by its highest probability. Unless it
is known that it does not, its `predict` is asked with every score. Training rows, and blends of
rows from both sides of the decision, show where the decision turns.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from macex.ask.answers import Answers
from macex.errors import MacexError, ModelError, UnavailableError
from macex.models.asker import CHUNK_ROWS
from macex.models.oracle import Oracle, consult
from macex.models.outputs import NotAScoreError
from macex.models.stability import SAMPLE, warn_if_fickle
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
    if not oracle.outlook.by_predict:
        return oracle, answers
    return oracle.compared(_joined([answers, _between(oracle, rows, schema, answers)])), answers


def _between(oracle: Oracle, rows: Rows, schema: Schema, answers: Answers) -> Answers:
    """The answers for blends; none where the model fails on such rows."""
    blends = blended(schema, rows.codes, answers)
    if not len(blends):
        return answers.take(np.zeros(0, int))
    try:
        return oracle(schema.frame(blends), len(blends))
    except UnavailableError:
        raise
    except Exception:  # noqa: BLE001 - only the estimate of a threshold rests on these rows
        return answers.take(np.zeros(0, int))


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
            message = f"the model raised {fault!r} when asked about the training rows"
            raise ModelError(f"{message}: {_advice(model, fault, schema)}") from fault
        parts.append(answers)
    if oracle is None:
        raise TypeError("there is at least one training row")
    return oracle, _joined(parts)


def _advice(model: Any, fault: Exception, schema: Schema) -> str:
    """What to do about a model that fails on the training rows."""
    if type(fault).__name__ == "NotFittedError":
        return "fit the model before it is explained"
    fitted = getattr(model, "feature_names_in_", None)
    given = list(schema.frame_names)
    extra = [] if fitted is None else [name for name in given if name not in set(fitted)]
    if extra:
        names = ", ".join(map(repr, extra[:8])) + ("" if len(extra) <= 8 else ", …")
        return (
            f"data has {names}, which the model was not fitted on; data is without the label, as "
            f"in data.drop(columns=[{names}])"
        )
    return "it is called with frames of exactly the columns, order and dtypes of data"


def _joined(parts: Sequence[Answers]) -> Answers:
    return Answers(*map(np.concatenate, zip(*parts, strict=True)))


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
