"""A model's answers, and what they mean for the goals of a batch.

`Answers` are the outputs for some rows; `Outlook` is what is known of the model once it has
answered for the training rows: its classes, what its numbers mean, how finely they are compared.
`Goals` holds the goals of a batch as arrays and judges answers against them: the `Verdict`.
`Needed` says which scores reach a goal, for people who ask how much is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from macex.ask.goals import AnyOf, Band, Goal, RiseBy
from macex.errors import GoalError, closest
from macex.schema import Array, row_keys

SLIGHT = 1e-6  # a margin up to this asks for no more than the model's own decision
TINY = 1e-15
Scale = Literal["probabilities", "margins", "labels", "raw"]


class Answers(NamedTuple):
    """A model's answers, one entry per row."""

    scores: Array  # (n, K) one number per class or output
    decision: Array  # (n,) int position of the decided class, -1 where there are no classes

    def take(self, index: Array) -> Answers:
        """The entries at `index`."""
        if index.dtype == bool:
            index = np.flatnonzero(index)
        return Answers(self.scores.take(index, axis=0), self.decision[index])


@dataclass(frozen=True)
class Outlook:
    """What a model's numbers mean.

    `by_predict` says that the model's own `predict` is asked for every decision, since it is not
    known to be the class with the highest score. `agrees` says that the two agreed on every row
    seen so far. Where they did not, `threshold` is the score at which, for two classes, the
    decision turns, as far as it could be seen.
    """

    classes: tuple[object, ...] | None
    scale: Scale
    width: int
    unit: float = 1e-6  # scores are rounded to it before they are compared, ranked or shown
    spread: float = 1.0  # how far scores of a score goal lie apart in training
    by_predict: bool = False
    agrees: bool = True
    threshold: float | None = None

    @cached_property
    def probable(self) -> bool:
        """Whether scores are probabilities (a bare label counts as certain)."""
        return self.scale in ("probabilities", "labels")

    def rounded(self, scores: Array) -> Array:
        """Scores as they are compared: the last bits of a batched model change nothing."""
        return np.round(np.asarray(scores, dtype=float), self._digits) + 0.0

    @cached_property
    def _digits(self) -> int:
        return -int(np.floor(np.log10(self.unit) + 0.5))

    def as_progress(self, inside: Array, outside: Array) -> Array:
        """The lead of the wanted classes on a scale on which gains roughly add up, 0 when even.

        For probabilities that is the log of their ratio, which for two classes is the log odds. It
        is rounded, so that the last bits of a batched model change nothing, but it tells rows apart
        that a rounded probability of 0 would not.
        """
        if not self.probable:
            return np.round((inside - outside) / (2 * self.spread), 6)
        return np.round(np.log(np.maximum(inside, TINY)) - np.log(np.maximum(outside, TINY)), 4)

    def lead_over_threshold(self, scores: Array, wanted: Array) -> tuple[Array, Array] | None:
        """Score and threshold toward the wanted class, for two classes; None if not known."""
        if self.threshold is None or self.width != 2:
            return None
        toward = np.where(wanted[:, 1], scores[:, 1], scores[:, 0])
        other = 1 - self.threshold if self.probable else -self.threshold
        return toward, np.where(wanted[:, 1], self.threshold, other)

    def position(self, label: object) -> int:
        """Where `label` stands among the classes."""
        return label_position(label, self.classes or ())

    def output(self, label: object) -> int:
        """Which output a score goal looks at."""
        if label is not None:
            return self._labelled(label)
        if self.classes is not None and self.width == 2:
            return 1
        if self.width == 1:
            return 0
        raise GoalError(
            f"the model has {self.width} outputs: say which one the score goal looks at with "
            f"label={closest('', self.classes or range(self.width))}"
        )

    def _labelled(self, label: object) -> int:
        if self.classes is not None:
            return self.position(label)
        if isinstance(label, (int, np.integer)) and 0 <= int(label) < self.width:
            return int(label)
        raise GoalError(
            f"label={label!r} names no output: the model has outputs 0 to {self.width - 1}"
        )


class Verdict(NamedTuple):
    """What the model's answers mean for the goals, one entry per scored row."""

    reached: Array  # (n,) bool
    score: Array  # (n,) toward the goal, as shown to people
    progress: Array  # (n,) what searches climb: 0 at the goal, on a scale where gains add up

    def take(self, index: Array) -> Verdict:
        """The entries at `index`."""
        return Verdict(self.reached[index], self.score[index], self.progress[index])


@dataclass(frozen=True)
class Goals:
    """The goals of a batch as arrays whose first axis is the query."""

    outlook: Outlook
    margin: float
    by_class: Array  # (Q,) bool: a decision is asked for, not a score
    wanted: Array  # (Q, K) bool: which classes count as reached
    output: Array  # (Q,) int: which output a score goal looks at
    low: Array  # (Q,)
    high: Array  # (Q,)
    open_low: Array  # (Q,) bool
    open_high: Array  # (Q,) bool

    def judge(self, answers: Answers, at: Array) -> Verdict:
        """Whether each answer reaches the goal of the query `at` it belongs to."""
        if self.by_class.all():
            return self._judge_classes(answers, at)
        if not self.by_class.any():
            return self._judge_scores(answers, at)
        decided, scored = self._judge_classes(answers, at), self._judge_scores(answers, at)
        pick = self.by_class[at]
        return Verdict(*(np.where(pick, a, b) for a, b in zip(decided, scored, strict=True)))

    def met_by(self, answers: Answers, queries: Array) -> Array:
        """Which of some rows meet the score goals of `queries`, (q, rows) bool."""
        count = len(answers.decision)
        met = [self.judge(answers, np.full(count, query)).reached for query in queries]
        return np.stack(met)

    def signature(self, query: int) -> bytes:
        """Equal for two queries exactly if the same training rows meet their goals."""
        if self.by_class[query]:
            return b"c" + np.array([self.margin]).tobytes() + bytes(self.wanted[query])
        band = (self.output[query], self.low[query], self.high[query])
        return b"s" + bytes(np.array([*band, self.open_low[query], self.open_high[query]]))

    @cached_property
    def alike(self) -> Array:
        """A number for every query, (Q,), the same for those with the same `signature`."""
        if len(self.by_class) == 1:
            return np.zeros(1, int)
        bounds = (self.output, self.low, self.high, self.open_low, self.open_high)
        table = np.column_stack([self.by_class, self.wanted, *bounds]).astype(float)
        return np.unique(row_keys(table), return_inverse=True)[1].reshape(-1)

    @cached_property
    def _one_of_two(self) -> bool:
        """Whether there are two classes and every query wants just one of them."""
        two = self.outlook.width == 2 and self.wanted.shape[1] == 2
        return two and not self.outlook.by_predict and bool((self.wanted.sum(axis=1) == 1).all())

    def _judge_two(self, answers: Answers, at: Array) -> Verdict:
        """The same as `_judge_classes`, for the commonest case."""
        yes = self.wanted[at, 1]
        inside = np.where(yes, answers.scores[:, 1], answers.scores[:, 0])
        outside = np.where(yes, answers.scores[:, 0], answers.scores[:, 1])
        score = self.outlook.rounded(inside)
        hit = ((answers.decision == 1) == yes) & self._leads(score - self.outlook.rounded(outside))
        return Verdict(hit, score, self.outlook.as_progress(inside, outside))

    def _judge_classes(self, answers: Answers, at: Array) -> Verdict:
        if self._one_of_two:
            return self._judge_two(answers, at)
        wanted = self.wanted[at]
        scores = self.outlook.rounded(answers.scores)
        gap = np.subtract(*_sides(scores, wanted))
        sides = _sides(answers.scores, wanted)
        hit = wanted[np.arange(len(at)), np.maximum(answers.decision, 0)] & (answers.decision >= 0)
        if (lead := self.outlook.lead_over_threshold(answers.scores, wanted)) is not None:
            sides = lead
            if self.margin > SLIGHT:
                hit &= 2 * (lead[0] - lead[1]) >= self.margin * (1 - 1e-9)
        elif not self.outlook.by_predict or self.margin > SLIGHT:
            hit &= self._leads(gap)
        elif self.outlook.agrees and self.margin:
            hit &= gap != 0  # an even score has no margin to spare
        return Verdict(hit, self._class_score(scores, wanted), self.outlook.as_progress(*sides))

    def _leads(self, gap: Array) -> Array:
        """Whether a lead has the margin to spare; the smallest margin is any lead at all."""
        return gap > 0 if 0 < self.margin <= SLIGHT else gap >= self.margin * (1 - 1e-9)

    def _class_score(self, scores: Array, wanted: Array) -> Array:
        if self.outlook.probable:
            return self.outlook.rounded(np.where(wanted, scores, 0.0).sum(axis=1))
        best: Array = np.where(wanted, scores, -np.inf).max(axis=1, initial=-np.inf)
        return np.where(np.isneginf(best), 0.0, best)

    def _judge_scores(self, answers: Answers, at: Array) -> Verdict:
        raw = answers.scores[np.arange(len(at)), self.output[at]]
        shown = self.outlook.rounded(raw)
        low, high = self.low[at], self.high[at]
        over = np.where(self.open_low[at], (raw > low) & (shown > low), (raw >= low))
        under = np.where(self.open_high[at], (raw < high) & (shown < high), (raw <= high))
        slack = np.minimum(shown - low, high - shown)  # how far inside the band, below 0 outside
        return Verdict(over & under, shown, slack / self.outlook.spread)


def compile_goals(goals: Sequence[Goal], own: Answers, outlook: Outlook, margin: float) -> Goals:
    """The batch form of `goals`; `own` are the model's answers for the rows themselves."""
    count, width = len(goals), max(1, outlook.width)
    made = Goals(
        outlook=outlook,
        margin=margin,
        by_class=np.zeros(count, bool),
        wanted=np.zeros((count, width), bool),
        output=np.zeros(count, int),
        low=np.full(count, -np.inf),
        high=np.full(count, np.inf),
        open_low=np.zeros(count, bool),
        open_high=np.zeros(count, bool),
    )
    for query, goal in enumerate(goals):
        if isinstance(goal, AnyOf):
            made.by_class[query] = True
            made.wanted[query] = _wanted(goal, int(own.decision[query]), outlook)
        else:
            _fill_band(made, query, goal, own, outlook)
    return made


def _wanted(goal: AnyOf, decision: int, outlook: Outlook) -> Array:
    if outlook.classes is None:
        raise GoalError(
            "this model gives a score and has no classes: ask for a score, e.g. "
            "want=mx.at_least(0.7), or name its classes with classes=(no, yes)"
        )
    mask = np.zeros(outlook.width, bool)
    if goal.labels is None:
        mask[:] = True
        mask[decision] = False
    else:
        mask[[outlook.position(label) for label in goal.labels]] = True
    return mask


def _fill_band(made: Goals, query: int, goal: Goal, own: Answers, outlook: Outlook) -> None:
    output = outlook.output(getattr(goal, "label", None))
    made.output[query] = output
    if isinstance(goal, Band):
        made.low[query], made.high[query] = goal.low, goal.high
        made.open_low[query], made.open_high[query] = goal.open_low, goal.open_high
    elif isinstance(goal, RiseBy):
        bound = float(own.scores[query, output]) + goal.by
        made.low[query], made.high[query] = (bound, np.inf) if goal.by > 0 else (-np.inf, bound)
    else:
        raise GoalError("above_row(...) must be resolved by the explainer first")


def _sides(scores: Array, wanted: Array) -> tuple[Array, Array]:
    """The best score of a wanted class and of any other, (n,) each."""
    inside = np.where(wanted, scores, -np.inf).max(axis=1, initial=-np.inf)
    outside = np.where(wanted, -np.inf, scores).max(axis=1, initial=-np.inf)
    return np.where(np.isneginf(inside), -1.0, inside), np.where(
        np.isneginf(outside), -1.0, outside
    )


def label_position(label: object, classes: Sequence[object]) -> int:
    """Where `label` stands among `classes`, comparing values as people write them.

    >>> label_position(1, (0, 1)), label_position("b", ("a", "b"))
    (1, 1)
    """
    if isinstance(label, np.ndarray):
        raise GoalError(f"a label is one value, not {label!r}")
    plain = label.item() if isinstance(label, np.generic) else label
    for position, known in enumerate(classes):
        if type(known) is type(plain) and known == plain:
            return position
    for position, known in enumerate(classes):
        if known == plain and isinstance(known, str) == isinstance(plain, str):
            return position
    if str(plain) in map(str, classes):
        kinds = ", ".join(sorted({type(known).__name__ for known in classes}))
        raise GoalError(
            f"the model has no class {plain!r} of type {type(plain).__name__}: they are {kinds}"
        )
    raise GoalError(f"the model has no class {plain!r}{closest(plain, classes)}")


class Needed(NamedTuple):
    """The scores that reach a goal; an infinite bound means no bound.

    `label` is the class whose score it is, or None if it belongs to no single class. A bound that
    is not `exact` was estimated from the model's decisions. Without bounds the score alone does not
    decide: among three classes the wanted one needs the lead, whatever its score.
    """

    low: float = -np.inf
    high: float = np.inf
    open_low: bool = False
    open_high: bool = False
    label: object = None
    exact: bool = True

    @property
    def bounded(self) -> bool:
        """Whether the score alone decides."""
        return bool(np.isfinite(self.low) or np.isfinite(self.high))

    def holds(self, score: float) -> bool:
        """Whether a score lies between the bounds.

        >>> Needed(low=0.5, open_low=True).holds(0.5), Needed(high=3.0).holds(-1.0)
        (False, True)
        """
        over = score > self.low if self.open_low else score >= self.low
        under = score < self.high if self.open_high else score <= self.high
        return over and under


def needed(goals: Goals, query: int) -> Needed:
    """Which scores reach the goal of a query."""
    if goals.by_class[query]:
        return _decided(goals, query)
    low, high = float(goals.low[query]), float(goals.high[query])
    openness = bool(goals.open_low[query]), bool(goals.open_high[query])
    classes = goals.outlook.classes
    label = None if classes is None else classes[int(goals.output[query])]
    return Needed(low, high, *openness, label)


def _decided(goals: Goals, query: int) -> Needed:
    outlook, wanted = goals.outlook, np.flatnonzero(goals.wanted[query])
    label = outlook.classes[int(wanted[0])] if outlook.classes and len(wanted) == 1 else None
    if outlook.width != 2 or len(wanted) != 1:
        return Needed(label=label)
    if outlook.agrees:
        if outlook.scale != "probabilities":
            return Needed(label=label)
        slight = 0 < goals.margin <= SLIGHT
        low = 0.5 if slight else 0.5 + goals.margin / 2
        return Needed(low, open_low=slight, label=label, exact=not outlook.by_predict)
    if outlook.threshold is None:
        return Needed(label=label)
    turned = 1 - outlook.threshold if outlook.probable else -outlook.threshold
    return Needed(outlook.threshold if wanted[0] else turned, label=label, exact=False)
