"""The explanations of a batch of rows, in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from macex.explanation.json import dumps, explanations_document
from macex.explanation.quality import quality
from macex.explanation.summary import Summary, summarise
from macex.explanation.tables import answers_frame, changes_frame
from macex.explanation.values import Explanation
from macex.render.text import batch_text

SHOWN = 20


class Explanations(Sequence[Explanation]):
    """One explanation for each row that was asked about; a slice is again a batch.

    `names` is how columns are called in front of people, `meta` what made the answers: version,
    seed, method and the like.
    """

    __slots__ = ("_items", "_rows", "meta", "names")

    def __init__(
        self,
        items: Sequence[Explanation],
        names: Mapping[str, str] | None = None,
        meta: Mapping[str, Any] | None = None,
        rows: Any = None,
    ) -> None:
        self._items = tuple(items)
        self._rows = rows
        self.names = dict(names or {})
        self.meta = dict(meta or {})

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> Explanation: ...
    @overload
    def __getitem__(self, at: slice) -> Explanations: ...
    def __getitem__(self, at: int | slice) -> Explanation | Explanations:
        if isinstance(at, slice):
            return Explanations(self._items[at], self.names, self.meta, self._rows)
        return self._items[at]

    def to_frame(self) -> Any:
        """One line per counterfactual, in the caller's library and dtypes.

        After the caller's own columns come `cf.row` (the position in this batch), `cf.rank` (1 is
        best), `cf.status`, `cf.label`, `cf.score`, `cf.sparsity`, `cf.proximity`,
        `cf.plausibility` and `cf.minimal`. A row without an answer has one line of rank 0 with
        its own cells, label and score.
        """
        return answers_frame(self._items, self._rows)

    def to_changes(self) -> Any:
        """One line per change: `cf.row`, `cf.rank`, column, before, after, low, high.

        `low` and `high` bound the interval around `after` that was found to hold.
        """
        return changes_frame(self._items)

    def to_json(self, *, canonical: bool = False) -> str:
        """The batch as JSON; canonical, equal answers are equal bytes."""
        document = explanations_document(self, self.names, self.meta, canonical=canonical)
        return dumps(document, canonical=canonical)

    def metrics(self) -> dict[str, float]:
        """Validity, sparsity, proximity, plausibility, diversity and cost, as means.

        `validity_own` leaves out the answers of searches that stepped in for the one asked for;
        `implausible` is the share of plausibilities under 0.05.
        """
        return quality(self._items, self.meta.get("n"), self.meta.get("method"))

    def summary(self) -> Summary:
        """What the answers have in common: which columns change, and how."""
        return summarise(self._items)

    def plot(self) -> Any:
        """A bar for each column, as long as the number of times it changes: matplotlib axes."""
        from macex.render.plots import bars

        return bars(self.summary().columns)

    def to_html(self, path: str | Path | None = None, *, title: str = "Explanations") -> str:
        """A report in one file that needs nothing else; also written to `path` if given."""
        from macex.render.html import report, write

        page = report(self._items, title, self.meta, self.summary())
        if path is not None:
            write(Path(path), page)
        return page

    def __repr__(self) -> str:
        return batch_text(self._items)

    def _repr_html_(self) -> str:
        from macex.render.html import fragment

        return fragment(self._items[:SHOWN], total=len(self))
