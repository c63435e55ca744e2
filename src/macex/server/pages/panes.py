"""What a row's page shows beside answers and fields.

A curve, a map, a comparison with its answers and with real rows, and the way to an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import MacexError
from macex.explainer import Explainer
from macex.explainer.curves import curve_chart, curves, map_chart, score_map
from macex.explainer.variants import Aim, Variant, variant, whose
from macex.render.plots.decision import walked
from macex.render.scores import Scale, ScoreBar, bar
from macex.render.speech import Speech
from macex.schema import Array, Column, Rows
from macex.schema.columns import MISSING, special
from macex.schema.text import text_of
from macex.server.pages.address import Address

COMPARED = 20  # with more columns than that only those are compared in which something differs
ORDERED = 6  # changes whose orders are compared: each doubles the rows that the model scores


@dataclass(frozen=True)
class Pane:
    """Something that was worked out, or why it could not be."""

    content: Any = None
    fault: str = ""


def answer_codes(rows: Rows, shown: Sequence[Any]) -> list[tuple[str, Array]]:
    """The codes of a row's answers, each with what it is called."""
    texts = [
        {name: text_of(value) for name, value in one.source.written().items()} for one in shown
    ]
    return [
        (f"answer {turn}", variant(rows, "", cells).codes) for turn, cells in enumerate(texts, 1)
    ]


def curve_pane(aim: Aim, address: Address, variants: Sequence[Variant]) -> Pane | None:
    """The curve of the column that the address names."""
    column = address.one("curve")
    if not column:
        return None
    try:
        found = curves(aim, column, [one.codes for one in variants])
    except MacexError as error:
        return Pane(fault=str(error))
    of, probable = whose(aim.said.goal, aim.said.enough, aim.speech), aim.probable
    letters = [one.letter for one in variants]
    return Pane(curve_chart(found, letters, of, probable=probable))


def map_pane(
    aim: Aim, address: Address, base: Array, answers: Sequence[tuple[str, Array]]
) -> Pane | None:
    """The map of the two columns that the address names."""
    names = address.one("mapx"), address.one("mapy")
    if not all(names):
        return None
    shown = [("this row", "row", aim.rows.codes[0])]
    shown += [(name, "answer", codes) for name, codes in answers]
    try:
        nearest = nearest_real(aim)
        if nearest is not None:
            shown.append(("nearest real row", "nearest", nearest))
        found = score_map(aim, names, base, shown)
    except MacexError as error:
        return Pane(fault=str(error))
    return Pane(map_chart(found, whose(aim.said.goal, aim.said.enough, aim.speech)))


def compare_pane(aim: Aim, answers: Sequence[tuple[str, Array]]) -> Pane:
    """The row beside its answers and real rows."""
    try:
        return Pane(comparison(aim, answers, "this row"))
    except MacexError as error:
        return Pane(fault=str(error))


@dataclass(frozen=True)
class ComparedCell:
    """A value, and whether it is another than the row's own."""

    text: str
    differs: bool


@dataclass(frozen=True)
class Comparison:
    """A table: a heading for each row that is compared, and a line for each column.

    `reached` is how many training rows have what is wanted, `left_out` how many columns are alike.
    """

    headings: tuple[str, ...]
    scores: tuple[str, ...]
    lines: tuple[tuple[str, tuple[ComparedCell, ...]], ...]
    reached: int
    left_out: int


def nearest_real(aim: Aim) -> Array | None:
    """The codes of the nearest training row that reaches the row's goal."""
    fitted = aim.explainer.engine.fitted
    if fitted.ground.private:
        return None
    met = fitted.meeting(aim.said.goals, 0)
    if not len(met):
        return None
    there = fitted.ground.codes[met]
    far = fitted.scales.total(np.broadcast_to(aim.rows.codes[:1], there.shape), there)
    nearest: Array = there[int(np.argmin(far))]
    return nearest


def comparison(aim: Aim, answers: Sequence[tuple[str, Array]], own: str) -> Comparison:
    """The row, its answers by name, the nearest real row and the average, as columns.

    The nearest row and the average are of training rows that reach the goal; the model is asked
    once.
    """
    fitted, row = aim.explainer.engine.fitted, aim.rows.codes[0]
    shown = [(own, row), *answers]
    nearest = nearest_real(aim)
    met = np.zeros(0, int) if nearest is None else fitted.meeting(aim.said.goals, 0)
    if nearest is not None:
        shown += [("nearest real row", nearest), ("average", _average(aim, met))]
    scores = aim.scores(np.stack([codes for _, codes in shown]))
    if nearest is not None:
        scores[-1] = _mean_score(aim, met)
    bounds = (aim.said.enough.low, aim.said.enough.high)
    told = [
        aim.speech.score_apart(score, [bound for bound in bounds if bound != score])
        for score in scores.tolist()
    ]
    lines = [
        (aim.speech.name(column.name), _cells(column, [c[at] for _, c in shown], aim, at))
        for at, column in enumerate(aim.rows.schema.columns)
    ]
    kept = [line for line in lines if any(cell.differs for cell in line[1][: 1 + len(answers)])]
    if len(lines) <= COMPARED or not kept:
        kept = lines
    left_out = len(lines) - len(kept)
    headings = tuple(name for name, _ in shown)
    return Comparison(headings, tuple(told), tuple(kept), len(met), left_out)


def _mean_score(aim: Aim, met: Array) -> float:
    answers = aim.explainer.engine.fitted.answers
    at = np.zeros(len(answers.decision), int)
    return float(aim.said.goals.judge(answers, at).score[met].mean())


def _average(aim: Aim, met: Array) -> Array:
    """The mean of each number and the most frequent category, over training rows."""
    codes = aim.explainer.engine.fitted.ground.codes[met]
    columns = aim.rows.schema.columns
    return np.array([_typical(column, codes[:, at]) for at, column in enumerate(columns)])


def _typical(column: Column, codes: Array) -> float:
    known = codes[~special(codes)]
    if not len(known):
        return MISSING
    if column.discrete:
        values, counts = np.unique(known, return_counts=True)
        return float(values[np.argmax(counts)])
    return float(column.snap(np.array([known.mean()]))[0])


def _cells(column: Column, codes: Sequence[float], aim: Aim, at: int) -> tuple[ComparedCell, ...]:
    own = codes[0]
    return tuple(
        ComparedCell(_text(column, float(code), aim, at), bool(code != own)) for code in codes
    )


def _text(column: Column, code: float, aim: Aim, at: int) -> str:
    speech: Speech = aim.speech
    if code == aim.rows.codes[0, at]:
        return speech.value(column.name, aim.rows.cell(0, at))
    return speech.value(column.name, column.value(code))


@dataclass(frozen=True)
class Step:
    """One change on the way, and the score from before it to after it."""

    text: str
    score: str
    bar: ScoreBar


def steps(explainer: Explainer, explanation: Any, found: Any, speech: Speech) -> tuple[Step, ...]:
    """The way from a row to an answer; none where it is a single step, or cannot be walked."""
    if len(found.changes) < 2:
        return ()
    try:
        texts, scores = _ordered(explainer, found, speech) or _walked(
            explainer, explanation, found, speech
        )
    except MacexError:
        return ()
    scale = Scale.over(scores, explanation.needed)
    made, bounds = [], (explanation.needed.low, explanation.needed.high)
    for turn, text in enumerate(texts, 1):
        score = scores[turn]
        told = speech.score_apart(score, [end for end in bounds if end != score])
        said = speech.say("score.now", {"score": told})
        drawn = bar(scale, explanation.needed, scores[turn - 1], score, said)
        made.append(Step(text, told, drawn))
    return tuple(made)


def _ordered(
    explainer: Explainer, found: Any, speech: Speech
) -> tuple[list[str], list[float]] | None:
    """The steps in words, and the scores from the row on; none for a miss, or many changes."""
    if getattr(found, "boxing", None) is None or len(found.changes) > ORDERED:
        return None
    way = explainer.steps(found)
    texts = [
        _listed(step.moves, speech)
        + (f", so that {_listed(step.follows, speech)}" if step.follows else "")
        for step in way.steps
    ]
    return texts, [way.score, *(step.score for step in way.steps)]


def _walked(
    explainer: Explainer, explanation: Any, found: Any, speech: Speech
) -> tuple[list[str], list[float]]:
    order, scores = walked(explainer, explanation, found)
    return [_listed([found.changes[at]], speech) for at in order], scores


def _listed(changes: Iterable[Any], speech: Speech) -> str:
    return ", ".join(f"{speech.name(one.column)} → {speech.change(one)[1]}" for one in changes)
