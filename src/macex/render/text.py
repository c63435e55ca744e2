"""Results as plain text for a terminal, wrapped to its width."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from itertools import zip_longest
from shutil import get_terminal_size
from textwrap import wrap
from typing import Any

from macex.render.overview import typical_texts
from macex.render.scores import goal_text, score_line, score_text
from macex.render.sentences import badges, fewer_texts
from macex.render.speech import Speech
from macex.render.stretches import is_stretch, stretch_texts
from macex.render.values import shown

Table = list[list[str]]
WIDTH = 100  # where the width of the reader's window is not known
NARROWEST = 40
LEGEND = (
    "usual: the share of training rows with that decision that look no more real; "
    "under 0.05 is unusual"
)
GLUE = "\N{NO-BREAK SPACE}"


def explanation_text(explanation: Any) -> str:
    """The decision, the goal, and a line for each counterfactual or the reason for none."""
    speech, room = Speech(explanation.names, of_series=explanation.of_series), width() - 2
    lines = [_decision(explanation, speech)]
    if explanation.counterfactuals and explanation.of_series:
        for rank, found in enumerate(explanation.counterfactuals, 1):
            lines += _listed(explanation, found, rank, speech)
    elif explanation.counterfactuals:
        table = [
            [f"{rank}.", *_found(explanation, found, speech), _notes(explanation, found, speech)]
            for rank, found in enumerate(explanation.counterfactuals, 1)
        ]
        lines += _stacked(table, room) if _narrow(table, room) else aligned(table, room, flexible=1)
    else:
        why = f": {explanation.reason}" if explanation.reason else ""
        lines += wrapped(f"no answer ({explanation.status}){why}", room)
        if explanation.miss is not None:
            same = f"the {'case' if explanation.of_series else 'row'} as it is"
            missed = _found(explanation, explanation.miss, speech, same)
            lines += wrapped(f"nearest miss: {'   '.join(missed)}", room)
    lines += [line for remark in _remarks(explanation) for line in wrapped(remark, room)]
    return "\n  ".join(lines)


def _narrow(table: Table, room: int) -> bool:
    """Whether the columns beside the changes leave them too little room."""
    longest = max(len(word) for line in table for word in line[1].split(" "))
    left = room - max(sum(map(len, line)) - len(line[1]) for line in table)
    return left < NARROWEST or left - 2 * (len(table[0]) - 1) < longest


def _stacked(table: Table, room: int) -> list[str]:
    """The changes of each answer, and below them what is known of it."""
    lines = []
    for rank, changes, score, notes in table:
        known = ", ".join(part for part in (score, notes) if part)
        first, *rest = [*wrapped(changes, room - 4), *wrapped(known, room - 4)]
        lines += [f"{rank:<4}{first}", *(f"    {line}" for line in rest)]
    return lines


def _listed(explanation: Any, found: Any, rank: int, speech: Speech) -> list[str]:
    """An answer about a time series: what is known of it, then a line for each change."""
    score, notes = _found(explanation, found, speech)[1], _notes(explanation, found, speech)
    changes = [change_text(change, speech) for change in found.changes] or ["no change needed"]
    head = f"{rank}.  {score}{'  ' * bool(notes)}{notes}"
    return [head, *(f"    {line}" for line in changes)]


def _decision(explanation: Any, speech: Speech) -> str:
    label = "" if explanation.label is None else f"{shown(explanation.label)}; "
    score = score_line(explanation, speech)
    said = f"{label}{score[0].lower()}{score[1:]}"
    if explanation.asked.goals is not None:
        return said
    return f"{said}; wanted: {goal_text(explanation, speech)}"


def _follows(change: Any, found: Any) -> str:
    """How a column follows, in words."""
    if change.column not in found.estimated:
        return "follows"
    return "follows on average" if found.average else "follows, estimated"


def _found(
    explanation: Any, found: Any, speech: Speech, unchanged: str = "no change needed"
) -> list[str]:
    score = score_text(explanation, found, speech)
    parts = [change_text(change, speech) for change in found.changes]
    parts += [
        f"{change_text(change, speech)} ({_follows(change, found)})"
        for change in found.consequences
    ]
    changes = _joined(parts) or unchanged
    alone = getattr(found, "label_score", None)
    score = score if alone is None else speech.score(alone)
    return [changes, score if found.label is None else f"{shown(found.label)} {score}"]


def _notes(explanation: Any, found: Any, speech: Speech) -> str:
    said = badges(found, explanation.minimal_over, speech)
    return ", ".join(badge.text for badge in said)


def _remarks(explanation: Any) -> list[str]:
    found, asked = explanation.counterfactuals, explanation.asked.n or 0
    fewer = found and found[0].changes and len(found) < asked
    why = fewer_texts(explanation, Speech(explanation.names, of_series=explanation.of_series))
    return [
        *([" ".join([f"{len(found)} of {asked} asked.", *why]).rstrip(".")] if fewer else []),
        *(
            [f"found by another search: {explanation.method}"]
            * bool(found and explanation.fell_back)
        ),
        *(f"not kept: {note}" for note in getattr(explanation, "notes", ())),
        *(
            f"{rank}. breaks: {text}"
            for rank, one in enumerate(found, 1)
            for text in getattr(one, "breaks", ())
        ),
    ]


def change_text(change: Any, speech: Speech) -> str:
    """A change in the words of the data, unless the caller gave others.

    >>> from types import SimpleNamespace
    >>> change_text(SimpleNamespace(column="hours_per_week", before=40, after=45.0), Speech())
    'hours_per_week 40 → 45'
    """
    if is_stretch(change):
        return f"{_plainly(change.column, speech)} {', '.join(stretch_texts(change, speech))}"
    before, after = speech.change(change)
    return f"{_plainly(change.column, speech)} {before} → {after}"


def _joined(parts: Sequence[str]) -> str:
    """Parts in a row, to be wrapped between them rather than within."""
    glued = (part.replace(" ", GLUE) for part in parts)
    return ", ".join(part.replace(f"{GLUE}(follows,{GLUE}", " (follows, ") for part in glued)


def _plainly(column: str, speech: Speech) -> str:
    return speech.name(column) if column in speech.names else column


def batch_text(items: Sequence[Any], limit: int = 5) -> str:
    """How many rows have an answer, then the first `limit` explanations."""
    lines = [counted(items)]
    lines += [f"{row}: {item!r}" for row, item in enumerate(items[:limit])]
    if len(items) > limit:
        lines.append(f"… and {len(items) - limit} more")
    if any(one.plausibility is not None for item in items[:limit] for one in item.counterfactuals):
        legend = LEGEND.replace("rows", "cases") if items[0].of_series else LEGEND
        lines += wrapped(legend, width())
    return "\n".join(lines)


def counted(items: Sequence[Any]) -> str:
    """How many explanations there are, and how many of each status."""
    statuses = Counter(item.status for item in items)
    known = [f"{count} {status}" for status, count in sorted(statuses.items())]
    return f"{len(items)} explanation{'s' * (len(items) != 1)}: {', '.join(known) or 'no rows'}"


def summary_text(summary: Any) -> str:
    """A summary as text: answers, reasons for none, and what changes how often."""
    speech = Speech(summary.names, of_series=summary.of_series)
    head = speech.say("summary.title", {"found": summary.found, "rows": summary.rows})
    lines = [head, *_costs(summary)]
    for reason, count in summary.without:
        lines += [f"  {line}" for line in wrapped(f"{count} without: {reason}", width() - 2)]
    if summary.typical:
        table = [[speech.say("summary.column"), "changes", "typical change"]] + [
            [
                _plainly(entry.column, speech),
                str(entry.times),
                _joined(typical_texts(entry, speech)),
            ]
            for entry in summary.typical
        ]
        lines += [f"  {line}" for line in aligned(table, width() - 2, flexible=2)]
    return "\n".join(lines)


def _costs(summary: Any) -> list[str]:
    if not summary.counterfactuals:
        return []
    found, cost = f"  {summary.counterfactuals:,} counterfactuals", summary.cost
    if not cost.rows:  # as in answers of a job, which are counted together
        return [found]
    scored = f"{cost.rows:,} {'samples' if summary.of_series else 'rows'} scored"
    return [f"{found}; {scored} and {cost.calls} model calls a query"]


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


def aligned(table: Table, room: int | None = None, flexible: int = 0) -> list[str]:
    """The lines of a table whose columns are as wide as they must be.

    Where they need more than `room`, the `flexible` column is wrapped.

    >>> aligned([["age", "1"], ["sex", "22"], ["hours", "3"]])
    ['age    1', 'sex    22', 'hours  3']
    >>> aligned([["one two three", "1"]], room=12)
    ['one two    1', 'three']
    """
    widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
    spare = None if room is None else room - sum(widths) - 2 * (len(widths) - 1)
    if spare is not None and spare < 0:
        widths[flexible] = max(widths[flexible] + spare, 8)
        table = [line for cells in table for line in _wrapped_cells(cells, widths, flexible)]
    lines = ("  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table)
    return [line.replace(GLUE, " ") for line in lines]


def _wrapped_cells(cells: list[str], widths: list[int], flexible: int) -> Table:
    parts = _cut(cells[flexible], widths[flexible])
    columns = [parts if at == flexible else [cell] for at, cell in enumerate(cells)]
    return [list(line) for line in zip_longest(*columns, fillvalue="")]


def wrapped(text: str, room: int) -> list[str]:
    """A text cut to lines, all but the first indented."""
    return [line.replace(GLUE, " ") for line in _cut(text, room, "  ") or [""]]


def _cut(text: str, room: int, indent: str = "") -> list[str]:
    """Lines that end where words end; what is glued stays together where it fits into one."""
    most = room - len(indent)
    words = [word.replace(GLUE, " ") if len(word) > most else word for word in text.split(" ")]
    return wrap(" ".join(words), room, subsequent_indent=indent, break_on_hyphens=False)


def width() -> int:
    """The width of the terminal, or 100 where what is printed goes elsewhere."""
    shows = sys.stdout is not None and sys.stdout.isatty()
    return max(NARROWEST, get_terminal_size().columns) if shows else WIDTH
