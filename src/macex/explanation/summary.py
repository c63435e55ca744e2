"""What a batch of explanations has in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from macex.explanation.values import Change, Explanation
from macex.render.text import summary_text

TYPICAL = 10


@dataclass(frozen=True, repr=False)
class Summary:
    """How many rows have an answer, why the others have none, and what changes how often.

    `columns` and `changes` count over all counterfactuals, most frequent first.
    """

    rows: int
    found: int
    without: tuple[tuple[str, int], ...]
    columns: tuple[tuple[str, int], ...]
    changes: tuple[tuple[Change, int], ...]

    def __repr__(self) -> str:
        return summary_text(self)

    def _repr_html_(self) -> str:
        from macex.render.html import summary_fragment

        return summary_fragment(self)


def summarise(items: Sequence[Explanation]) -> Summary:
    """The summary of a batch."""
    changes = [change for item in items for cf in item.counterfactuals for change in cf.changes]
    found = sum(item.status == "found" for item in items)
    reasons = Counter(item.reason or item.status for item in items if item.status != "found")
    columns = Counter(change.column for change in changes)
    pairs = Counter(change._replace(interval=None) for change in changes)
    return Summary(
        rows=len(items),
        found=found,
        without=tuple(reasons.most_common()),
        columns=tuple(columns.most_common()),
        changes=tuple(pairs.most_common(TYPICAL)),
    )
