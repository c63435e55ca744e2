"""The methods that are compared, by name; a stranger's joins them from a file of its own.

A method is built from a model, its training rows and a seed. What is built has
`explain(rows, n=)`, which returns `Explanations`, or for each row a frame of counterfactuals with
the columns of the training rows (an empty frame where there is none).
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from macex.errors import DataError, OptionError, closest
from macex.explainer import Explainer
from macex.stages.search.exhaustive import Exhaustive

ENTRY_POINTS = "macex.methods"
SLOW = 100
SLOWER = 50
SLOWEST = {"random": 20, "genetic": 20, "kdtree": 20, "gradient": 5}
REWARDS = ("none", "sparsity", "proximity", "plausibility")
OPTIMUM_ROWS = 70_000  # enough for all triples of Breast

Build = Callable[[Any, Any, int], Any]


@dataclass(frozen=True, slots=True)
class Method:
    """A method and how it takes part.

    `paper` is its name in the paper's tables. `most` bounds the queries of a cell it is given,
    because it is slow. `several` says whether it can give more than one counterfactual.
    `optional` methods run only when they are asked for by name.
    """

    name: str
    build: Build
    paper: str | None = None
    most: int | None = None
    several: bool = True
    optional: bool = False

    @property
    def rival(self) -> bool:
        """Whether it is one of the methods that macex is held against."""
        return self.name not in OURS


def ours(options: Mapping[str, Any]) -> Build:
    """An explainer with these options."""

    def build(model: Any, data: Any, seed: int) -> Explainer:
        return Explainer(model, data, random_state=seed, **options)

    return build


def baseline(name: str, options: Mapping[str, Any] | None = None) -> Build:
    """One of `macex.baselines` by the name of its class."""

    def build(model: Any, data: Any, seed: int) -> Any:
        kind = getattr(import_module("macex.baselines"), name)
        return kind(model, data, random_state=seed, **(options or {}))

    return build


AS_PRINTED = {
    "candidates": "neighbors",
    "selection": "printed",
    "finetune": "gradientless",
    "prefer": "fewest",
    "plausibility": "distance",
    "structure": "ignore",
}
REINFORCE = {"method": "reinforce", **AS_PRINTED}
GRADIENTLESS = {"method": "gradientless", **AS_PRINTED}
OPTIMUM = {
    "candidates": "domain",
    "method": Exhaustive(max_rows=OPTIMUM_ROWS),
    "prefer": "fewest",
    "structure": "ignore",
}

DEFAULT = "default"
NEAREST = "nearest"
EXACT = "exact trees"
NICE = "NICE"
OMNIXAI_RL, OMNIXAI_GLD = "OmniXAI MACE-RL", "OmniXAI MACE-GLD"
OURS = {
    "MACE-GLD": Method("MACE-GLD", ours(GRADIENTLESS), paper="MACE-GLD"),
    "MACE-RL": Method("MACE-RL", ours(REINFORCE), paper="MACE-RL"),
    "default (neighbors)": Method("default (neighbors)", ours({"candidates": "neighbors"})),
    DEFAULT: Method(DEFAULT, ours({})),
    NEAREST: Method(NEAREST, ours({"prefer": "nearest"})),
    "reinforce": Method("reinforce", ours({"method": "reinforce"}), optional=True),
    EXACT: Method(EXACT, ours({"candidates": "thresholds"}), optional=True),
    "optimum": Method("optimum", ours(OPTIMUM), optional=True),
}
RIVALS = {
    "Greedy": Method("Greedy", baseline("Greedy"), paper="Greedy", most=SLOW, several=False),
    "SHAP-based": Method(
        "SHAP-based", baseline("ShapBased"), paper="SHAP-based", most=SLOW, several=False
    ),
    "CERTIFAI": Method("CERTIFAI", baseline("Certifai"), paper="CERTIFAI", most=SLOW),
    **{
        f"DiCE {kind}": Method(
            f"DiCE {kind}", baseline("Dice", {"method": kind}), paper="DiCE", most=most
        )
        for kind, most in SLOWEST.items()
    },
    NICE: Method(NICE, baseline("Nice"), most=SLOW, several=False),
    **{
        name: Method(name, baseline("OmniXai", {"method": kind}), most=SLOWER)
        for name, kind in ((OMNIXAI_RL, "rl"), (OMNIXAI_GLD, "gld"))
    },
}
FIELD = {
    "nearest row": ("NearestTrainingRow", {}),
    "random": ("RandomSearch", {}),
    "Growing Spheres": ("GrowingSpheres", {}),
    "Wachter": ("Wachter", {}),
    "Wachter autograd": ("WachterAutograd", {}),
    "FACE": ("Face", {}),
    "GeCo": ("GeCo", {}),
    "MOC": ("Moc", {}),
    "LORE": ("Lore", {}),
    "prototypes": ("Prototypes", {}),
    "prototypes mean": ("Prototypes", {"prototype": "mean"}),
    **{f"NICE {kind}": ("NiceSearch", {"reward": kind}) for kind in REWARDS},
    "FeatureTweak": ("FeatureTweak", {}),
    "Actionable Recourse": ("ActionableRecourse", {}),
}
"""Methods of other papers: a class of `macex.baselines`, and its options."""
MORE = {
    name: Method(name, baseline(kind, options), most=SLOW, optional=True)
    for name, (kind, options) in FIELD.items()
}
BUILT_IN = {**RIVALS, **MORE, **OURS}

_registered: dict[str, Method] = {}


def register(name: str, build: Build, *, most: int | None = None, several: bool = True) -> None:
    """Let a method of your own take part in every table, under its name.

    `build(model, data, seed)` makes it. Registered again, the later one counts.
    """
    if not callable(build):
        raise OptionError(f"method {name!r}: build is a function of (model, data, seed)")
    if name in BUILT_IN:
        raise OptionError(f"a method is called {name!r} already: choose another name")
    _registered[name] = Method(name, build, most=most, several=several)


def methods() -> dict[str, Method]:
    """All methods by name: the baselines, macex's own, those installed, those registered."""
    return {**BUILT_IN, **_installed(), **_registered}


def method(name: str) -> Method:
    """The method of a name.

    >>> method("MACE-RL").paper
    'MACE-RL'
    """
    known = methods()
    if name not in known:
        raise OptionError(f"no method is called {name!r}{closest(name, known)}")
    return known[name]


def _installed() -> dict[str, Method]:
    """The methods of other packages: a name and what builds it, in the group `macex.methods`."""
    return {
        point.name: Method(point.name, partial(_loaded, point))
        for point in entry_points(group=ENTRY_POINTS)
    }


def _loaded(point: EntryPoint, model: Any, data: Any, seed: int) -> Any:
    """Built when it is needed, so that a broken package breaks its own cells alone."""
    return point.load()(model, data, seed)


def read_plugin(path: Path) -> None:
    """Run a file that registers methods or datasets."""
    if not path.is_file():
        raise DataError(f"--plugin: there is no file {str(path)!r}")
    try:
        runpy.run_path(str(path))
    except Exception as error:
        raise DataError(f"--plugin: {str(path)!r} raised {error!r}") from error
