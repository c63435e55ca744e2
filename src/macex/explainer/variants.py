"""What if: a row with other values in some of its cells, and what the model makes of it.

An `Aim` is what is wanted of a row, toward which all that is made of it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from macex.ask.answers import Goals, Needed, Verdict, compile_goals, needed
from macex.ask.goals import AnyOf
from macex.engine.predictions import followed
from macex.errors import SchemaError
from macex.explainer.explainer import Explainer
from macex.explanation import Change
from macex.models.asker import Asker
from macex.render.scores import Scale, ScoreBar, bar
from macex.render.speech import Speech
from macex.schema import Array, Rows
from macex.schema.text import code_to_set, text_of


@dataclass(frozen=True)
class Variant:
    """A row with what was typed into it; `faults` names the cells that could not be read.

    `whole` is the row with what follows by causes, `follows` the cells that do, before and after.
    """

    letter: str
    texts: Mapping[str, str]
    codes: Array
    faults: Mapping[str, str]
    whole: Array
    follows: tuple[Change, ...] = ()

    @property
    def changed(self) -> int:
        """How many cells differ from the row's own."""
        return len(self.texts)

    def told(self, speech: Speech) -> list[tuple[str, str, str, str]]:
        """What follows: column, what it is called, before and after."""
        return [(one.column, speech.name(one.column), *speech.change(one)) for one in self.follows]


@dataclass(frozen=True)
class Share:
    """One class and its score, with the length of its bar in percent."""

    label: str
    score: str
    percent: float
    decided: bool


@dataclass(frozen=True)
class Judgement:
    """What the model says of a row: its decision, its score toward the goal, all its scores.

    `of` says whose score it is: a class, several, or any but the row's own.
    """

    label: str
    score: str
    of: str
    reached: bool
    bar: ScoreBar
    shares: tuple[Share, ...]


def variant(rows: Rows, letter: str, texts: Mapping[str, str]) -> Variant:
    """The first of some rows with these texts in its cells; a text that is its own is left out."""
    own, codes = rows.cells(0), rows.codes[0].copy()
    kept: dict[str, str] = {}
    faults: dict[str, str] = {}
    for name, text in texts.items():
        if name not in own:
            faults[name] = f"there is no column {name!r}"
            continue
        if text == text_of(own[name]):
            continue
        kept[name] = text
        at = rows.schema.position(name)
        try:
            codes[at] = code_to_set(rows.schema.columns[at], text)
        except SchemaError as error:
            faults[name] = str(error)
    return Variant(letter, kept, codes, faults, codes)


def caused(explainer: Explainer, rows: Rows, one: Variant) -> Variant:
    """The same with what follows from it by the explainer's causes, or why that cannot follow."""
    causal, own, codes = explainer.engine.fitted.causal, rows.codes[0], one.codes[None]
    if causal is None:
        return one
    full = causal.followed(codes, own)
    if refusals := causal.refusals(codes, own, full):
        return replace(one, faults={**one.faults, **refusals})
    whole, columns = full[0], rows.schema.columns
    follows = tuple(
        Change(columns[at].name, rows.cell(0, at), columns[at].value(float(whole[at])))
        for at in np.flatnonzero(whole != one.codes).tolist()
    )
    return replace(one, whole=whole, follows=follows)


def judged(
    explainer: Explainer, rows: Rows, variants: Sequence[Variant], want: Any, speech: Speech
) -> list[Judgement]:
    """What the model says of the row itself, and of each variant."""
    return judgements(explainer, all_said(explainer, rows, variants, want), speech)


def all_said(explainer: Explainer, rows: Rows, variants: Sequence[Variant], want: Any) -> Said:
    """The model's answers for the row itself, and for each variant."""
    return said(explainer, rows, np.stack([rows.codes[0], *(one.whole for one in variants)]), want)


def judgements(explainer: Explainer, told: Said, speech: Speech) -> list[Judgement]:
    """The model's answers as the page shows them."""
    verdict, enough = told.verdict, told.enough
    scale = Scale.over(verdict.score.tolist(), enough)
    return [
        Judgement(
            label=_label(explainer, int(decision), speech),
            score=speech.score_apart(float(score), _others(verdict.score, enough, float(score))),
            of=whose(told.goal, enough, speech),
            reached=bool(reached),
            bar=_bar(scale, enough, verdict.score, place, speech),
            shares=_shares(explainer, told.scores[place], int(decision), speech),
        )
        for place, (decision, score, reached) in enumerate(
            zip(told.decision, verdict.score, verdict.reached, strict=True)
        )
    ]


def _others(scores: Array, enough: Needed, score: float) -> list[float]:
    known = [*scores.tolist(), enough.low, enough.high]
    return [other for other in known if other != score]


def _label(explainer: Explainer, decision: int, speech: Speech) -> str:
    classes = explainer.classes
    return "" if classes is None else speech.plain(classes[decision])


def _bar(scale: Scale, enough: Needed, scores: Array, place: int, speech: Speech) -> ScoreBar:
    own, score = float(scores[0]), float(scores[place])
    told = speech.score_apart(score, _others(scores, enough, score))
    text = speech.say("score.now", {"score": told})
    return bar(scale, enough, own, score if place else None, text)


def _shares(
    explainer: Explainer, scores: Array, decision: int, speech: Speech
) -> tuple[Share, ...]:
    """All classes of a model of probabilities, where there are more than two of them."""
    classes = explainer.classes
    if classes is None or len(classes) < 3 or not explainer.engine.outlook.probable:
        return ()
    ranked = np.argsort(-scores, kind="stable")[:6]
    return tuple(
        Share(
            speech.plain(classes[at]),
            speech.score(float(scores[at])),
            round(100 * float(scores[at]), 1),
            decided=int(at) == decision,
        )
        for at in ranked.tolist()
    )


MARGIN = 1e-6


class Said(NamedTuple):
    """The model's answers for some rows of codes, the row's own first."""

    goal: Any
    goals: Goals
    enough: Needed
    verdict: Verdict
    scores: Array  # (n, classes or outputs), rounded as they are shown
    decision: Array  # (n,)


def said(explainer: Explainer, rows: Rows, codes: Array, want: Any) -> Said:
    """What the model says of rows of codes made of the first of `rows`, by one call.

    The first line of `codes` is the row itself, which says what its goal means.
    """
    fitted, at = explainer.engine.fitted, np.zeros(len(codes), int)
    answers, _ = Asker(fitted.oracle.own, rows.schema, rows)(codes, at)
    wanted = explainer.engine.goals(want, 1)
    goals = compile_goals(wanted, answers.take(at[:1]), fitted.outlook, MARGIN)
    return Said(
        wanted[0],
        goals,
        needed(goals, 0),
        goals.judge(answers, at),
        fitted.outlook.rounded(answers.scores),
        answers.decision,
    )


@dataclass(frozen=True)
class Aim:
    """A row, what is wanted of it, and the model to be asked; what is known is not asked again.

    `recall` gives what is held under a key, or makes it.
    """

    recall: Callable[[tuple[object, ...], Callable[[], Any]], Any]
    explainer: Explainer
    rows: Rows
    said: Said
    speech: Speech

    @property
    def probable(self) -> bool:
        """Whether scores are probabilities."""
        return bool(self.explainer.engine.outlook.probable)

    def scores(self, codes: Array) -> Array:
        """The scores of rows of codes made of the row, by one call."""
        at = np.zeros(len(codes), int)
        oracle = self.explainer.engine.fitted.oracle.own
        answers, _ = Asker(oracle, self.rows.schema, self.rows)(codes, at)
        return self.said.goals.judge(answers, at).score

    def followed(self, codes: Array) -> Array:
        """Rows of codes made of the row, with what follows by causes."""
        return followed(self.explainer.engine, codes, self.rows.codes[0])

    def training_scores(self, codes: Array, whose: Array) -> Array:
        """The scores, toward the row's goal, of rows made of training rows, by one call."""
        fitted, schema = self.explainer.engine.fitted, self.rows.schema
        some, which = np.unique(whose, return_inverse=True)
        rows = schema.read(schema.frame(fitted.ground.codes[some]))
        answers, _ = Asker(fitted.oracle.own, schema, rows)(codes, which)
        return self.said.goals.judge(answers, np.zeros(len(codes), int)).score

    def known(self, key: tuple[object, ...], ask: Callable[[], Array]) -> Array:
        """What was asked before about the same goal, or now."""
        whole = (self.said.goals.signature(0), *key)
        found: Array = self.recall(whole, ask)
        return found


def whose(goal: Any, enough: Needed, speech: Speech) -> str:
    """Whose score it is: a class, several, or any but the row's own."""
    if enough.label is not None:
        return speech.plain(enough.label)
    if not isinstance(goal, AnyOf):
        return ""
    labels = [speech.plain(label) for label in goal.labels or ()]
    return speech.listed(labels, "or") if labels else speech.say("goal.other")
