"""A learned mask of what is taken from the nearest unlike case (after Li et al., M-CELS, 2024).

A network must be readable: its gradients say where the mask is worth opening. Adam makes a weighted
sum small: what is missing to a probability of 1, the mean of the mask, and its steps in time. What
is at least half open is then taken whole; where that does not reach the goal, as much as is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from macex.baselines.series_peer import Meter, Sampled, SeriesPeer
from macex.errors import OptionError, needed, require_count
from macex.schema import Array

RATE = 0.1
WEIGHTS = (1.0, 0.7, 0.3)  # of the class, the mask's mean, and its steps
OPEN = 0.5


class SeriesMask(SeriesPeer):
    """M-CELS-style search: `logits` is a function of a torch tensor of cases to one of logits.

    The other parameters are those of `SeriesGreedy`. A round costs one row.
    """

    method: ClassVar[str] = "mask"

    def __init__(
        self,
        model: Any,
        X: Any,
        y: Any = None,
        *,
        logits: Callable[[Any], Any],
        rounds: int = 500,
        channels: Sequence[str] | None = None,
        layout: str = "channels_first",
        classes: Sequence[object] | None = None,
    ) -> None:
        if not callable(logits):
            raise OptionError("SeriesMask(logits=) is a function of a torch tensor of cases")
        self.logits, self.rounds = logits, require_count("SeriesMask(rounds=)", rounds)
        super().__init__(model, X, y, channels=channels, layout=layout, classes=classes)

    def find(self, meter: Meter, own: Array) -> Sampled | None:
        """The sample that the mask makes, if it reaches the goal."""
        if not meter.goals.by_class[0]:
            raise OptionError("SeriesMask answers for classes, not for scores")
        near = self.distractors(own, meter.goals, 1)
        if not len(near):
            return None
        case = int(near[0])
        other = np.asarray(self.fitted.train.values[case]).astype(float)
        mask = self._learnt(own, other, int(self.fitted.answers.decision[case]))
        meter.rows, meter.calls = meter.rows + self.rounds, meter.calls + self.rounds
        kept = np.stack([np.where(mask >= OPEN, 1.0, 0.0), mask])
        samples = own + kept * (other - own)
        reached = np.flatnonzero(meter.samples(samples).reached)
        return Sampled(case, samples[reached[0]]) if len(reached) else None

    def _learnt(self, own: Array, other: Array, label: int) -> Array:
        """How far each cell goes toward the other case, (d, time)."""
        torch = needed("torch", "torch")
        start, way = (torch.as_tensor(np.asarray(one, np.float32)) for one in (own, other - own))
        mask = torch.full(own.shape, OPEN, requires_grad=True)
        optimiser = torch.optim.Adam([mask], RATE)
        of_class, of_mean, of_steps = WEIGHTS
        for _ in range(self.rounds):
            optimiser.zero_grad()
            chance = torch.softmax(self.logits((start + mask * way)[None]), dim=1)[0, label]
            steps = (mask[:, 1:] - mask[:, :-1]).abs().mean()
            loss = of_class * (1 - chance) + of_mean * mask.abs().mean() + of_steps * steps
            loss.backward()
            optimiser.step()
            with torch.no_grad():
                mask.clamp_(0.0, 1.0)
        found: Array = mask.detach().numpy().astype(float)
        return found
