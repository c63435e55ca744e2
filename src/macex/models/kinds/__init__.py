"""Objects of model libraries that cannot be asked about frames as they are.

Most models have scikit-learn's interface and need nothing. The others are recognised by the name of
their class and of its library, without importing the library, and wrapped in a function of a frame
that returns scores and has `classes_`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

KINDS = {
    ("xgboost", "XGBClassifier"): ("xgboost", "of_estimator"),
    ("xgboost", "XGBRegressor"): ("xgboost", "of_estimator"),
    ("xgboost", "Booster"): ("xgboost", "of_booster"),
    ("lightgbm", "LGBMClassifier"): ("lightgbm", "of_estimator"),
    ("lightgbm", "LGBMRegressor"): ("lightgbm", "of_estimator"),
    ("lightgbm", "Booster"): ("lightgbm", "of_booster"),
    ("catboost", "CatBoost"): ("catboost", "of_catboost"),
    ("keras", "Model"): ("networks", "Network"),
    ("torch", "Module"): ("networks", "Network"),
    ("onnxruntime", "InferenceSession"): ("onnx", "of_session"),
}


def live(model: Any) -> Any:
    """What a file was opened to, or the model itself."""
    stored = type(model).__module__ == "macex.models.files.model_file"
    return model.live_model if stored else model


def adapted(model: Any) -> Any:
    """The model itself, or what asks it about frames.

    >>> adapted(len) is len
    True
    """
    model = live(model)
    for place, kind in enumerate(type(model).__mro__):
        key = (kind.__module__.partition(".")[0], kind.__name__)
        if key in KINDS and (place == 0 or key[0] in {"keras", "torch"}):
            module, name = KINDS[key]
            return getattr(import_module(f"macex.models.kinds.{module}"), name)(model)
    return model
