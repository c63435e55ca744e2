"""The result as a value: which channels, and which part of them, would change the answer.

As a frame, a channel is a column, and a cell holds its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import pandas as pd

from macex.ask.goals import Goal
from macex.explanation import Cost
from macex.explanation.batch import ExplanationsOf
from macex.explanation.json import Document, dumps
from macex.explanation.tables import REMARKS, beside, by_column, lines_of
from macex.explanation.values import Asking, Over, Status
from macex.metrics import Why, with_whys
from macex.render.charts.chart import Chart
from macex.render.names import Names
from macex.render.results import Answered
from macex.render.sentences import sentences
from macex.schema import Array
from macex.series.cases import Cases, contents
from macex.series.limits import ValueLimit
from macex.series.mixtures import differs
from macex.series.times import Times

Fewer = Literal["time", "rows", "fragile", "tried"]
"""Why there are fewer answers than were asked for: time or rows ran out; others do not hold as
`robust=` and `also=` ask; or no other combination that was tried suffices."""


@dataclass(frozen=True)
class SeriesChange:
    """A stretch of one channel that is taken from a training case.

    It reaches from time point `start` to before `stop`. `blend` is 1 where the other case's values
    are taken as they are, and less where they are mixed with the case's own. `case` is the position
    of the training case and `label` what the model decides for it. `limit` says what of the
    constraints kept values from going so far.
    """

    channel: str
    start: int
    stop: int
    blend: float
    case: int
    label: Any
    before: Array = field(repr=False, compare=False)  # (stop - start,)
    after: Array = field(repr=False, compare=False)
    times: tuple[str, str] | None = None  # what the first and the last time point are called
    limit: ValueLimit | None = None

    @property
    def column(self) -> str:
        """The channel: to the searches it is a column."""
        return self.channel


class SeriesAction(NamedTuple):
    """A whole channel (or group) of a case, and whether it suffices alone.

    `weight` is as in `Action`: its share in what the best of all channels gain, each by itself.
    """

    channel: str
    case: int
    weight: float
    flips: bool

    @property
    def column(self) -> str:
        """The channel: to the searches it is a column."""
        return self.channel

    @property
    def value(self) -> str:
        """Where the channel is taken from."""
        return f"case {self.case}"


class Surroundings(NamedTuple):
    """What a changed channel is seen beside.

    `donor` is the channel of the case it is taken from; eight of ten training cases that meet the
    goal lie between `low` and `high`, which are None where there are too few.
    """

    donor: Array  # (time,)
    low: Array | None  # (time,)
    high: Array | None


class CaseSource(NamedTuple):
    """Where a sample comes from: the caller's cases, which of them, and its channels as they are.

    It is to a case what `Source` is to a row.
    """

    cases: Cases
    names: tuple[str, ...]
    query: int
    sample: Array  # (channels, time)
    id: object = None

    def frame(self) -> Array:
        """The sample in the caller's layout."""
        sample: Array = self.cases.given([self.sample])[0]
        return sample

    def cells(self) -> dict[str, Array]:
        """The channels by name."""
        return dict(zip(self.names, self.sample, strict=True))

    def written(self) -> dict[str, Array]:
        """The channels that differ from those of the case."""
        moved = np.asarray(differs(self.cases.values[self.query], self.sample).any(axis=1))
        return {name: self.sample[at] for at, name in enumerate(self.names) if moved[at]}

    @property
    def codes(self) -> Array:
        """A number for what every channel holds, (channels,): equal where the channels are."""
        return contents([self.sample])[0]


@dataclass(frozen=True)
class SeriesCounterfactual:
    """A sample that reaches the goal (or, as a miss, nearly does), in the caller's layout.

    `proximity` is how far the channels move, `distance` the same times the weights. `robustness` is
    the share of its 32 neighbors that reach the goal, too, where it was asked for. `probabilities`
    are those of all classes; there are none of a miss, nor where the model gives none.
    """

    changes: tuple[SeriesChange, ...]
    label: Any
    score: float
    sparsity: int  # changed channels; a group counts once
    proximity: float
    distance: float
    plausibility: float | None
    minimal: bool
    source: CaseSource = field(repr=False, compare=False)
    robustness: float | None = None
    label_score: float | None = None  # of the class decided, where the goal is several classes
    why: Why | None = None
    beside: Mapping[str, Surroundings] = field(default_factory=dict, repr=False, compare=False)
    probabilities: Mapping[Any, float] = field(default_factory=dict, repr=False, compare=False)
    copies: ClassVar[bool] = False

    @property
    def of_other_class(self) -> bool:
        """Whether no case that channels are taken from is decided as the counterfactual is."""
        return bool(self.changes) and all(one.label != self.label for one in self.changes)

    consequences: ClassVar[tuple[()]] = ()  # channels follow from no others

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the changed channels."""
        return tuple(dict.fromkeys(change.channel for change in self.changes))

    @cached_property
    def sample(self) -> Array:
        """The counterfactual like the case that was explained."""
        return self.source.frame()


@dataclass(frozen=True, repr=False)
class SeriesExplanation(Answered[SeriesCounterfactual]):
    """What the least is that would have to be different in one case.

    `status` is `"found"`; or `"none"` (every allowed combination over `minimal_over` was scored and
    failed), `"not_found"` (the search was cut) or `"budget"` (rows or time ran out), and then
    `reason` says why and `miss` is the sample that came nearest. `fewer` says why there are fewer
    answers than were asked for. `probabilities` are those of all classes for the case itself.
    """

    label: Any
    score: float
    goal: Goal
    status: Status
    reason: str | None
    miss: SeriesCounterfactual | None
    counterfactuals: tuple[SeriesCounterfactual, ...]
    actions: tuple[SeriesAction, ...]
    minimal: bool
    minimal_over: Over | None
    method: str
    cost: Cost = field(compare=False)
    source: CaseSource = field(repr=False, compare=False)
    diagnosis: tuple[str, ...] = ()
    names: Names = field(default_factory=dict, repr=False, compare=False)
    asked: Asking = field(default=Asking(), repr=False, compare=False)
    times: Times = field(default=Times(), repr=False, compare=False)
    fewer: Fewer | None = None
    probabilities: Mapping[Any, float] = field(default_factory=dict, repr=False, compare=False)
    of_series: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "counterfactuals", with_whys(self.counterfactuals, self.goal))

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the channels."""
        return self.source.names

    @property
    def columns(self) -> tuple[str, ...]:
        """The channels: to the searches they are columns."""
        return self.source.names

    @property
    def layout(self) -> str:
        """How the case is laid out."""
        return self.source.cases.layout

    def sentences(self, language: str | Path = "en") -> list[str]:
        """The answer in plain language, one sentence per counterfactual."""
        return sentences(self, language)

    def plot(self, rank: int = 1, most: int = 8) -> Chart:
        """The case and its counterfactual over each other, changed stretches shaded.

        A drawing for each of the first `most` changed channels of the counterfactual `rank`.
        """
        from macex.series.plots import panels

        return panels(self, rank, most)

    def to_frame(self) -> Any:
        """One line per counterfactual, as in `SeriesExplanations.to_frame`."""
        from macex.series.values import answers_frame

        return answers_frame([self], self.channels)

    def to_changes(self) -> Any:
        """One line per change, as in `SeriesExplanations.to_changes`."""
        from macex.series.values import changes_frame

        return changes_frame([self])

    def json_text(self, *, canonical: bool) -> str:
        """The explanation as JSON; see `macex.series.json`."""
        from macex.series.json import explanation_document

        return dumps(explanation_document(self, canonical=canonical), canonical=canonical)


class SeriesExplanations(ExplanationsOf[SeriesExplanation]):
    """The explanations of cases of time series."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """One line per counterfactual: a cell of each channel holds its values as an array.

        After the channels come the columns `cf.row` to `cf.minimal` as for tables. A case without
        an answer has one line of rank 0.
        """
        from macex.series.values import answers_frame

        return answers_frame(self._items, self._rows)

    def to_changes(self) -> Any:
        """One line per change: `cf.row`, `cf.rank`, and the fields of `SeriesChange`."""
        from macex.series.values import changes_frame

        return changes_frame(self._items)

    def _document(self, *, canonical: bool) -> Document:
        from macex.series.json import explanations_document

        return explanations_document(self, self.meta, canonical=canonical)


CHANGES = ("cf.row", "cf.rank", "channel", "start", "stop", "blend", "case", "label")
LIMIT = ("low", "high", "direction")
VALUES = ("before", "after")
DTYPES = {"cf.row": "int64", "cf.rank": "int64", "start": "int64", "stop": "int64"}
ENDS = {"low": "float64", "high": "float64"}
MORE = {"channel": "str", "blend": "float64", "case": "int64"} | ENDS


def answers_frame(items: Sequence[Any], names: Sequence[str]) -> pd.DataFrame:
    """One line per counterfactual; `names` are the channels."""
    lines = list(lines_of(items))
    cells = [line.source.cells() for line in lines]
    columns = {name: pd.Series([one[name] for one in cells], dtype=object) for name in names}
    remarks = by_column(tuple(REMARKS), [line.remarks for line in lines])
    return beside(pd.DataFrame(columns, index=range(len(lines))), remarks)


def changes_frame(items: Sequence[Any]) -> pd.DataFrame:
    """One line per change."""
    fields = (*CHANGES[2:], *VALUES)
    lines = [
        (line.row, line.rank, *(getattr(change, name) for name in fields), *_limit(change))
        for line in lines_of(items)
        if line.found is not None
        for change in line.found.changes
    ]
    columns = by_column((*CHANGES, *VALUES, *LIMIT), lines)
    made = {name: pd.Series(cells, dtype=object) for name, cells in columns.items()}
    return pd.DataFrame(made).astype(DTYPES | MORE)


def _limit(change: Any) -> tuple[Any, ...]:
    """What kept values from going so far, if anything did."""
    return (None, None, None) if change.limit is None else tuple(change.limit)
