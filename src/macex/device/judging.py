"""What the model's scores mean for a class goal: the arithmetic of `macex.ask.goals` on a device.

All queries of a block want the same classes. Scores are rounded before they are compared, as
everywhere, so that the last bits of a batched model change nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from macex.ask.answers import TINY, Outlook
from macex.ask.goals import SLIGHT
from macex.device.arrays import Array, place_of
from macex.device.layout import Layout
from macex.errors import ModelError

MOST_ROWS = 1 << 20  # rows in one call of the model

Score = Callable[[Array], Array]


class Verdict(NamedTuple):
    """What the scores of some rows mean."""

    reached: Array  # (n,) bool
    score: Array  # (n,) toward the goal
    progress: Array  # (n,)


@dataclass(frozen=True)
class Asker:
    """Asks a model that scores codes (n, d), in the order of the schema's columns."""

    score: Score
    layout: Layout
    outlook: Outlook
    most: int = MOST_ROWS

    def __call__(self, codes: Array) -> Array:
        """The scores (n, K) of codes by unit (n, U), at most `most` rows at a time."""
        xp = self.layout.place.xp
        given = self.score(codes[:, self.layout.units])
        scores = xp.astype(given, xp.float64)
        if scores.ndim == 1 or scores.shape[1] == 1:
            yes = xp.reshape(scores, (-1,))
            no = 1.0 - yes if self.outlook.probable else -yes
            scores = xp.stack([no, yes], axis=1)
        if tuple(scores.shape) != (codes.shape[0], self.outlook.width):
            raise ModelError(
                f"the model returned shape {tuple(given.shape)} for {codes.shape[0]} rows of codes:"
                f" ({codes.shape[0]}, {self.outlook.width}) was expected"
            )
        return scores

    def parts(self, count: int) -> list[slice]:
        """`count` rows in parts that can be asked together."""
        return [slice(start, start + self.most) for start in range(0, count, self.most)]


@dataclass(frozen=True)
class Judge:
    """Verdicts on rows for a goal: the model decides for one of the `wanted` classes."""

    asker: Asker
    wanted: Array  # (K,) bool
    margin: float

    def __call__(self, codes: Array) -> Verdict:
        """The verdict on rows by unit, (n, U)."""
        xp = self.asker.layout.place.xp
        found = [self.read(self.asker(codes[part])) for part in self.asker.parts(codes.shape[0])]
        if len(found) == 1:
            return found[0]
        none = place_of(codes).zeros(0, xp.float64)
        found.append(Verdict(none > 0, none, none))
        return Verdict(*(xp.concat(parts) for parts in zip(*found, strict=True)))

    def read(self, scores: Array) -> Verdict:
        """What scores (n, K) mean."""
        xp, outlook = self.asker.layout.place.xp, self.asker.outlook
        digits = 1.0 / outlook.unit
        rounded = xp.round(scores * digits) / digits
        inside, outside = self._sides(scores)
        near, far = self._sides(rounded)
        gap = near - far
        reached = (inside > outside) & (
            gap > 0 if 0 < self.margin <= SLIGHT else gap >= self.margin * (1 - 1e-9)
        )
        if outlook.probable:
            lead = xp.log(xp.clip(inside, TINY)) - xp.log(xp.clip(outside, TINY))
            shown = xp.sum(xp.where(self.wanted, rounded, 0.0), axis=1)
            return Verdict(reached, shown, xp.round(lead * 1e4) / 1e4)
        progress = xp.round((inside - outside) / (2 * outlook.spread) * 1e6) / 1e6
        return Verdict(reached, near, progress)

    def _sides(self, scores: Array) -> tuple[Array, Array]:
        """The best score of a wanted class and of any other, (n,) each."""
        xp = self.asker.layout.place.xp
        inside = xp.max(xp.where(self.wanted, scores, -xp.inf), axis=1)
        return inside, xp.max(xp.where(self.wanted, -xp.inf, scores), axis=1)

    def changes(self, own: Array, units: Array, values: Array, real: Array) -> tuple[Array, Array]:
        """Of changes made to queries: which reach the goal, and their progress, (q, n) each.

        `own` (q, U); change j of query i sets `values[i, j]` in `units[i, j]`, (q, n, S) each. Only
        the real ones (q, n) are scored; the others are nowhere.
        """
        place = self.asker.layout.place
        xp, (count, width) = place.xp, real.shape
        chosen = xp.nonzero(xp.reshape(real, (-1,)))[0]
        reached = place.zeros(count * width, xp.bool)
        progress = place.full(count * width, -xp.inf)
        for part in self.asker.parts(chosen.shape[0]):
            some = chosen[part]
            at, entry = some // width, some % width
            rows, line = own[at], place.arange(some.shape[0])
            for slot in range(units.shape[2]):
                rows[line, units[at, entry, slot]] = values[at, entry, slot]
            verdict = self.read(self.asker(rows))
            reached[some], progress[some] = verdict.reached, verdict.progress
        return xp.reshape(reached, real.shape), xp.reshape(progress, real.shape)
