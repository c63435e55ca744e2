"""Other people's methods, asked and answering like `Explainer`, to compare with.

Each has a file of its own and is written here from its publication, but `Dice`, `Nice` and
`OmniXai`: these are their authors' programs, each in a process and an environment of its own. They
share the explainer's door (schema, goals, constraints, counting) and its final check, so that a
comparison is about the search alone. `ares` and `globe_ce` are for whole populations, to set beside
`Explainer.plan`.
"""

from __future__ import annotations

from macex.baselines.actionable_recourse import ActionableRecourse
from macex.baselines.ares import ares
from macex.baselines.baseline import Baseline
from macex.baselines.certifai import Certifai
from macex.baselines.covered import Covered
from macex.baselines.dice import Dice
from macex.baselines.face import Face
from macex.baselines.feature_tweak import FeatureTweak
from macex.baselines.geco import GeCo
from macex.baselines.globe_ce import globe_ce
from macex.baselines.greedy import Greedy
from macex.baselines.growing_spheres import GrowingSpheres
from macex.baselines.lore import Lore
from macex.baselines.moc import Moc
from macex.baselines.nearest_row import NearestTrainingRow
from macex.baselines.nice import Nice
from macex.baselines.nice_search import NiceSearch
from macex.baselines.omnixai import OmniXai
from macex.baselines.prototypes import Prototypes
from macex.baselines.random_search import RandomSearch
from macex.baselines.shap_based import ShapBased
from macex.baselines.wachter import Wachter
from macex.baselines.wachter_autograd import WachterAutograd

__all__ = [
    "ActionableRecourse",
    "Baseline",
    "Certifai",
    "Covered",
    "Dice",
    "Face",
    "FeatureTweak",
    "GeCo",
    "Greedy",
    "GrowingSpheres",
    "Lore",
    "Moc",
    "NearestTrainingRow",
    "Nice",
    "NiceSearch",
    "OmniXai",
    "Prototypes",
    "RandomSearch",
    "ShapBased",
    "Wachter",
    "WachterAutograd",
    "ares",
    "globe_ce",
]
