"""How single values, scores and changes are written."""

from __future__ import annotations

from datetime import datetime
from math import floor, isfinite, log10
from typing import Any

import numpy as np

DIGITS = 6
NOISE = 1e-12  # relative, of computed numbers: 0.30000000000000004 is 0.3
DECIMALS = range(2, 7)


def shown(value: object) -> str:
    """A value as people write it.

    >>> shown(45.0), shown(1234567.25), shown(0.30000000000000004), shown(None)
    ('45', '1234567', '0.3', 'missing')
    """
    if value is None:
        return "missing"
    if isinstance(value, float | np.floating):
        return _number(float(value))
    if isinstance(value, datetime):
        midnight = value.time() == datetime.min.time() and value.tzinfo is None
        midnight &= not getattr(value, "nanosecond", 0)
        return value.date().isoformat() if midnight else value.isoformat(sep=" ")
    text = str(value)
    return text if text.strip() else repr(text)


def exactly(value: object) -> str:
    """A value as people write it, with all the digits it takes to read it back.

    >>> exactly(0.5000004321), exactly(0.1 + 0.2), exactly(1234567.25), exactly(7)
    ('0.5000004321', '0.3', '1234567.25', '7')
    """
    text = shown(value)
    if not isinstance(value, float | np.floating) or not isfinite(number := float(value)):
        return text
    return text if abs(float(text) - number) <= NOISE * abs(number) else _digits(number)


def _digits(value: float) -> str:
    text = repr(value)
    return text if "e" in text else text.removesuffix(".0")


def within(low: object, high: object) -> tuple[str, str]:
    """The ends of a range, rounded to the inside where rounding is all that can be read.

    >>> within(0.12345671, 9.98765432), within(1, 2), within(0.12345671, 0.12345672)
    (('0.123457', '9.98765'), ('1', '2'), ('0.12345671', '0.12345672'))
    """
    if not (isinstance(low, float) and isinstance(high, float)):
        return shown(low), shown(high)
    texts = _inside(low, 1.0), _inside(high, -1.0)
    ends = [float(text) for text in texts]
    return texts if low <= ends[0] <= ends[1] <= high else (exactly(low), exactly(high))


def _inside(end: float, way: float) -> str:
    """An end of a range with six digits, or the next number of six digits inside."""
    text = shown(end)
    if (float(text) - end) * way >= 0 or not isfinite(end):
        return text
    place = floor(log10(abs(end))) - DIGITS + 1 if end else 0
    return shown(float(text) + way * 10.0**place)


def _number(value: float) -> str:
    size = abs(value)
    if not isfinite(value) or size >= 1e15 or 0 < size < 1e-4:
        return f"{value:g}"
    if size < 1:
        return f"{value + 0.0:.{DIGITS}g}"
    whole = len(str(int(size)))
    text = f"{value:.{max(0, DIGITS - whole)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def before_after(before: object, after: object) -> tuple[str, str]:
    """Two values that differ, so that the difference can be seen.

    What is new is written so that it can be read back: a rounded value may not be enough.

    >>> before_after(0.12345671, 0.12345672), before_after(0.3333333333, 0.5000000009)
    (('0.12345671', '0.12345672'), ('0.333333', '0.5000000009'))
    """
    texts = shown(before), shown(after)
    if before == after:
        return texts
    if texts[0] == texts[1]:
        return repr(before), repr(after)
    return texts[0], exactly(after)


def scores(before: float, after: float) -> tuple[str, str]:
    """Two scores with two decimals, or as many more as it takes to tell them apart.

    >>> scores(0.46, 0.531), scores(0.49996, 0.50002)
    (('0.46', '0.53'), ('0.49996', '0.50002'))
    """
    for decimals in DECIMALS:
        texts = f"{before:.{decimals}f}", f"{after:.{decimals}f}"
        if before == after or texts[0] != texts[1]:
            break
    return texts


def score_text(score: float) -> str:
    """One score with two decimals.

    >>> score_text(0.456), score_text(float("nan"))
    ('0.46', 'unknown')
    """
    return f"{score:.2f}" if isfinite(score) else "unknown"


def change_text(change: Any) -> str:
    """A change in the words of the data: `hours_per_week 40 → 45`."""
    before, after = before_after(change.before, change.after)
    return f"{change.column} {before} → {after}"


def notes(explanation: Any, found: Any) -> tuple[str, ...]:
    """What is known of a counterfactual: that it is minimal, and how plausible it is."""
    minimal = found.minimal and explanation.minimal_over
    known = found.plausibility is not None
    return (
        *([f"minimal over {explanation.minimal_over}"] if minimal else []),
        *([f"plausibility {found.plausibility:.2f}"] if known else []),
    )
