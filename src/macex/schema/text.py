"""Values as people type them: the text of a value, and the code for a text."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from macex.errors import SchemaError
from macex.schema.columns import MISSING, Column


def text_of(value: object) -> str:
    """A value as it is typed, to the last digit; nothing for a missing one.

    >>> text_of(45.0), text_of(0.1), text_of(None), text_of("Oslo")
    ('45', '0.1', '', 'Oslo')
    """
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    text = str(value)
    whole = isinstance(value, float) and text.endswith(".0")
    return text.removesuffix(".0") if whole else text


def typed(column: Column, text: str) -> float:
    """The code of a typed value; empty text is a missing value."""
    if column.discrete:
        return _category(column, text)
    text = text.strip()
    if text == "":
        return _blank(column)
    if column.kind == "datetime":
        return column.code(text)
    try:
        number: float = int(text) if column.integer else float(text)
    except ValueError:
        raise SchemaError(
            f"column {column.name!r} takes {'whole ' * column.integer}numbers, not {text!r}"
        ) from None
    return column.code(number)


def code_to_set(column: Column, value: object) -> float:
    """The code of a value that the column's dtype can hold, so that the model is asked of it.

    A text is read as it would be typed.
    """
    code = typed(column, value) if isinstance(value, str) else column.code(value)
    if not (column.discrete or code == MISSING or column.fits(np.array([code])).all()):
        raise SchemaError(
            f"column {column.name!r} cannot hold {value!r}: it was trained as {column.dtype}"
        )
    return code


def _category(column: Column, text: str) -> float:
    """The category with this text; outer spaces count only where they tell categories apart."""
    known = {text_of(value): value for value in column.table}
    loose = {spelt.strip(): value for spelt, value in known.items()}
    value = known.get(text, loose.get(text.strip()))
    if value is None and text.strip() == "":
        return _blank(column)
    return column.code(text if value is None else value)


def _blank(column: Column) -> float:
    """The code of a missing value, if the column ever has one."""
    if not column.missing:
        raise SchemaError(f"column {column.name!r} is never missing in training: give a value")
    return column.code(None)
