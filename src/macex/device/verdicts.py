"""Goals of classes, and what scores mean for them: `macex.ask.goals` on a device.

All queries of a block want the same classes. Scores are rounded before they are compared, as
everywhere, so that the last bits of a batched model change nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, NamedTuple

import numpy as np

from macex.ask.answers import SLIGHT, TINY, Answers, Goals, Outlook, compile_goals
from macex.ask.goals import AnyOf, Goal, resolve
from macex.device.arrays import Array, changed_rows, fused, place_of, rows_at
from macex.device.layout import DeviceLayout
from macex.errors import GoalError, ModelError
from macex.schema import Array as HostArray

MOST_ROWS = 1 << 20  # rows in one call of the model

Score = Callable[[Array], Array]


class DeviceVerdict(NamedTuple):
    """What the scores of some rows mean: whether they reach the goal, and how near they come."""

    reached: Array  # bool
    progress: Array


@dataclass(frozen=True)
class DeviceAsker:
    """Asks a model that scores rows of codes."""

    score: Score
    layout: DeviceLayout
    outlook: Outlook
    most: int = MOST_ROWS

    def __call__(self, codes: Array) -> Array:
        """The scores (n, K) of rows of codes (n, d), not too many at a time; (n,) for yes or no."""
        xp, width = self.layout.place.xp, self.outlook.width
        given = self.score(codes)
        if type(given) is not type(codes):
            raise ModelError(
                f"the model returned a {type(given).__name__} for codes in a "
                f"{type(codes).__name__}: scores must lie where the codes lie"
            )
        scores = xp.astype(given, xp.float64)
        if scores.ndim == 2 and scores.shape[1] == 1:
            scores = scores[:, 0]
        count = codes.shape[0]
        shapes = [(count, width), (count,)] if width == 2 else [(count, width)]
        if tuple(scores.shape) not in shapes:
            raise ModelError(
                f"the model returned shape {tuple(given.shape)} for {count} rows of codes: "
                f"({count}, {width}) was expected"
            )
        return scores

    def best(self, scores: Array, classes: HostArray) -> Array:
        """The best score among some classes, (n,)."""
        xp = self.layout.place.xp
        if scores.ndim == 1:
            no = 1.0 - scores if self.outlook.probable else -scores
            return xp.maximum(no, scores) if len(classes) > 1 else (scores if classes[0] else no)
        if len(classes) == 1:
            return scores[:, int(classes[0])]
        return xp.max(scores[:, self.layout.place.array(classes)], axis=1)

    def decision(self, scores: Array) -> Array:
        """The class that scores decide for, (n,)."""
        xp = self.layout.place.xp
        if scores.ndim == 2:
            return xp.argmax(scores, axis=1)
        return xp.astype(scores > (0.5 if self.outlook.probable else 0.0), xp.int64)

    def parts(self, count: int) -> list[slice]:
        """`count` rows in parts that can be asked together."""
        return [slice(start, start + self.most) for start in range(0, count, self.most)]


@dataclass(frozen=True)
class DeviceJudge:
    """Verdicts on rows for a goal: the model decides for one of the `wanted` classes."""

    asker: DeviceAsker
    wanted: HostArray  # (K,) bool
    margin: float

    def __call__(self, codes: Array) -> tuple[DeviceVerdict, Array]:
        """The verdict on rows (n, d), and their scores toward the goal."""
        xp, place = self.asker.layout.place.xp, self.asker.layout.place
        scores = [self.asker(codes[part]) for part in self.asker.parts(codes.shape[0])]
        joined = xp.concat(scores) if scores else place.full((0, self.asker.outlook.width), 0.0)
        return self.read(joined), self.shown(joined)

    def read(self, scores: Array) -> DeviceVerdict:
        """What scores (n, K) mean."""
        outlook = self.asker.outlook
        spread = None if outlook.probable else outlook.spread
        return _verdict(*self._sides(scores), outlook.unit, self.margin, spread)

    def shown(self, scores: Array) -> Array:
        """Scores toward the goal, as shown to people."""
        xp, outlook = self.asker.layout.place.xp, self.asker.outlook
        columns = np.flatnonzero(self.wanted)
        score = self.asker.best(scores, columns)
        if outlook.probable and len(columns) > 1:
            score = sum(self.asker.best(scores, columns[at : at + 1]) for at in range(len(columns)))
        parts = 10.0 ** round(-log10(outlook.unit))
        return xp.round(score * parts) / parts

    def _sides(self, scores: Array) -> tuple[Array, Array]:
        """The best score of a wanted class and of any other, (n,) each."""
        inside, outside = np.flatnonzero(self.wanted), np.flatnonzero(~self.wanted)
        best = self.asker.best(scores, inside)
        return best, self.asker.best(scores, outside) if len(outside) else best * 0.0 - 1.0

    def singles(self, own: Array, columns: Array, values: Array, real: Array) -> DeviceVerdict:
        """Of single changes: which reach the goal, and their progress, (q, A) each.

        Change j of query i sets `values[i, j]` in `columns[j]`; only the real ones count.
        """
        place, (count, width) = self.asker.layout.place, real.shape
        xp, mine = place.xp, columns[:, None] == place.arange(own.shape[1])
        step = max(1, self.asker.most // max(1, width))
        reached: list[Array] = []
        progress: list[Array] = []
        for start in range(0, count, step):
            some = slice(start, start + step)
            rows = xp.where(mine, values[some, :, None], own[some, None, :])
            verdict = self.read(self.asker(xp.reshape(rows, (-1, own.shape[1]))))
            for parts, found in zip((reached, progress), verdict, strict=True):
                parts.append(xp.reshape(found, (-1, width)))
        joined = DeviceVerdict(xp.concat(reached), xp.concat(progress))
        return DeviceVerdict(joined.reached & real, xp.where(real, joined.progress, -xp.inf))

    def changes(self, own: Array, columns: Array, values: Array, real: Array) -> DeviceVerdict:
        """Of changes made to queries: which reach the goal, and their progress, (q, n) each.

        Change j of query i of `own` (q, d) sets `values[i, j]` in `columns[i, j]`, (q, n, S) each.
        Only the real ones (q, n) are scored; the others are nowhere.
        """
        place = self.asker.layout.place
        xp, size = place.xp, columns.shape[2]
        width = real.shape[1]
        chosen = xp.nonzero(xp.reshape(real, (-1,)))[0]
        columns, values = (xp.reshape(part, (-1, size)) for part in (columns, values))
        reached = place.zeros(columns.shape[0], xp.bool)
        progress = place.full(columns.shape[0], -xp.inf)
        for part in self.asker.parts(chosen.shape[0]):
            some = chosen[part]
            rows = _changed(own, columns, values, some, width)
            reached[some], progress[some] = self.read(self.asker(rows))
        return DeviceVerdict(xp.reshape(reached, real.shape), xp.reshape(progress, real.shape))


@fused
def _verdict(
    inside: Array, outside: Array, unit: float, margin: float, spread: float | None
) -> DeviceVerdict:
    """What the best score of a wanted class and of any other mean; no `spread` if they add to 1."""
    xp = place_of(inside).xp
    near, far = (xp.round(side / unit) for side in (inside, outside))
    slight = 0 < margin <= SLIGHT
    gap = near > far if slight else (near - far) * unit >= margin * (1 - 1e-9)
    if spread is None:
        lead = xp.log(xp.clip(inside, TINY)) - xp.log(xp.clip(outside, TINY))
        return DeviceVerdict(gap & (inside > outside), xp.round(lead * 1e4) / 1e4)
    lead = (inside - outside) / (2 * spread)
    return DeviceVerdict(gap & (inside > outside), xp.round(lead * 1e6) / 1e6)


@fused
def _changed(own: Array, columns: Array, values: Array, some: Array, width: int) -> Array:
    """The rows of some changes: change j of all belongs to query j // width."""
    rows = rows_at(own, some // width)
    return changed_rows(rows, rows_at(columns, some), rows_at(values, some))


class Wanted(NamedTuple):
    """The goals of some rows."""

    number: Array  # (n,) int: which goal each row has
    classes: list[HostArray]  # for each goal the wanted classes, (K,) bool


def wanted_of(want: Any, decision: Array, outlook: Outlook) -> Wanted:
    """The goals of rows from what a caller may pass as `want=`, and what the model decides now.

    Goal k < K is any class but k; those that name labels come after these.
    """
    place, count = place_of(decision), int(decision.shape[0])
    alone = isinstance(want, (AnyOf, str, bytes)) or not hasattr(want, "__len__")
    goals = resolve(want, 1 if alone else count)
    named = _named(goals)
    number: dict[Goal, int] = {goal: outlook.width + at for at, goal in enumerate(named)}
    each = place.array(np.array([number.get(goal, -1) for goal in goals], dtype=np.int64))
    classes = list(~np.eye(outlook.width, dtype=bool))
    if named:
        classes += list(compiled(named, outlook, 0.0).wanted)
    return Wanted(place.xp.where(each < 0, decision, each), classes)


def _named(goals: Sequence[Goal]) -> list[AnyOf]:
    """The distinct goals that name labels."""
    found: list[AnyOf] = []
    for goal in dict.fromkeys(goals):
        if not isinstance(goal, AnyOf):
            raise GoalError(
                f"{goal.text} is a goal that a device cannot search for: ask for classes, or use "
                "explainer.explain"
            )
        if goal.labels is not None:
            found.append(goal)
    return found


def compiled(goals: Sequence[AnyOf], outlook: Outlook, margin: float) -> Goals:
    """Goals that name labels, as the explainer knows them."""
    own = Answers(np.zeros((len(goals), outlook.width)), np.zeros(len(goals), int))
    return compile_goals(goals, own, outlook, margin)


def toward(classes: HostArray, outlook: Outlook, margin: float) -> Goals:
    """One goal, as the explainer knows it: the model decides for one of the classes (K,) bool."""
    labels = outlook.classes or ()
    chosen = tuple(label for label, wanted in zip(labels, classes, strict=True) if wanted)
    return compiled([AnyOf(chosen)], outlook, margin)
