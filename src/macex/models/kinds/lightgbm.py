"""LightGBM: boosters, and its scikit-learn estimators asked through their boosters.

LightGBM takes the columns of a frame by position, whatever their names, and spends milliseconds on
a frame of one row. Here columns are found by name and the booster sees a plain matrix.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import ModelError
from macex.models.kinds.matrix import Matrix
from macex.schema import Array

UNNAMED = re.compile(r"Column_\d+")


@dataclass(frozen=True)
class Boosted:
    """A booster as a function of a frame."""

    booster: Any
    classes_: tuple[object, ...] | None
    matrix: Matrix

    def __call__(self, frame: Any) -> Array:
        """The scores of a frame."""
        return self.booster.predict(self.matrix(frame))


def of_booster(booster: Any) -> Boosted:
    """A native booster."""
    objective = _objective(booster)
    classes: tuple[object, ...] | None = None
    if objective[0] in {"binary", "cross_entropy"}:
        classes = (0, 1)
    if objective[0] in {"multiclass", "multiclassova"}:
        classes = tuple(range(booster.num_model_per_iteration()))
    return Boosted(booster, classes, _matrix(booster))


def of_estimator(model: Any) -> Any:
    """`LGBMClassifier` or `LGBMRegressor`; the model itself where its objective is a function."""
    if callable(model.objective):
        return model
    booster = model.booster_
    classes = getattr(model, "classes_", None)
    known = None if classes is None else tuple(np.asarray(classes).tolist())
    return Boosted(booster, known, _matrix(booster))


def _spelt(name: str) -> str:
    """A name as LightGBM writes it."""
    return name.replace(" ", "_")


def _objective(booster: Any) -> list[str]:
    found = re.search(r"^objective=(.*)$", booster.model_to_string(num_iteration=1), re.MULTILINE)
    return found[1].split() if found else [""]


def _matrix(booster: Any) -> Matrix:
    names = booster.feature_name()
    if all(UNNAMED.fullmatch(name) for name in names):
        return Matrix(width=len(names))
    categories = dict(zip(_categorical(booster, names), _stored(booster), strict=True))
    return Matrix(names, categories, spelt=_spelt)


def _stored(booster: Any) -> Sequence[Sequence[object]]:
    return booster.pandas_categorical or ()


def _categorical(booster: Any, names: Sequence[str]) -> list[str]:
    """The columns whose categories are stored; the file tells them apart from numbers only."""
    if not _stored(booster):
        return []
    infos = re.search(
        r"^feature_infos=(.*)$", booster.model_to_string(num_iteration=1), re.MULTILINE
    )
    kinds = infos[1].split() if infos else []
    found = [
        n for n, kind in zip(names, kinds, strict=False) if re.fullmatch(r"-?\d+(:-?\d+)*", kind)
    ]
    if len(found) != len(_stored(booster)):
        raise ModelError(
            "the LightGBM model does not say which columns its categories belong to: "
            "give it a function of a frame instead"
        )
    return found
