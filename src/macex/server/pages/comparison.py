"""A row beside its answers, the nearest real row that has the wanted decision, and the average."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from macex.explainer.variants import Aim
from macex.render.speech import Speech
from macex.schema import Array, Column
from macex.schema.columns import MISSING, special

MOST = 20  # with more columns than that only those are compared in which something differs


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
    if len(lines) <= MOST or not kept:
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
