"""The result as a value: which channels, and which part of them, would change the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, overload

from macex.ask.goals import Goal
from macex.explanation import Cost
from macex.explanation.values import Over, Status
from macex.render.text import batch_text
from macex.schema import Array
from macex.series import words


@dataclass(frozen=True)
class SeriesChange:
    """A stretch of one channel that is taken from a training case.

    It reaches from time point `start` to before `stop`. `blend` is 1 where the other case's values
    are taken as they are, and less where they are mixed with the case's own. `case` is the position
    of the training case and `label` what the model decides for it.
    """

    channel: str
    start: int
    stop: int
    blend: float
    case: int
    label: Any
    before: Array = field(repr=False, compare=False)  # (stop - start,)
    after: Array = field(repr=False, compare=False)


class SeriesAction(NamedTuple):
    """A whole channel (or group) of a case, and whether it suffices alone.

    `weight` is as in `Action`: its share in what the best of all channels gain, each by itself.
    """

    channel: str
    case: int
    weight: float
    flips: bool


@dataclass(frozen=True)
class SeriesCounterfactual:
    """A sample that reaches the goal (or, as a miss, nearly does), in the caller's layout."""

    changes: tuple[SeriesChange, ...]
    label: Any
    score: float
    sparsity: int  # changed channels; a group counts once
    distance: float
    plausibility: float | None
    minimal: bool
    sample: Array = field(repr=False, compare=False)

    @property
    def channels(self) -> tuple[str, ...]:
        """The names of the changed channels."""
        return tuple(change.channel for change in self.changes)


@dataclass(frozen=True)
class SeriesExplanation:
    """What the least is that would have to be different in one case.

    `status` is `"found"`; or `"none"` (every allowed combination over `minimal_over` was scored and
    failed), `"not_found"` (the search was cut) or `"budget"` (rows or time ran out), and then
    `reason` says why and `miss` is the sample that came nearest.
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
    query: Array = field(repr=False, compare=False)  # the case, in the caller's layout
    channels: tuple[str, ...] = field(repr=False, compare=False)
    layout: str = field(default="channels_first", repr=False)
    diagnosis: tuple[str, ...] = ()

    def sentences(self) -> list[str]:
        """The answer in plain language, one sentence per counterfactual."""
        return words.sentences(self)

    def plot(self, rank: int = 1, most: int = 8) -> Any:
        """The case and its counterfactual overlaid, changed stretches shaded: matplotlib axes.

        One panel for each of the first `most` changed channels of the counterfactual `rank`.
        """
        from macex.series.plots import panels

        return panels(self, rank, most)

    def to_json(self, *, canonical: bool = False) -> str:
        """The explanation as JSON; see `macex.series.json`."""
        from macex.series.json import dumps, explanation_document

        return dumps(explanation_document(self, canonical=canonical), canonical=canonical)

    def __repr__(self) -> str:
        return words.explanation_text(self)

    def _repr_html_(self) -> str:
        from macex.series.html import fragment

        return fragment([self])


class SeriesExplanations(Sequence[SeriesExplanation]):
    """One explanation for each case that was asked about; a slice is again a batch."""

    __slots__ = ("_items",)

    def __init__(self, items: Sequence[SeriesExplanation]) -> None:
        self._items = tuple(items)

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> SeriesExplanation: ...
    @overload
    def __getitem__(self, at: slice) -> SeriesExplanations: ...
    def __getitem__(self, at: int | slice) -> SeriesExplanation | SeriesExplanations:
        if isinstance(at, slice):
            return SeriesExplanations(self._items[at])
        return self._items[at]

    def to_json(self, *, canonical: bool = False) -> str:
        """The batch as JSON; canonical, equal answers are equal bytes."""
        from macex.series.json import dumps, explanations_document

        return dumps(explanations_document(self, canonical=canonical), canonical=canonical)

    def __repr__(self) -> str:
        return batch_text(self._items)

    def _repr_html_(self) -> str:
        from macex.series.html import fragment

        return fragment(self._items)
