"""Models whose `predict` is known to be the class with their highest score.

Any other model that has `predict` is asked for its decision on every row that it scores.
"""

from __future__ import annotations

from inspect import getattr_static
from typing import Any

from macex.models.first_steps import kind_of, last_step

_HISTOGRAMS = "sklearn.ensemble._hist_gradient_boosting.gradient_boosting"
BY_HIGHEST_SCORE = {
    ("catboost.core", "CatBoostClassifier"),
    ("lightgbm.sklearn", "LGBMClassifier"),
    ("sklearn.calibration", "CalibratedClassifierCV"),
    ("sklearn.ensemble._bagging", "BaggingClassifier"),
    ("sklearn.ensemble._forest", "ExtraTreesClassifier"),
    ("sklearn.ensemble._forest", "RandomForestClassifier"),
    ("sklearn.ensemble._gb", "GradientBoostingClassifier"),
    (_HISTOGRAMS, "HistGradientBoostingClassifier"),
    ("sklearn.linear_model._logistic", "LogisticRegression"),
    ("sklearn.linear_model._ridge", "RidgeClassifier"),
    ("sklearn.neural_network._multilayer_perceptron", "MLPClassifier"),
    ("sklearn.svm._classes", "LinearSVC"),
    ("sklearn.tree._classes", "DecisionTreeClassifier"),
    ("xgboost.sklearn", "XGBClassifier"),
}
ASKED = ("predict", "predict_proba", "decision_function")


def by_highest_score(model: Any) -> bool:
    """Whether a model, or the last step of a pipeline, is such a classifier and unmodified.

    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.svm import SVC
    >>> by_highest_score(LogisticRegression()), by_highest_score(SVC(probability=True))
    (True, False)
    """
    told = getattr(model, "by_highest_score", None)  # of a model in another process
    if isinstance(told, bool):
        return told
    last = last_step(model)
    if kind_of(last) not in BY_HIGHEST_SCORE:
        return False
    cut = getattr(last, "get_probability_threshold", None)  # CatBoost's own
    if cut is not None and cut() not in (None, 0.5):
        return False
    return all(map(_as_made, (model, getattr(model, "best_estimator_", last), last)))


def original(kind: type, name: str) -> Any:
    """The function behind a method of a class, without its decorators."""
    held = getattr_static(kind, name)
    return getattr(held, "fn", held)


def _as_made(model: Any) -> bool:
    """Whether no method of this object was replaced by another function."""
    held = vars(model)
    return all(
        getattr(held[name], "__func__", None) is original(type(model), name)
        for name in ASKED
        if name in held
    )
