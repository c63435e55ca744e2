"""CatBoost: `float32(x) > border` goes to the right. Classes and `CatBoost` itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from macex.models.trees.splits import Splits, unreadable, up_to_as_float32


def read(model: Any) -> list[Splits]:
    """The borders of all numbers; categories in any form are split by category."""
    if model.get_text_feature_indices() or model.get_embedding_feature_indices():
        raise unreadable("the CatBoost model has text or embedding features")
    borders = {int(at): found for at, found in model.get_borders().items() if len(found)}
    feature = np.array([at for at, found in borders.items() for _ in found], dtype=int)
    threshold = np.array([border for found in borders.values() for border in found], dtype=float)
    categorical = frozenset(int(at) for at in model.get_cat_feature_indices())
    names = tuple(map(str, model.feature_names_))
    return [Splits(feature, threshold, up_to_as_float32, categorical, names)]
