"""What the model says of a row and of others made of it, read toward what is wanted of the row."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from macex.ask.answers import Goals, Needed, Verdict, compile_goals, needed
from macex.ask.goals import AnyOf
from macex.engine.predictions import followed
from macex.explainer.explainer import Explainer
from macex.models.asker import Asker
from macex.render.speech import Speech
from macex.schema import Array, Rows

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
