"""Wachter's descent with the gradients of a torch network instead of finite differences.

Backward through the network they are exact and cost one row a step, however many numbers there
are. What prepares numbers before the network must be linear in each, as scalers are: it is probed
once, and never asks the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.ask.constraints import Constraints
from macex.baselines.descent import Descent, deviations
from macex.baselines.proposals import nearest_first
from macex.baselines.wachter import Wachter
from macex.engine.batch import Outcome
from macex.engine.fitted import Fitted
from macex.errors import OptionError
from macex.schema import Array
from macex.stages.shapes import Pool, Task

READS = (
    "WachterAutograd reads a torch network that is the last step of a pipeline, with one output "
    "a class before softmax, or one number"
)
PROBED = 20  # training rows


class WachterAutograd(Wachter):
    """Wachter et al. on a scikit-learn pipeline whose last step holds a torch network."""

    name = "wachter autograd"

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        distance: str = "median",
        names: Mapping[str, str] | None = None,
        random_state: int = 0,
    ) -> None:
        self._steps, self._module = _taken_apart(model)
        super().__init__(
            model,
            data,
            schema=schema,
            constraints=constraints,
            distance=distance,
            names=names,
            random_state=random_state,
        )

    def offer(self, opened: Outcome) -> Pool:
        """The nearest row on the way that reaches the goal."""
        slope = Backward.through(self._steps, self._module, opened).slope
        descent = Descent(deviations(opened), slope=slope)
        return nearest_first(opened.task, descent(opened, self.max_rows))


def _taken_apart(model: Any) -> tuple[tuple[Any, ...], Any]:
    """The steps before the network, and the network."""
    from macex.errors import needed

    torch = needed("torch", "torch")
    *before, last = [step for _, step in getattr(model, "steps", [("", model)])]
    held = [last, *vars(last).values()] if hasattr(last, "__dict__") else [last]
    modules = [one for one in held if isinstance(one, torch.nn.Module)]
    if not before or not modules:
        raise OptionError(f"{READS}; got {type(last).__name__}")
    return tuple(before), modules[0]


@dataclass(frozen=True)
class Backward:
    """The way from goals back through a network to numbers."""

    opened: Outcome
    steps: tuple[Any, ...]
    module: Any
    effect: Array  # (U, F) what one more of each number adds to the network's inputs
    unit: float  # of a predicted number: what one more of the network's output is

    @classmethod
    def through(cls, steps: Sequence[Any], module: Any, opened: Outcome) -> Backward:
        """Probe what prepares rows, and read what a number of the network is worth."""
        fitted = opened.fitted
        rows = fitted.ground.codes[:PROBED]
        out = _outputs(module, _prepared(steps, fitted, rows))
        unit, classes = 1.0, len(fitted.outlook.classes or ())
        if not classes:
            said = np.asarray(fitted.answers.scores[:PROBED, 0], float)
            unit = float(np.ptp(said) / max(float(np.ptp(out)), 1e-12))
        if out.shape[1] != max(1, classes):
            raise OptionError(f"{READS}; got {out.shape[1]} outputs for {classes} classes")
        return cls(opened, tuple(steps), module, _effect(steps, opened), unit)

    def slope(self, task: Task, rows: Array, at: Array, free: Array) -> Array:
        """How progress grows with each number, (q, U); each row is charged once more."""
        fitted, found = self.opened.fitted, np.zeros(rows.shape)
        judge = self.opened.judge
        mine = np.flatnonzero(judge.spent[at] < judge.limit[at])
        if not len(mine):
            return found
        judge.count(at[mine])
        inputs = _prepared(self.steps, fitted, task.space.columns(rows[mine], at[mine]))
        weight = self._weights(_outputs(self.module, inputs), at[mine])
        found[mine] = _gradient(self.module, inputs, weight) @ self.effect.T
        return np.where(free[at], found, 0.0)

    def _weights(self, out: Array, at: Array) -> Array:
        """How progress grows with each output, (q, K): log odds are differences of outputs."""
        goals, line = self.opened.goals, np.arange(len(at))
        weight = np.zeros(out.shape)
        if self.opened.fitted.outlook.classes:
            wanted = goals.wanted[at]
            weight[line, np.where(wanted, out, -np.inf).argmax(axis=1)] += 1
            weight[line, np.where(wanted, -np.inf, out).argmax(axis=1)] -= 1
            return weight
        scores = self.opened.verdict.score[at]
        up = np.isfinite(goals.low[at]) & (scores < goals.low[at])
        weight[:, 0] = np.where(up, 1.0, -1.0) * self.unit / self.opened.fitted.outlook.spread
        return weight


def _prepared(steps: Sequence[Any], fitted: Fitted, codes: Array) -> Array:
    """Rows of codes as the network takes them."""
    rows = fitted.ground.schema.frame(codes)
    for step in steps:
        rows = step.transform(rows)
    return np.asarray(rows, np.float32)


def _effect(steps: Sequence[Any], opened: Outcome) -> Array:
    """What one more of each number adds to the inputs, (U, F), on the first training row."""
    fitted, found = opened.fitted, []
    for unit in opened.task.space.units:
        rows = np.repeat(fitted.ground.codes[:1], 3, axis=0)
        wide = 0.0 if unit.discrete or not len(unit.seen) else float(np.ptp(unit.seen))
        if wide:
            rows[:, unit.members[0]] = unit.seen[[0, len(unit.seen) // 2, -1]]
        value = rows[:, unit.members[0]]
        low, middle, high = _prepared(steps, fitted, rows).astype(float)
        found.append((high - low) / (wide or 1.0))
        if not np.allclose(middle - low, found[-1] * (value[1] - value[0]), atol=1e-3):
            raise OptionError(f"{READS}, after steps that are linear in every number")
    return np.array(found)


def _outputs(module: Any, inputs: Array) -> Array:
    import torch

    with torch.no_grad():
        found: Array = module(torch.as_tensor(inputs)).numpy()
    return found.astype(float)


def _gradient(module: Any, inputs: Array, weight: Array) -> Array:
    """The gradient of the weighed outputs by the inputs, (q, F)."""
    import torch

    at = torch.tensor(inputs, requires_grad=True)
    told = (module(at) * torch.as_tensor(weight.astype(np.float32))).sum()
    found: Array = torch.autograd.grad(told, at)[0].numpy()
    return found.astype(float)
