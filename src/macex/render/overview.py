"""What the card of a summary shows, as text and positions only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from math import isfinite
from typing import Any

from macex.render.speech import Speech


@dataclass(frozen=True)
class Figure:
    """A number and what it is a number of."""

    text: str
    of: str


@dataclass(frozen=True)
class Frequency:
    """How often a column changes, how long its bars are in percent, and what is typical of it."""

    name: str
    times: str
    share: float
    typical: tuple[str, ...]
    shap: str
    shap_share: float


@dataclass(frozen=True)
class Overview:
    """A summary."""

    title: str
    figures: tuple[Figure, ...]
    cost: str
    without: tuple[tuple[str, int], ...]
    frequencies: tuple[Frequency, ...]
    stepped: bool
    compared: bool


def overview(summary: Any, speech: Speech) -> Overview:
    """The card of a summary."""
    places = {"found": summary.found, "rows": summary.rows}
    title = speech.say("summary.title", places) if summary.rows else speech.say("summary.empty")
    return Overview(
        title=title,
        figures=_figures(summary, speech),
        cost=_cost(summary, speech),
        without=summary.without,
        frequencies=_frequencies(summary, speech),
        stepped=any(entry.up or entry.down for entry in summary.typical),
        compared=bool(summary.shap),
    )


def typical_texts(entry: Any, speech: Speech) -> tuple[str, ...]:
    """What is typical of a column's changes: steps of numbers, pairs of anything else."""
    steps = [("up", entry.up), ("down", entry.down)]
    said = [
        speech.say(
            f"summary.{way}", {"step": _size(entry.column, step.size, speech), "count": step.times}
        )
        for way, step in steps
        if step is not None
    ]
    if entry.stretch is not None:
        first, last = entry.stretch
        said.append(speech.say("summary.stretch", {"first": first, "last": last}))
    for change, count in entry.pairs:
        before, after = speech.change(change)
        said.append(speech.say("summary.pair", {"before": before, "after": after, "count": count}))
    return tuple(said)


def _size(column: str, size: Any, speech: Speech) -> str:
    if isinstance(size, timedelta):
        days = size / timedelta(days=1)
        return f"{speech.number(days)} d" if days >= 1 else str(size)
    return speech.value(column, float(f"{size:.4g}"))


def _figures(summary: Any, speech: Speech) -> tuple[Figure, ...]:
    means: Mapping[str, float] = summary.metrics
    shares = {"usual": 1 - means["implausible"], "minimal": means["minimal"]} if means else {}
    figures = [
        (speech.number(summary.counterfactuals), "answers"),
        (_known(means.get("sparsity"), speech), "changes"),
        *((f"{100 * share:.0f} %", name) for name, share in shares.items() if isfinite(share)),
    ]
    shown = figures if summary.rows else []
    return tuple(Figure(text, speech.say(f"summary.{of}")) for text, of in shown if text)


def _cost(summary: Any, speech: Speech) -> str:
    if not summary.rows or not summary.cost.calls:  # answers read again were not counted
        return ""
    time = f"{speech.number(1000 * summary.cost.seconds)} ms"
    rows, calls = speech.number(summary.cost.rows), speech.number(summary.cost.calls)
    return speech.say("summary.cost", {"rows": rows, "calls": calls, "time": time})


def _known(number: float | None, speech: Speech) -> str:
    return "" if number is None or not isfinite(number) else speech.score(number)


def _frequencies(summary: Any, speech: Speech) -> tuple[Frequency, ...]:
    """A line for each column that changes, and with SHAP for each that has any."""
    typical = {entry.column: entry for entry in summary.typical}
    ranked = sorted(summary.shap, key=lambda column: -summary.shap[column])
    columns = list(dict.fromkeys([*typical, *ranked]))
    times = {column: typical[column].times if column in typical else 0 for column in columns}
    most = max(times.values(), default=0)
    largest = max(summary.shap.values(), default=0.0)
    return tuple(
        Frequency(
            name=speech.name(column),
            times=_times(times[column], summary.counterfactuals),
            share=_percent(times[column], most),
            typical=typical_texts(typical[column], speech) if column in typical else (),
            shap=speech.number(summary.shap[column]) if column in summary.shap else "",
            shap_share=_percent(summary.shap.get(column, 0.0), largest),
        )
        for column in columns
    )


def _times(times: int, of: int) -> str:
    return f"{times} ({100 * times / of:.0f}\N{NO-BREAK SPACE}%)" if of else str(times)


def _percent(part: float, whole: float) -> float:
    return round(100 * part / whole, 1) if whole else 0.0
