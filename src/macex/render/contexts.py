"""Changes in context: where values lie among the training rows that have the wanted decision."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from macex.errors import MacexError
from macex.render.charts.axes import Categories, Measure
from macex.render.charts.bars import Dumbbell, Way
from macex.render.speech import Speech
from macex.schema import UNKNOWN, Array, Column, special
from macex.schema.distributions import Distributions

MOST = 12  # categories of a column that are drawn
DAY = 86_400.0


def context(explanation: Any, found: Any, speech: Speech) -> Dumbbell | None:
    """The changes of an answer over the training rows that the model decides as is wanted.

    Where the goal is a score it is all training rows. None where there is nothing to draw: no
    change, or an explanation that was read from a file, which knows of no training rows.
    """
    known = explanation.asked.distributions
    if known is None or explanation.of_series or not found.changes:
        return None
    wanted = _wanted(explanation)
    rows = _rows(explanation, wanted, speech)
    ways = tuple(
        _way(explanation, change, known, wanted, speech)
        for change in found.changes
        if change.column in explanation.source.rows.schema.names
    )
    told = "; ".join(
        speech.say(
            "context.way", {"name": way.x.name, "before": way.texts[0], "after": way.texts[1]}
        )
        for way in ways
    )
    said = speech.say("context.told", {"ways": told, "rows": rows})
    return Dumbbell(ways, rows, title=speech.say("context.title", {"rows": rows}), words=said)


def column_axis(column: Column, ends: Array, speech: Speech) -> Measure:
    """The axis of a column of numbers or times between two codes."""
    low, high = map(float, ends)
    write = partial(_written, column, speech, high - low)
    ticks: tuple[tuple[float, str], ...] = ()
    if column.kind == "datetime":
        ticks = tuple((at, write(at)) for at in np.linspace(low, high, 3).tolist())
    return Measure(speech.name(column.name), low, high, ticks, write)


def _wanted(explanation: Any) -> Array | None:
    """Which decisions are wanted, (K,); None where a score is."""
    goals = explanation.asked.goals
    if goals is None:
        return None
    query = explanation.asked.query
    query = explanation.source.query if query is None else query
    return np.asarray(goals.wanted[query]) if goals.by_class[query] else None


def _rows(explanation: Any, wanted: Array | None, speech: Speech) -> str:
    classes = explanation.asked.goals.outlook.classes if wanted is not None else None
    if wanted is None or not classes:
        return speech.say("context.rows")
    labels = [speech.plain(classes[at]) for at in np.flatnonzero(wanted).tolist()]
    return speech.say("context.rows_of", {"labels": speech.listed(labels, "or")})


def _way(
    explanation: Any, change: Any, known: Distributions, wanted: Array | None, speech: Speech
) -> Way:
    schema = explanation.source.rows.schema
    at = schema.position(change.column)
    column, counts = schema.columns[at], known.of(at, wanted)
    codes = np.array([_code(column, value) for value in (change.before, change.after)])
    texts = speech.change(change)
    if column.discrete:
        return _category_way(column, counts, codes, texts, speech)
    before, after = (None if special(code) else float(code) for code in codes)
    held = change.interval
    interval = None if held is None else (_code(column, held.low), _code(column, held.high))
    x = column_axis(column, known.ends[at], speech)
    return Way(
        x, tuple(counts.tolist()), (before, after), texts, interval, held is None or held.exact
    )


def _category_way(
    column: Column, counts: Array, codes: Array, texts: tuple[str, str], speech: Speech
) -> Way:
    """The categories that are most frequent, and the two that are meant."""
    meant = [int(code) for code in codes[~special(codes)]]
    often = np.argsort(-counts, kind="stable")
    often = often[counts[often] > 0][:MOST]
    drawn = np.unique([*often, *meant]).astype(int).tolist()
    names = tuple(speech.value(column.name, column.table[at]) for at in drawn)
    before, after = (None if special(c) else float(drawn.index(int(c))) for c in codes)
    shown = tuple(float(counts[at]) for at in drawn)
    return Way(Categories(speech.name(column.name), names), shown, (before, after), texts)


def _code(column: Column, value: object) -> float:
    """The code of a value that a frame may hold; the reserved one where there is none."""
    try:
        return float(column.code(value))
    except MacexError:
        return UNKNOWN


def _written(column: Column, speech: Speech, span: float, code: float) -> str:
    """A code as people read it on an axis: a number with few digits, a day without its hours."""
    if column.kind != "datetime":
        return speech.value(column.name, float(f"{code:.6g}"))
    value = column.value(float(column.held(np.array([code]))[0]))
    moment = column.storage.numbers.kind != "m"
    return str(value)[:10] if moment and span > 2 * DAY else speech.plain(value)
