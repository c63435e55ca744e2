"""What a card of the HTML pages shows of one explanation, as text and positions only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from macex.render.sentences import called
from macex.render.values import before_after, scores, shown

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
    badges: tuple[str, ...]


@dataclass(frozen=True)
class Line:
    """One line of the table: a column, its value now, and in each answer (None: unchanged)."""

    name: str
    before: str
    after: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Cell:
    """A changed value, and the run of values around it that hold as well."""

    text: str
    interval: str


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
    diagnosis: tuple[str, ...]


def cards(items: Sequence[Any], first: int = 0) -> list[Card]:
    """A card for each explanation, numbered from `first`."""
    return [card(item, row) for row, item in enumerate(items, first)]


def card(explanation: Any, row: int) -> Card:
    """The card of one explanation."""
    found = list(explanation.counterfactuals)
    shown_rows = found or [miss for miss in [explanation.miss] if miss is not None]
    lines = _lines(explanation, shown_rows)
    changed = {change.column for counterfactual in shown_rows for change in counterfactual.changes}
    score, _ = scores(explanation.score, explanation.score)
    return Card(
        title=_title(explanation, row),
        label="" if explanation.label is None else shown(explanation.label),
        score=score,
        goal=explanation.goal.text,
        status=explanation.status,
        reason=explanation.reason or "",
        answers=tuple(
            _answer(explanation, counterfactual, f"{rank}." if found else "nearest miss")
            for rank, counterfactual in enumerate(shown_rows, 1)
        ),
        lines=lines,
        unchanged=tuple(
            (called(column, explanation.names), shown(value))
            for column, value in explanation.source.cells().items()
            if column not in changed
        ),
        actions=tuple(_action(explanation, action) for action in explanation.actions[:ACTIONS]),
        sentences=tuple(explanation.sentences()) if found else (),
        diagnosis=tuple(explanation.diagnosis),
    )


def _title(explanation: Any, row: int) -> str:
    name = explanation.source.id
    return f"Row {row}" if name is None or name == row else f"Row {row} ({shown(name)})"


def _lines(explanation: Any, found: Sequence[Any]) -> tuple[Line, ...]:
    """The changed columns, in the order in which the answers name them."""
    changes = [{change.column: change for change in row.changes} for row in found]
    columns = dict.fromkeys(column for by_column in changes for column in by_column)
    lines = []
    for column in columns:
        every = [by_column.get(column) for by_column in changes]
        before = next(shown(change.before) for change in every if change is not None)
        cells = tuple(None if change is None else _cell(change) for change in every)
        lines.append(Line(called(column, explanation.names), before, cells))
    return tuple(lines)


def _cell(change: Any) -> Cell:
    _, after = before_after(change.before, change.after)
    interval = change.interval
    if interval is None or interval.low == interval.high:
        return Cell(after, "")
    return Cell(after, f"holds from {shown(interval.low)} to {shown(interval.high)}")


def _answer(explanation: Any, found: Any, heading: str) -> Answer:
    label = "" if found.label is None else shown(found.label)
    return Answer(heading, label, bar(explanation.score, found.score), _badges(explanation, found))


def _badges(explanation: Any, found: Any) -> tuple[str, ...]:
    badges = []
    if found.minimal and explanation.minimal_over:
        badges.append(f"minimal over {explanation.minimal_over}")
    if found.plausibility is not None:
        badges.append(f"plausibility {found.plausibility:.2f}")
    return tuple(badges)


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
