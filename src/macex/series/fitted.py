"""What is learnt once from the model and the training cases, and used by every call."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from macex.ask.answers import Answers, Goals, Outlook
from macex.ask.units import Ground
from macex.errors import MacexError, ModelError
from macex.models.consultation import consult
from macex.models.oracle import NotAScoreError, Oracle
from macex.render.names import Names
from macex.schema import Array, Rows, Schema
from macex.series.cases import Cases
from macex.series.mixtures import differs, rows_at_once
from macex.series.nearness import Sketch, learn_sketch, nearest
from macex.series.options import SeriesOptions
from macex.series.texture import Texture, Usual, learn_texture, usual_of
from macex.series.times import Times


@dataclass
class FittedSeries:
    """The model, the training cases and the model's answers for them.

    For the searches a case is a row of codes: 0 where a channel is its own, j where it is that of
    its neighbour j. `ground` is the table of all such rows that take every channel from one case,
    and `own` the row that takes none.
    """

    oracle: Oracle
    train: Cases
    names: tuple[str, ...]
    answers: Answers
    options: SeriesOptions
    ground: Ground = field(init=False)
    own: Rows = field(init=False)
    sketch: Sketch = field(init=False)
    drawn: Array = field(init=False)  # (T, d, points)
    binding: ClassVar[None] = None  # no structure is looked for between channels
    texture: Texture = field(init=False)
    times: Times = field(default_factory=Times)
    called: Names = field(default_factory=dict)  # what channels are called in front of people
    _meeting: dict[bytes, Array] = field(default_factory=dict)
    _usual: dict[bytes, Usual] = field(default_factory=dict)

    def __post_init__(self) -> None:
        codes = np.arange(self.neighbors + 1)
        table = pd.DataFrame(dict.fromkeys(self.names, codes))
        schema = Schema.infer(table, dict.fromkeys(self.names, "categorical"))
        self.ground = Ground(schema, schema.read(table).codes)
        self.own = schema.read(table.iloc[:1])
        self.sketch, self.drawn = learn_sketch(self.train, self.options.candidates.points)
        self.texture = learn_texture(self.train)

    @property
    def neighbors(self) -> int:
        """How many neighbours every case has, at most, those in reserve among them."""
        width, choice = len(self.names), self.options.candidates
        return choice.count(width) + choice.reserve(width)

    @property
    def outlook(self) -> Outlook:
        """What the model's numbers mean."""
        return self.oracle.outlook

    def rows(self, count: int) -> Rows:
        """`count` cases as rows of codes, all unlike every training case."""
        rows = self.own.take(np.zeros(count, np.intp))
        return replace(rows, frame_odd=np.ones(rows.codes.shape, bool))

    def meeting(self, goals: Goals, query: int) -> Array:
        """The training cases that meet a query's goal."""
        key = goals.signature(query)
        if key not in self._meeting:
            at = np.full(len(self.answers.decision), query)
            self._meeting[key] = np.flatnonzero(goals.judge(self.answers, at).reached)
        return self._meeting[key]

    def near(self, goals: Goals, query: int, sketch: Array, match: Array) -> Array:
        """The nearest cases that meet the goal; where none does, those that come nearest to it."""
        choice, rows = self.options.candidates, self.meeting(goals, query)
        if not len(rows):
            at = np.full(len(self.answers.decision), query)
            progress = goals.judge(self.answers, at).progress
            return np.argsort(-progress, kind="stable")[: self.neighbors]
        return nearest(self.drawn, sketch, rows, match, choice, self.neighbors)

    def plausibility(self, goals: Goals, query: int, own: Array, sample: Array) -> float | None:
        """How plausible a sample is; None where too few cases meet the goal."""
        share = float(self.plausibilities(goals, query, own, sample[None])[0])
        return None if np.isnan(share) else share

    def plausibilities(self, goals: Goals, query: int, own: Array, samples: Array) -> Array:
        """How plausible samples (n, d, time) are: by few points, and by the steps of what changed.

        NaN where too few cases meet the goal.
        """
        changed = np.asarray(differs(own, samples).any(axis=2))
        here = self.sketch(own)
        drawn = np.repeat(here[None], len(samples), axis=0)
        at, channel = np.nonzero(changed)
        drawn[at, channel] = self.sketch.channels(samples[at, channel], channel)
        usual = self.usual(goals, query).shares(here, drawn, changed)
        rough = self.texture.shares(self.meeting(goals, query), samples, changed)
        return np.minimum(usual, rough)

    def usual(self, goals: Goals, query: int) -> Usual:
        """What counterfactuals of a query are compared with for plausibility."""
        key = goals.signature(query)
        if key not in self._usual:
            self._usual[key] = usual_of(self.drawn, self.meeting(goals, query))
        return self._usual[key]

    def with_options(self, options: SeriesOptions) -> FittedSeries:
        """The same model and training cases, with other options; what is remembered is shared."""
        other = copy.copy(self)
        other.options = options
        return other

    def said(self, cases: Cases) -> Answers:
        """What the model itself says of cases."""
        none = Answers(np.zeros((0, max(1, self.outlook.width))), np.zeros(0, int))
        given = parts_given(cases) if len(cases) else ()
        return _together([none, *(self.oracle.own(part, len(part)) for _, part in given)])

    def label(self, decision: int) -> Any:
        """The name of a decided class; None where there are no classes."""
        classes = self.outlook.classes
        return None if classes is None or decision < 0 else classes[decision]


def fit(
    model: Any,
    train: Cases,
    names: tuple[str, ...],
    classes: Sequence[object] | None,
    options: SeriesOptions,
) -> FittedSeries:
    """Ask the model about the training cases, in parts, and learn what every call needs."""
    oracle, answers = _asked(model, train, classes)
    return FittedSeries(oracle.compared(answers), train, names, answers, options)


def _asked(model: Any, train: Cases, classes: Any) -> tuple[Oracle, Answers]:
    """The model, and its answers for the training cases."""
    oracle: Oracle | None = None
    answers: list[Answers] = []
    for start, part in parts_given(train):
        try:
            if oracle is None:
                oracle, found = consult(model, part, len(part), classes)
            else:
                found = oracle(part, len(part))
        except NotAScoreError as fault:
            case = start + int(fault.rows[0])
            raise ModelError(
                f"{fault}, for training case {case}", row=train.values[case]
            ) from fault
        except MacexError:
            raise
        except Exception as fault:
            raise ModelError(
                f"the model raised {fault!r} when asked about the training cases: it is called "
                f"with {_form(train)} in the layout {train.layout!r} and dtype {train.dtype}"
            ) from fault
        answers.append(found)
    if oracle is None:
        raise TypeError("there is at least one training case")
    return oracle, _together(answers)


def _together(parts: list[Answers]) -> Answers:
    """The answers of several calls as those of one."""
    scores = np.concatenate([part.scores for part in parts])
    return Answers(scores, np.concatenate([part.decision for part in parts]))


def _form(train: Cases) -> str:
    return "arrays of three axes" if train.even else "lists of 2-D arrays of unequal lengths"


def parts_given(train: Cases) -> Iterator[tuple[int, Any]]:
    """The training cases as the model gets them, a bounded number at once."""
    step = rows_at_once(train)
    for start in range(0, len(train), step):
        yield start, train.given(train.values[start : start + step])
