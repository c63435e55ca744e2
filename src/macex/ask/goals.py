"""What is asked: a class, any of several classes, or a score in a band.

A goal is a small value that can be written down, sent and compared. `resolve` turns what a caller
passes as `want=` into one goal per row; `Goals` holds a batch of goals as arrays and judges the
model's answers against them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from macex.errors import LARGEST, GoalError, closest
from macex.schema import Array, row_keys

if TYPE_CHECKING:
    from macex.ask.answers import Answers, Outlook


SLIGHT = 1e-6  # a margin up to this asks for no more than the model's own decision


@dataclass(frozen=True, slots=True)
class AnyOf:
    """The model's own decision is one of these labels; `labels=None` means any but the present one.

    >>> any_of("granted", "review").text
    "'granted' or 'review'"
    """

    labels: tuple[object, ...] | None = None

    @property
    def text(self) -> str:
        """The goal in words."""
        if self.labels is None:
            return "any other decision"
        return " or ".join(repr(label) for label in self.labels)


@dataclass(frozen=True, slots=True)
class Band:
    """A score between two bounds, each inclusive unless `open_low` or `open_high`."""

    low: float = -np.inf
    high: float = np.inf
    open_low: bool = False
    open_high: bool = False
    label: object = None

    @property
    def text(self) -> str:
        """The goal in words."""
        return f"score{_of(self.label)} {_band(self)}"


@dataclass(frozen=True, slots=True)
class RiseBy:
    """A score at least `by` higher than the row's own (lower for a negative `by`)."""

    by: float
    label: object = None

    @property
    def text(self) -> str:
        """The goal in words."""
        way = "up" if self.by >= 0 else "down"
        return f"score{_of(self.label)} {way} by {abs(self.by):g}"


@dataclass(frozen=True, slots=True)
class AboveRow:
    """A score above that of another row: `row` is one row, as a frame, a Series or a mapping."""

    row: Any
    label: object = None

    @property
    def text(self) -> str:
        """The goal in words."""
        return f"score{_of(self.label)} above the given row's"


Goal = AnyOf | Band | RiseBy | AboveRow


def any_of(*labels: object) -> AnyOf:
    """The model decides for one of `labels`."""
    if not labels:
        raise GoalError("any_of() needs at least one label")
    return AnyOf(labels)


def at_least(bound: float, label: object = None) -> Band:
    """A score of `bound` or more.

    >>> at_least(0.7, label="granted").text
    "score of 'granted' at least 0.7"
    """
    return Band(low=_number(bound), label=label)


def at_most(bound: float, label: object = None) -> Band:
    """A score of `bound` or less."""
    return Band(high=_number(bound), label=label)


def above(bound: float, label: object = None) -> Band:
    """A score strictly above `bound`."""
    return Band(low=_number(bound), open_low=True, label=label)


def below(bound: float, label: object = None) -> Band:
    """A score strictly below `bound`."""
    return Band(high=_number(bound), open_high=True, label=label)


def between(low: float, high: float, label: object = None) -> Band:
    """A score from `low` to `high`, both included."""
    low, high = _number(low), _number(high)
    if low > high:
        raise GoalError(f"between({low:g}, {high:g}) is empty: the first bound is the lower one")
    return Band(low=low, high=high, label=label)


def rise_by(by: float, label: object = None) -> RiseBy:
    """A score at least `by` above the row's own; a negative number asks for a fall."""
    if _number(by) == 0:
        raise GoalError("rise_by(0) asks for nothing: give the rise in units of the score")
    return RiseBy(float(by), label)


def above_row(row: Any, label: object = None) -> AboveRow:
    """A score strictly above that of `row`."""
    return AboveRow(row, label)


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


def resolve(want: object, count: int) -> list[Goal]:
    """One goal per row from what a caller may pass as `want=`.

    >>> resolve("yes", 2)
    [AnyOf(labels=('yes',)), AnyOf(labels=('yes',))]
    """
    if isinstance(want, Goal):
        return [want] * count
    if want is None or isinstance(want, (str, bytes, bool, int, float, np.generic, date)):
        return [_single(want)] * count
    if isinstance(want, Mapping) or not (isinstance(want, Sequence) or hasattr(want, "__array__")):
        raise GoalError(f"want= takes a label, a goal or one entry per row, not {_type(want)}")
    entries = list(want) if isinstance(want, Sequence) else list(np.asarray(want).tolist())
    if len(entries) != count:
        raise GoalError(
            f"want= has {len(entries)} entries for {count} rows: give one per row, or just one; "
            "for a choice of labels use any_of(...)"
        )
    return [_single(entry) for entry in entries]


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
        kinds = ", ".join(sorted({_type(known) for known in classes}))
        raise GoalError(
            f"the model has no class {plain!r} of type {_type(plain)}: they are {kinds}"
        )
    raise GoalError(f"the model has no class {plain!r}{closest(plain, classes)}")


def _single(want: object) -> Goal:
    if isinstance(want, Goal):
        return want
    missing = want is None or (isinstance(want, float) and np.isnan(want))
    if not missing and not isinstance(want, (str, bytes, bool, int, float, np.generic, date)):
        raise GoalError(f"want= takes a label or a goal for each row, not {_type(want)} {want!r}")
    return (
        AnyOf(None) if missing else AnyOf((want.item() if isinstance(want, np.generic) else want,))
    )


def _number(value: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise GoalError(f"a score bound must be a number, not {_type(value)}")
    number = float(value) if abs(value) <= LARGEST or value != value else np.inf  # noqa: PLR0124
    if not np.isfinite(number):
        raise GoalError(f"a score bound must be finite, not {value}")
    return number


def _of(label: object) -> str:
    return "" if label is None else f" of {label!r}"


def _band(goal: Band) -> str:
    if np.isinf(goal.high):
        return f"{'above' if goal.open_low else 'at least'} {goal.low:g}"
    if np.isinf(goal.low):
        return f"{'below' if goal.open_high else 'at most'} {goal.high:g}"
    return f"from {goal.low:g} to {goal.high:g}"


def _type(value: object) -> str:
    return type(value).__name__
