"""Results as plain text for a terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from macex.render.values import change_text, notes, score_text, scores, shown

Table = list[list[str]]


def explanation_text(explanation: Any) -> str:
    """The decision, the goal, and a line for each counterfactual or the reason for none."""
    lines = [_decision(explanation)]
    if explanation.counterfactuals:
        table = [
            [f"{rank}.", *_found(explanation, found), ", ".join(notes(explanation, found))]
            for rank, found in enumerate(explanation.counterfactuals, 1)
        ]
        lines += aligned(table)
    else:
        why = f": {explanation.reason}" if explanation.reason else ""
        lines.append(f"no answer ({explanation.status}){why}")
        if explanation.miss is not None:
            missed = _found(explanation, explanation.miss, "the row as it is")
            lines.append(f"nearest miss: {'   '.join(missed)}")
    return "\n  ".join(lines)


def _decision(explanation: Any) -> str:
    label = "" if explanation.label is None else f"{shown(explanation.label)}, "
    return f"{label}score {score_text(explanation.score)}; wanted: {explanation.goal.text}"


def _found(explanation: Any, found: Any, unchanged: str = "no change needed") -> list[str]:
    _, score = scores(explanation.score, found.score)
    changes = ", ".join(map(change_text, found.changes)) or unchanged
    return [changes, score if found.label is None else f"{shown(found.label)} {score}"]


def batch_text(items: Sequence[Any], limit: int = 5) -> str:
    """How many rows have an answer, then the first `limit` explanations."""
    lines = [counted(items)]
    lines += [f"{row}: {explanation_text(item)}" for row, item in enumerate(items[:limit])]
    if len(items) > limit:
        lines.append(f"… and {len(items) - limit} more")
    return "\n".join(lines)


def counted(items: Sequence[Any]) -> str:
    """How many explanations there are, and how many of each status."""
    statuses = Counter(item.status for item in items)
    known = [f"{count} {status}" for status, count in sorted(statuses.items())]
    return f"{len(items)} explanation{'s' * (len(items) != 1)}: {', '.join(known) or 'no rows'}"


def summary_text(summary: Any) -> str:
    """A summary as text: answers, reasons for none, columns and changes by how often."""
    lines = [f"{summary.found} of {summary.rows} rows have an answer"]
    lines += [f"  {count} without: {reason}" for reason, count in summary.without]
    if summary.columns:
        lines.append("columns that change")
        lines += aligned([["", name, str(count)] for name, count in summary.columns])
        lines.append("most frequent changes")
        lines += aligned([["", change_text(change), str(n)] for change, n in summary.changes])
    return "\n".join(lines)


def paper_table(explanation: Any) -> str:
    """The row, its counterfactuals and the top actions as a table like the paper's Table 4.

    A cell that differs from the row's own is marked `*so*`; a column no action touches is `-`.
    """
    query = explanation.source.cells()
    table = [["", "label", *query], ["Original", *_cells(explanation, query)]]
    for rank, found in enumerate(explanation.counterfactuals, 1):
        table.append([f"Counterfactual {rank}", *_cells(found, query)])
    if explanation.actions:
        actions = {action.column: shown(action.value) for action in explanation.actions}
        table.append(["Top actions", "-", *(actions.get(column, "-") for column in query)])
    return "\n".join(aligned(table))


def _cells(result: Any, query: dict[str, object]) -> list[str]:
    marked = {column: f"*{shown(value)}*" for column, value in result.source.written().items()}
    return [
        shown(result.label),
        *(marked.get(column, shown(value)) for column, value in query.items()),
    ]


def aligned(table: Table) -> list[str]:
    """The lines of a table whose columns are as wide as they must be.

    >>> aligned([["age", "1"], ["sex", "22"], ["hours", "3"]])
    ['age    1', 'sex    22', 'hours  3']
    """
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]
