"""XGBoost: boosters, and its scikit-learn estimators asked through their boosters.

A booster predicts from a plain matrix three times as fast as its estimator does from a frame.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import needed
from macex.models.kinds.matrix import Matrix
from macex.schema import Array


@dataclass(frozen=True)
class BoostedXGBoost:
    """A booster as a function of a frame; `rounds` are the trees that count."""

    booster: Any
    classes_: tuple[object, ...] | None
    matrix: Matrix | None  # None: the frame itself is what the booster takes
    margin: bool = False
    rounds: tuple[int, int] = (0, 0)
    missing: float = np.nan
    on_host: bool = True

    def __call__(self, frame: Any) -> Array:
        """The scores of a frame."""
        rows = self._framed(frame) if self.matrix is None else self.matrix(frame)
        if self.on_host:
            return self.booster.inplace_predict(
                rows,
                iteration_range=self.rounds,
                predict_type="margin" if self.margin else "value",
                missing=self.missing,
                validate_features=self.matrix is None,
            )
        library = needed("xgboost", "xgboost")
        data = library.DMatrix(rows, missing=self.missing, enable_categorical=self.matrix is None)
        return self.booster.predict(
            data,
            iteration_range=self.rounds,
            output_margin=self.margin,
            validate_features=self.matrix is None,
        )

    def _framed(self, frame: Any) -> Any:
        """The frame in the order of the booster, text as categories."""
        frame = frame[list(self.booster.feature_names)]
        text = [c for c in frame.columns if frame[c].dtype.kind not in "iufb"]
        return frame.astype(dict.fromkeys(text, "category"))


def of_booster(booster: Any) -> BoostedXGBoost:
    """A native booster."""
    return _boosted(booster, None, (0, 0), np.nan)


def of_estimator(model: Any) -> Any:
    """`XGBClassifier` or `XGBRegressor`; the model itself where its booster is not all there is."""
    booster = model.get_booster()
    several = int(_learner(booster)["learner_model_param"]["num_target"]) > 1
    if model.booster == "gblinear" or callable(model.objective) or several:
        return model
    best = booster.attr("best_iteration")
    rounds = (0, 0) if best is None else (0, int(best) + 1)
    classes = getattr(model, "classes_", None)
    return _boosted(booster, classes, rounds, model.missing)


def _boosted(
    booster: Any, classes: Sequence[Any] | None, rounds: tuple[int, int], missing: float
) -> BoostedXGBoost:
    config = _learner(booster)
    objective = config["objective"]["name"]
    count = int(config["learner_model_param"]["num_class"])
    if classes is None and objective.startswith("binary:"):
        classes = (0, 1)
    if classes is None and objective.startswith("multi:"):
        classes = range(count)
    return BoostedXGBoost(
        booster,
        None if classes is None else tuple(np.asarray(classes).tolist()),
        _matrix(booster),
        margin=objective == "multi:softmax",
        rounds=rounds,
        missing=missing,
        on_host=not config["generic_param"]["device"].startswith("cuda"),
    )


def _learner(booster: Any) -> dict[str, Any]:
    return json.loads(booster.save_config())["learner"]


def _matrix(booster: Any) -> Matrix | None:
    """The matrix of a booster, or None where its categories cannot be read."""
    if "c" not in (booster.feature_types or ()) or booster.feature_names is None:
        return Matrix(booster.feature_names, width=booster.num_features())
    categories = _categories(booster)
    if categories is None:
        return None
    return Matrix(booster.feature_names, categories, strict=True)


def _categories(booster: Any) -> Mapping[str, Sequence[object]] | None:
    try:
        stored = booster.get_categories(export_to_arrow=True).to_arrow()
        known = {name: values.to_pylist() for name, values in stored or () if values is not None}
    except (AttributeError, ImportError, UnicodeDecodeError, ValueError):
        return None
    kinds = zip(booster.feature_names, booster.feature_types, strict=True)
    wanted = {name for name, kind in kinds if kind == "c"}
    return known if set(known) == wanted else None
