"""The cheapest interventions in a world whose equations are known, by trying all on fine grids.

Every set of up to three columns is tried. A column may be set to its own value, too: then it is
held and no longer follows. Grids are laid again, closer, around the best point of each set.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd

from causes.worlds import Columns, World

POINTS = {1: (20_001,), 2: (201, 1201), 3: (21, 21, 401)}  # the last column has the finest grid
CLOSER = 20


def cheapest(
    world: World,
    own: pd.Series,
    noise: pd.Series,
    limits: Mapping[str, tuple[float, float]],
    scales: Mapping[str, float],
) -> float:
    """The least distance of what is set, of all that reaches the goal in the world itself."""
    best = np.inf
    for size in POINTS:
        for chosen in combinations(limits, size):
            best = min(best, _of_set(world, own, noise, limits, scales, chosen, best))
    return best


def _of_set(
    world: World,
    own: pd.Series,
    noise: pd.Series,
    limits: Mapping[str, tuple[float, float]],
    scales: Mapping[str, float],
    chosen: Sequence[str],
    best: float,
) -> float:
    box = [limits[name] for name in chosen]
    for _ in range(2 if len(chosen) > 1 else 1):
        nearest = None
        for turn in range(len(chosen)):
            order = [*chosen[turn:], *chosen[:turn]]
            axes = [
                np.append(np.linspace(*box[chosen.index(name)], count), own[name])
                for name, count in zip(order, POINTS[len(chosen)], strict=True)
            ]
            grid = np.meshgrid(*axes, indexing="ij")
            values = {name: part.ravel() for name, part in zip(order, grid, strict=True)}
            cost = sum(np.abs(values[name] - own[name]) / scales[name] for name in order)
            near = np.flatnonzero(cost < best)
            reached = near[_reached(world, noise, values, near)]
            if len(reached):
                at = reached[cost[reached].argmin()]
                best, nearest = float(cost[at]), {name: values[name][at] for name in chosen}
        if nearest is None:
            break
        box = [
            (
                max(low, nearest[name] - (high - low) / CLOSER),
                min(high, nearest[name] + (high - low) / CLOSER),
            )
            for name, (low, high) in zip(chosen, box, strict=True)
        ]
    return best


def _reached(world: World, noise: pd.Series, values: Columns, near: np.ndarray) -> np.ndarray:
    if not len(near):
        return np.zeros(0, bool)
    many = pd.DataFrame({name: np.full(len(near), noise[name]) for name in noise.index})
    return (
        world.model(world.acted(many, {name: part[near] for name, part in values.items()})) >= 0.5
    )
