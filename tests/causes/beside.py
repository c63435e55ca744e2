"""Answers with causes beside those that ignore them, acted out in worlds whose equations are known.

`PYTHONPATH=src:tests python tests/causes/beside.py` prints the tables of docs/how-to/causes.md.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

import macex as mx
from causes.cheapest import cheapest
from causes.worlds import WORLDS, World, actions_of, random_world

DRAWN = {**WORLDS, **{f"random {seed}": random_world(seed) for seed in range(6)}}
EVERY = {name: DRAWN[name] for name in [*WORLDS, *(f"random {seed}" for seed in range(4))]}
FIXED = {"loan": ["gender", "age"]}
SAMPLE_SEEDS = (0, *range(100, 106))
ASKED = (("balanced", 0.9), ("nearest", 0.9), ("nearest", 0.95))


class Beside(NamedTuple):
    """How many answers there are, what share comes true, how far they are, and over the least."""

    found: int
    true: float
    distance: float
    over: float


def beside(
    name: str,
    way: str,
    rows: int = 60,
    prefer: str = "balanced",
    compared: int = 0,
    *,
    reach: float = 0.9,
    seed: int = 0,
) -> Beside:
    """The first answers for refused rows of a world; causes are ignored, fitted or stated.

    The distances of the `compared` first are set beside those of the cheapest interventions. Other
    seeds draw other training rows.
    """
    world: World = EVERY[name]
    causes = {"fitted": mx.Causes(world.edges), "stated": mx.Causes(world.edges, world.mechanisms)}
    explainer, queries, noise = asked(name, causes.get(way), rows, prefer=prefer, seed=seed)
    found = explainer.explain(queries, want="yes", reach=None if way == "ignored" else reach)
    has = np.array([bool(one.counterfactuals) for one in found])
    acted = world.acted(noise, actions_of(found, len(queries)))
    true = (world.model(acted) >= 0.5)[has].mean()
    far = [one.counterfactuals[0].distance if one.counterfactuals else np.nan for one in found]
    best = [
        least(world, explainer, queries.iloc[at], noise.iloc[at], FIXED.get(name, []))
        for at in range(min(compared, len(queries)))
    ]
    over = float(np.nanmedian(np.divide(far[:compared], best))) if compared else np.nan
    return Beside(int(has.sum()), float(true), float(np.nanmean(far)), over)


def asked(
    name: str, causes: object, rows: int, *, prefer: str = "nearest", seed: int = 0
) -> tuple[mx.Explainer, pd.DataFrame, pd.DataFrame]:
    """An explainer of a world's model, refused rows, and the noise that made them."""
    world: World = DRAWN[name]
    train, _ = world.draw(1000, seed=seed)
    every, noise = world.draw(400, seed=1)
    refused = np.flatnonzero(world.model(every) < 0.5)[:rows]
    explainer = mx.Explainer(
        world.model,
        train,
        classes=("no", "yes"),
        causes=causes,
        prefer=prefer,
        plausibility="distance",
        structure="ignore",
        constraints=mx.Constraints(fixed=FIXED.get(name, [])),
    )
    return explainer, every.iloc[refused], noise.iloc[refused]


def least(
    world: World, explainer: mx.Explainer, own: pd.Series, noise: pd.Series, fixed: Sequence[str]
) -> float:
    """The distance of the cheapest interventions, in the range of the training rows."""
    scales = dict(zip(explainer.columns, explainer.engine.fitted.scales.scale, strict=True))
    limits = {
        one.name: (min(one.low, own[one.name]), max(one.high, own[one.name]))
        for one in explainer.engine.schema.columns
        if one.name not in fixed
    }
    return cheapest(world, own, noise, limits, scales)


HEADS = {
    "balanced": ("world", "causes", "answers", "come true", "distance"),
    "nearest": ("world", "causes", "answers", "come true", "over the cheapest"),
}


def table(prefer: str) -> list[str]:
    """One of the tables of the page."""
    lines = [HEADS[prefer], tuple("---" for _ in HEADS[prefer])]
    for name in EVERY:
        for way in ("ignored", "fitted", "stated"):
            made = beside(name, way, prefer=prefer, compared=24 * (prefer == "nearest"))
            last = f"{made.distance:.2f}" if prefer == "balanced" else f"{made.over:.3f}"
            lines.append((name, way, str(made.found), f"{100 * made.true:.0f} %", last))
    return [f"| {' | '.join(line)} |" for line in lines]


def over_samples(name: str, prefer: str, reach: float) -> list[float]:
    """What share of answers comes true with fitted mechanisms, for each sample of training rows."""
    return [
        beside(name, "fitted", 40, prefer, reach=reach, seed=seed).true for seed in SAMPLE_SEEDS
    ]


def samples_table() -> list[str]:
    """The third table of the page: the mean and the least over samples of training rows."""
    lines = [("world", *(f"{prefer}, reach={reach}" for prefer, reach in ASKED)), ("---",) * 4]
    for name in EVERY:
        shares = [over_samples(name, prefer, reach) for prefer, reach in ASKED]
        told = (f"{100 * np.mean(one):.1f} % ({100 * min(one):.1f} %)" for one in shares)
        lines.append((name, *told))
    return [f"| {' | '.join(line)} |" for line in lines]


if __name__ == "__main__":
    parts = [table("balanced"), table("nearest"), samples_table()]
    sys.stdout.write("\n\n".join("\n".join(part) for part in parts) + "\n")
