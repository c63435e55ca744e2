"""Answers with causes beside those that ignore them, acted out in worlds whose equations are known.

`PYTHONPATH=tests python tests/causes/beside.py` prints the table of docs/how-to/causes.md.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

import macex as mx
from causes.worlds import WORLDS, World, actions_of, random_world

EVERY = {**WORLDS, **{f"random {seed}": random_world(seed) for seed in range(2)}}
FIXED = {"loan": ["gender", "age"]}


class Beside(NamedTuple):
    """How many answers there are, what share comes true, and how far they are."""

    found: int
    true: float
    distance: float


def beside(name: str, way: str, rows: int = 60) -> Beside:
    """The first answers for refused rows of a world; causes are ignored, fitted or stated."""
    world: World = EVERY[name]
    causes = {"fitted": mx.Causes(world.edges), "stated": mx.Causes(world.edges, world.mechanisms)}
    train, _ = world.draw(1000)
    every, noise = world.draw(400, seed=1)
    refused = np.flatnonzero(world.model(every) < 0.5)[:rows]
    explainer = mx.Explainer(
        world.model,
        train,
        classes=("no", "yes"),
        causes=causes.get(way),
        plausibility="distance",
        structure="ignore",
        constraints=mx.Constraints(fixed=FIXED.get(name, [])),
    )
    reach = None if way == "ignored" else 0.9
    found = explainer.explain(every.iloc[refused], want="yes", reach=reach)
    has = np.array([bool(one.counterfactuals) for one in found])
    acted = world.acted(noise.iloc[refused], actions_of(found, len(refused)))
    true = (world.model(acted) >= 0.5)[has].mean()
    far = np.mean([one.counterfactuals[0].distance for one in found if one.counterfactuals])
    return Beside(int(has.sum()), float(true), float(far))


if __name__ == "__main__":
    lines = [
        "| world | causes | answers | come true | distance |",
        "| --- | --- | --- | --- | --- |",
    ]
    for world_ in EVERY:
        for how in ("ignored", "fitted", "stated"):
            made = beside(world_, how)
            share = f"{100 * made.true:.0f} %"
            lines.append(f"| {world_} | {how} | {made.found} | {share} | {made.distance:.2f} |")
    sys.stdout.write("\n".join([*lines, ""]))
