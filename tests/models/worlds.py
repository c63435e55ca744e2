"""A model of three columns that can be told to fail, and everything needed to ask it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from macex.ask.answers import Outlook
from macex.models.asker import Asker
from macex.models.oracle import Oracle
from macex.schema import Rows, Schema

DATA = pd.DataFrame({"x": range(100), "y": [1, 2] * 50, "z": list("abcd") * 25})
SCHEMA = Schema.infer(DATA)


class Recorder:
    """P(yes) = x / 100; remembers the frames, and does to rows what `trouble` says."""

    def __init__(self, trouble: Callable[[pd.DataFrame, np.ndarray], None] | None = None) -> None:
        self.trouble = trouble
        self.frames: list[pd.DataFrame] = []

    def __call__(self, frame: pd.DataFrame) -> np.ndarray:
        self.frames.append(frame)
        yes = np.clip(frame["x"].to_numpy(float) / 100, 0, 1)
        scores = np.column_stack([1 - yes, yes])
        if self.trouble is not None:
            self.trouble(frame, scores)
        return scores

    @property
    def sizes(self) -> list[int]:
        return [len(frame) for frame in self.frames]


def asker_of(model: Recorder, rows: Rows | None = None, **options) -> Asker:
    oracle = Oracle(model, Outlook(("no", "yes"), "probabilities", 2))
    read = SCHEMA.read(DATA) if rows is None else rows
    return Asker(oracle, SCHEMA, read, **options)


def variants(count: int, each: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """`each` different rows made from each of `count` queries, and whose they are."""
    at = np.repeat(np.arange(count), each)
    codes = SCHEMA.read(DATA).codes[at].copy()
    codes[:, 1] = np.tile(np.arange(each), count) + 10.0
    return codes, at
