"""Other people's methods, asked and answering like `Explainer`, to compare with.

Each has a file of its own: `Greedy`, `ShapBased` and `Certifai` are written here; `Dice`, `Nice`
and `OmniXai` are their authors' programs, each in a process and an environment of its own. They
share the explainer's door (schema, goals, constraints, counting) and its final check, so that a
comparison is about the search alone. `ares` and `globe_ce` are for whole populations, to set beside
`Explainer.plan`.
"""

from __future__ import annotations

from macex.baselines.ares import ares
from macex.baselines.baseline import Baseline
from macex.baselines.certifai import Certifai
from macex.baselines.covered import Covered
from macex.baselines.dice import Dice
from macex.baselines.globe_ce import globe_ce
from macex.baselines.greedy import Greedy
from macex.baselines.nice import Nice
from macex.baselines.omnixai import OmniXai
from macex.baselines.shap_based import ShapBased

__all__ = [
    "Baseline",
    "Certifai",
    "Covered",
    "Dice",
    "Greedy",
    "Nice",
    "OmniXai",
    "ShapBased",
    "ares",
    "globe_ce",
]
