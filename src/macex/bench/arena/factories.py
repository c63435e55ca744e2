"""The models of the arena: each a pipeline on the raw frame, for classes or for numbers.

Trees that know gaps see numbers as they are; for the others a gap is the column's median, and
networks and linear models see standardised numbers. All run on one thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any

from macex.bench.arena.tables import ArenaTable

MOST_CATEGORIES = 60  # of a column; the others are one
Make = Callable[[bool], Any]  # whether it is regression -> the last step


def _xgboost(regression: bool) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBRegressor if regression else XGBClassifier
    return kind(n_estimators=100, max_depth=6, random_state=0, n_jobs=1)


def _lightgbm(regression: bool) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if regression else LGBMClassifier
    return kind(n_estimators=100, random_state=0, n_jobs=1, verbosity=-1)


def _catboost(regression: bool) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostRegressor if regression else CatBoostClassifier
    return kind(
        iterations=100, random_seed=0, thread_count=1, verbose=False, allow_writing_files=False
    )


def _forest(regression: bool) -> Any:
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    kind = RandomForestRegressor if regression else RandomForestClassifier
    return kind(n_estimators=100, max_depth=12, random_state=0, n_jobs=1)


def _logistic(regression: bool) -> Any:
    from sklearn.linear_model import LogisticRegression, Ridge

    return Ridge() if regression else LogisticRegression(max_iter=1000)


def _mlp(regression: bool) -> Any:
    from sklearn.neural_network import MLPClassifier, MLPRegressor

    kind = MLPRegressor if regression else MLPClassifier
    return kind(hidden_layer_sizes=(50, 50), random_state=0, max_iter=300, alpha=1e-3)


def _torch(regression: bool) -> Any:
    from macex.bench.arena.torch_network import TorchNetwork

    return TorchNetwork(regression=regression)


KNOWS_GAPS = {"XGBoost", "LightGBM", "CatBoost"}
LAST: Mapping[str, Make] = {
    "XGBoost": _xgboost,
    "LightGBM": _lightgbm,
    "CatBoost": _catboost,
    "forest": _forest,
    "logistic": _logistic,
    "MLP": _mlp,
    "torch": _torch,
}

NEEDS: Mapping[str, tuple[str, str]] = {
    "XGBoost": ("xgboost", "bench"),
    "LightGBM": ("lightgbm", "bench"),
    "CatBoost": ("catboost", "bench"),
    "torch": ("torch", "torch"),
}
"""Kinds of models by the library and the extra of macex that they need; others need none."""


def missing(kind: str) -> str | None:
    """What to install for a kind of model; None where nothing is missing.

    >>> missing("forest") is None
    True
    """
    library, extra = NEEDS.get(kind, ("sklearn", ""))
    if find_spec(library) is not None:
        return None
    return f"{kind} models: {library} is not installed: pip install macex[{extra}]"


def unfitted(table: ArenaTable, kind: str) -> Any:
    """A pipeline of one-hot categories and of numbers, with a model of a kind at its end."""
    from sklearn.compose import make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    last = LAST[kind](table.regression)
    one_hot = OneHotEncoder(
        handle_unknown="infrequent_if_exist", max_categories=MOST_CATEGORIES, sparse_output=False
    )
    filled = SimpleImputer(strategy="median", keep_empty_features=True)
    scaled = make_pipeline(filled, StandardScaler())
    plain = kind in KNOWS_GAPS
    numbers: Any = "passthrough" if plain else filled if kind == "forest" else scaled
    columns = make_column_transformer(
        (one_hot, list(table.dataset.categorical)), (numbers, list(table.dataset.continuous))
    )
    return make_pipeline(columns, last)
