"""What a scikit-learn model from a file must not do when it is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from macex.errors import ModelFileError

READING = ("file", "filename")  # what a vectorizer is told to take its cells for


def refuse_readers(model: Any) -> None:
    """Raise for a model with a step that takes cells of rows for names of files, and reads them.

    >>> from sklearn.feature_extraction.text import CountVectorizer
    >>> refuse_readers([CountVectorizer(input="filename")])
    Traceback (most recent call last):
    macex.errors.ModelFileError: its CountVectorizer reads the files that cells name ...
    """
    for part in _parts(model):
        how = getattr(part, "input", None)
        if isinstance(how, str) and how in READING:
            raise ModelFileError(
                f"its {type(part).__name__} reads the files that cells name (input={how!r}): "
                "train it on the text itself, input='content'"
            )


def _parts(model: Any) -> Iterator[Any]:
    """A model and all that it is made of, each object once."""
    waiting, seen = [model], {id(model)}
    while waiting:
        part = waiting.pop()
        yield part
        for inner in _inside(part):
            if id(inner) not in seen:
                seen.add(id(inner))
                waiting.append(inner)


def _inside(part: Any) -> list[Any]:
    if isinstance(part, Mapping):
        return list(part.values())
    if isinstance(part, list | tuple | set | frozenset):
        return list(part)
    if isinstance(part, np.ndarray):
        return part.ravel().tolist() if part.dtype == object else []
    return list(getattr(part, "__dict__", {}).values())
