"""CatBoost's plain model, as it comes out of a file: asked for probabilities where it has classes.

`CatBoostClassifier` and `CatBoostRegressor` need nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import ModelError, closest
from macex.schema import Array


@dataclass(frozen=True)
class BoostedCatBoost:
    """A CatBoost model as a function of a frame."""

    model: Any
    classes_: tuple[object, ...] | None

    def __call__(self, frame: Any) -> Array:
        """The scores of a frame."""
        kind = "RawFormulaVal" if self.classes_ is None else "Probability"
        return np.asarray(self.model.predict(self._ordered(frame), prediction_type=kind))

    def _ordered(self, frame: Any) -> Any:
        """The columns in the order of the model."""
        if isinstance(frame, np.ndarray):
            return frame
        names = list(self.model.feature_names_)
        if names == [str(place) for place in range(len(names))]:
            return frame  # trained on an array
        for name in names:
            if name not in frame.columns:
                raise ModelError(
                    f"the model was trained on a column {name!r} that data does not have"
                    f"{closest(name, frame.columns)}"
                )
        return frame[names]


@dataclass(frozen=True)
class ThresholdBoosted(BoostedCatBoost):
    """A CatBoost model that decides by a probability threshold of its own."""

    def decide(self, frame: Any) -> Array:
        """The labels of a frame."""
        return np.asarray(self.model.predict(self._ordered(frame), prediction_type="Class"))


def of_catboost(model: Any) -> BoostedCatBoost:
    """A model of CatBoost's common class."""
    classes = tuple(np.asarray(model.classes_).tolist()) or None
    cut = dict(model.get_metadata()).get("binclass_probability_threshold", "0.5")
    kind = BoostedCatBoost if float(cut) == 0.5 else ThresholdBoosted
    return kind(model, classes)
