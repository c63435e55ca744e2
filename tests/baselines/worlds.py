"""A closed-form model of work and pay, whose best answers can be worked out by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd

from macex import baselines


def workers(count: int = 300, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "hours": rng.integers(10, 61, count),
            "rate": np.round(rng.uniform(1, 9, count), 1),
            "job": rng.choice(["baker", "clerk", "smith"], count),
            "town": rng.choice(["east", "west"], count),
        }
    )


def pay(rows: pd.DataFrame) -> np.ndarray:
    """Hours at a rate, more for smiths; the town does not matter."""
    extra = np.where(rows["job"].to_numpy() == "smith", 1.5, 1.0)
    return rows["hours"].to_numpy(float) * rows["rate"].to_numpy(float) * extra


def chance(rows: pd.DataFrame) -> np.ndarray:
    """Enough from 200 on."""
    return 1 / (1 + np.exp((200 - pay(rows)) / 40))


DATA = workers()
POOR = DATA[pay(DATA) < 160].head(12)
CLASSES = ("short", "enough")


class ShortMoc(baselines.Moc):
    generations = 20


class ShortLore(baselines.Lore):
    population = 60


GREEDY = (baselines.Greedy, {})
NEAREST_ROW = (baselines.NearestTrainingRow, {})
RANDOM = (baselines.RandomSearch, {})
SPHERES = (baselines.GrowingSpheres, {})
FACE = (baselines.Face, {})
GECO = (baselines.GeCo, {})
MOC = (ShortMoc, {})
LORE = (ShortLore, {})
WACHTER = (baselines.Wachter, {})
PROTOTYPES = {kind: (baselines.Prototypes, {"prototype": kind}) for kind in ("nearest", "mean")}
NICE = {
    kind: (baselines.NiceSearch, {"reward": kind})
    for kind in ("none", "sparsity", "proximity", "plausibility")
}
RECOURSE = (baselines.ActionableRecourse, {})
SHAP = (baselines.ShapBased, {})
CERTIFAI = (baselines.Certifai, {"population": 60, "generations": 20})


def made(method, **options):
    maker, own = method
    return maker(chance, DATA, **{"classes": CLASSES, **own, **options})
