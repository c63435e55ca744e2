"""What a card of the HTML pages shows of one explanation, as text and positions only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from macex.render.sentences import called
from macex.render.values import before_after, notes, score_text, scores, shown

ACTIONS = 4


@dataclass(frozen=True)
class Bar:
    """Two scores on a scale: their text, and where they lie on it in percent."""

    before_text: str
    after_text: str
    before: float
    after: float


@dataclass(frozen=True)
class Answer:
    """One column of the table: a counterfactual, or the nearest miss."""

    heading: str
    label: str
    bar: Bar
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """A value that differs from the query's, and a remark on it."""

    text: str
    remark: str


@dataclass(frozen=True)
class Line:
    """One line of the table: a column, its value now, and in each answer (None: the same)."""

    name: str
    before: str
    after: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Card:
    """One explanation."""

    title: str
    label: str
    score: str
    goal: str
    status: str
    reason: str
    answers: tuple[Answer, ...]
    lines: tuple[Line, ...]
    unchanged: tuple[tuple[str, str], ...]
    actions: tuple[tuple[str, str, int, bool], ...]
    sentences: tuple[str, ...]


def cards(items: Sequence[Any], *, numbered: bool) -> list[Card]:
    """A card for each explanation, numbered by its place among them."""
    return [card(item, row if numbered else None) for row, item in enumerate(items)]


def card(explanation: Any, row: int | None) -> Card:
    """The card of one explanation."""
    found = explanation.counterfactuals
    columns = found or [miss for miss in [explanation.miss] if miss is not None]
    query = explanation.source.cells()
    differing = [_differing(column) for column in columns]
    changed = dict.fromkeys(name for cells in differing for name in cells)
    return Card(
        title=_title(explanation, row),
        label="" if explanation.label is None else shown(explanation.label),
        score=score_text(explanation.score),
        goal=explanation.goal.text,
        status=explanation.status,
        reason=explanation.reason or "",
        answers=tuple(
            _answer(explanation, column, f"answer {rank}" if found else "nearest miss")
            for rank, column in enumerate(columns, 1)
        ),
        lines=tuple(
            Line(
                called(name, explanation.names),
                shown(query[name]),
                tuple(cells.get(name) for cells in differing),
            )
            for name in changed
        ),
        unchanged=tuple(
            (called(name, explanation.names), shown(value))
            for name, value in query.items()
            if name not in changed
        ),
        actions=tuple(_action(explanation, action) for action in explanation.actions[:ACTIONS]),
        sentences=tuple(explanation.sentences()) if found else (),
    )


def _title(explanation: Any, row: int | None) -> str:
    name = explanation.source.id
    if row is None:
        return "Explanation" if name is None else f"Row {shown(name)}"
    return f"Row {row}" if name is None or name == row else f"Row {row} ({shown(name)})"


def _differing(found: Any) -> dict[str, Cell]:
    """The changed cells by column, then those that only follow from them."""
    cells = {change.column: _cell(change) for change in found.changes}
    for name, value in found.source.written().items():
        cells.setdefault(name, Cell(shown(value), "follows from the others"))
    return cells


def _cell(change: Any) -> Cell:
    _, after = before_after(change.before, change.after)
    interval = change.interval
    if interval is None or interval.low == interval.high:
        return Cell(after, "")
    return Cell(after, f"holds from {shown(interval.low)} to {shown(interval.high)}")


def _answer(explanation: Any, found: Any, heading: str) -> Answer:
    label = "" if found.label is None else shown(found.label)
    return Answer(heading, label, bar(explanation.score, found.score), notes(explanation, found))


def bar(before: float, after: float) -> Bar:
    """Scores on a scale from 0 to 1, or, where they lie outside it, on one that holds both.

    >>> bar(0.25, 0.75).after, bar(-3.0, 1.0).before
    (75.0, 0.0)
    """
    low, high = min(0.0, before, after), max(1.0, before, after)
    places = [round(100 * (score - low) / (high - low), 2) for score in (before, after)]
    return Bar(*scores(before, after), *places)


def _action(explanation: Any, action: Any) -> tuple[str, str, int, bool]:
    name = called(action.column, explanation.names)
    return name, shown(action.value), round(100 * action.weight), action.flips
