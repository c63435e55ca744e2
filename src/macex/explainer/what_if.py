"""A row with other values, and the model's answer for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from macex.engine.predictions import Predictions, tried
from macex.errors import OptionError
from macex.explanation import Change
from macex.render.names import Names
from macex.render.sheets import Finding, Grid, Sheet
from macex.render.speech import Speech

if TYPE_CHECKING:
    from macex.engine.engine import Engine


@dataclass(frozen=True, repr=False)
class WhatIf(Finding):
    """What the model says of a row (`before`), and of it with other values (`after`).

    `scores` has the score of every class, or of every output, before and after. `consequences` are
    the columns that follow from the changes by causes.
    """

    before: Any
    after: Any
    scores: tuple[tuple[Any, float, float], ...]
    changes: tuple[Change, ...]
    names: Names = field(default_factory=dict)
    consequences: tuple[Change, ...] = ()

    @property
    def flips(self) -> bool:
        """Whether the model decides otherwise then."""
        return bool(self.before != self.after)

    def to_frame(self) -> pd.DataFrame:
        """One line per class: its score before and after."""
        return pd.DataFrame(list(self.scores), columns=["class", "before", "after"])

    def sheet(self) -> Sheet:
        """The changes, and the scores before and after."""
        speech = Speech(self.names)
        changes = tuple((speech.name(c.column), *speech.change(c)) for c in self.changes)
        changes += tuple(
            (f"{speech.name(c.column)} (follows)", *speech.change(c)) for c in self.consequences
        )
        told = tuple(
            (speech.plain(name), *speech.scores(before, after))
            for name, before, after in self.scores
        )
        bars = tuple(min(1.0, max(0.0, after)) for _, _, after in self.scores)
        probable = all(0 <= score <= 1 for _, *both in self.scores for score in both)
        return Sheet(
            self._title(speech),
            grids=(
                Grid("", ("column", "now", "what if"), changes),
                Grid("", ("score of", "now", "what if"), told, bars if probable else ()),
            ),
        )

    def _title(self, speech: Speech) -> str:
        if self.before is None:
            now, then = speech.scores(*self.scores[0][1:])
            return f"The score would be {then} instead of {now}"
        decided = speech.plain(self.after)
        if not self.flips:
            return f"The model would still decide {decided}"
        return f"The model would decide {decided} instead of {speech.plain(self.before)}"


def what_if(engine: Engine, row: Any, values: Mapping[str, Any]) -> WhatIf:
    """What the model says of a row, and of it with other values."""
    read = engine.schema.read(row)
    if len(read) != 1:
        raise OptionError(f"what_if takes one row, not {len(read)}: give rows.iloc[[0]], say")
    said, (changes,), (follows,) = tried(engine, read, [values])
    return WhatIf(
        said.label(0),
        said.label(1),
        _scores(said),
        tuple(Change(*change) for change in changes),
        engine.options.names,
        tuple(Change(*one) for one in follows),
    )


def _scores(said: Predictions) -> tuple[tuple[Any, float, float], ...]:
    names = said.classes or tuple(range(said.scores.shape[1]))
    return tuple(zip(names, *said.scores.tolist(), strict=True))
