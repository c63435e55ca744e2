"""Other people's methods, asked and answering like `Explainer`, to compare with.

Each has a file of its own: `Greedy`, `ShapBased`, `Certifai` and `Dice`. They share the explainer's
door (schema, goals, constraints, counting) and its final check, so that a comparison is about the
search alone.
"""

from __future__ import annotations

from macex.baselines.baseline import Baseline
from macex.baselines.certifai import Certifai
from macex.baselines.dice import Dice
from macex.baselines.greedy import Greedy
from macex.baselines.shap_based import ShapBased

__all__ = ["Baseline", "Certifai", "Dice", "Greedy", "ShapBased"]
