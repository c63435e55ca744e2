"""LightGBM: boosters, and its scikit-learn estimators asked through their boosters.

LightGBM takes the columns of a frame by position, whatever their names, and spends milliseconds on
a frame of one row. Here columns are found by name and the booster sees a plain matrix.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from macex.errors import ModelError
from macex.models.kinds.matrix import Matrix
from macex.schema import Array

UNNAMED = re.compile(r"Column_\d+")


@dataclass(frozen=True)
class BoostedLightGBM:
    """A booster as a function of a frame."""

    booster: Any
    classes_: tuple[object, ...] | None
    matrix: Matrix
    stored: Sequence[Sequence[object]] = ()  # the categories of each categorical column
    categorical: Sequence[str] = ()  # those columns, as far as the booster says

    def __call__(self, frame: Any) -> Array:
        """The scores of a frame."""
        return self.booster.predict(self._matrix(frame)(frame))

    def _matrix(self, frame: Any) -> Matrix:
        """The matrix for a frame, whose own categorical columns go before what the booster says."""
        if not self.stored or isinstance(frame, np.ndarray):
            return self.matrix
        columns = [name for name in self.matrix.names or () if name in _categories_of(frame)]
        columns = columns if len(columns) == len(self.stored) else list(self.categorical)
        if len(columns) != len(self.stored):
            raise ModelError(
                f"the LightGBM model has {len(self.stored)} columns of categories and does not say "
                "which: give them the dtype category in data"
            )
        return replace(self.matrix, categories=dict(zip(columns, self.stored, strict=True)))


def _categories_of(frame: Any) -> set[str]:
    if not isinstance(frame, pd.DataFrame):
        return set()
    dtypes = frame.dtypes.items()
    return {_spelt(str(name)) for name, kind in dtypes if isinstance(kind, pd.CategoricalDtype)}


def of_booster(booster: Any) -> BoostedLightGBM:
    """A native booster."""
    objective = _header(booster, "objective").partition(" ")[0]
    classes: tuple[object, ...] | None = None
    if objective in {"binary", "cross_entropy"}:
        classes = (0, 1)
    if objective in {"multiclass", "multiclassova"}:
        classes = tuple(range(booster.num_model_per_iteration()))
    return _boosted(booster, classes)


def of_estimator(model: Any) -> Any:
    """`LGBMClassifier` or `LGBMRegressor`; the model itself where its objective is a function."""
    booster = model.booster_
    classes = getattr(model, "classes_", None)
    if callable(model.objective) or (classes is not None and len(classes) < 2):
        return model
    return _boosted(booster, None if classes is None else tuple(np.asarray(classes).tolist()))


def _spelt(name: str) -> str:
    """A name as LightGBM writes it."""
    return name.replace(" ", "_")


def _boosted(booster: Any, classes: tuple[object, ...] | None) -> BoostedLightGBM:
    names = booster.feature_name()
    if all(UNNAMED.fullmatch(name) for name in names):
        return BoostedLightGBM(booster, classes, Matrix(width=len(names)))
    stored = booster.pandas_categorical or ()
    return BoostedLightGBM(
        booster, classes, Matrix(names, spelt=_spelt), stored, _categorical(booster, names)
    )


def _categorical(booster: Any, names: Sequence[str]) -> list[str]:
    """The columns that the trees split by category; an ordered one counts as a number."""
    kinds = _header(booster, "feature_infos").split()
    pairs = zip(names, kinds, strict=False)
    return [name for name, kind in pairs if re.fullmatch(r"-?\d+(:-?\d+)*", kind)]


def _header(booster: Any, key: str) -> str:
    """A line of the head of the model's text."""
    text = booster.model_to_string(num_iteration=1)
    found = re.search(rf"^{key}=(.*)$", text, re.MULTILINE)
    return found[1] if found else ""
