"""A small world of loans with columns of every kind, and real models of it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

import macex as mx

START = pd.Timestamp("2020-01-01")


@cache
def loans() -> pd.DataFrame:
    """Whole numbers, decimals, missing values, text, an ordered category, truth values, dates."""
    rng = np.random.default_rng(7)
    count = 240
    income = np.round(rng.lognormal(1.2, 0.5, count), 1)
    income[rng.random(count) < 0.1] = np.nan
    return pd.DataFrame(
        {
            "age": rng.integers(18, 70, count),
            "amount": np.round(rng.uniform(0.5, 12, count), 1),
            "marital": rng.choice(["single", "married", "divorced"], count),
            "grade": pd.Categorical(
                rng.choice(list("ABCD"), count), categories=list("ABCD"), ordered=True
            ),
            "income": income,
            "since": START + pd.to_timedelta(rng.integers(0, 1000, count), unit="D"),
            "owner": rng.random(count) < 0.4,
        }
    )


def merit(rows: pd.DataFrame) -> np.ndarray:
    """A score that reads columns by name, so that their order does not matter."""
    days = (rows["since"] - START).dt.days.to_numpy(float)
    income = rows["income"].fillna(2.0).to_numpy(float)
    grade = np.array([{"A": 1.5, "B": 0.5, "C": -0.5, "D": -1.5}[g] for g in rows["grade"]])
    home = np.where(rows["owner"].to_numpy(bool), 0.8, 0.0)
    married = np.where(rows["marital"].to_numpy() == "married", 0.7, 0.0)
    age = (rows["age"].to_numpy(float) - 40) / 20
    amount = rows["amount"].to_numpy(float) / 4
    return 0.9 * income - amount + grade + home + married + 0.4 * age - days / 1000 - 1.6


def chance(rows: pd.DataFrame) -> np.ndarray:
    """The probability of a grant."""
    return 1 / (1 + np.exp(-merit(rows)))


def outcome() -> np.ndarray:
    """Grants as they were made: mostly by merit."""
    noise = np.random.default_rng(3).logistic(0, 0.5, len(loans()))
    return np.where(merit(loans()) + noise > 0, "granted", "refused")


def tier() -> np.ndarray:
    """Three labels instead of two."""
    return np.select([merit(loans()) < -1.5, merit(loans()) < 1], ["low", "mid"], "high")


LEVELS = {"marital": ("divorced", "married", "single"), "grade": tuple("ABCD"), "owner": (True,)}


def encoded(rows: pd.DataFrame) -> np.ndarray:
    """Numbers, with missing ones filled and dates as days, and categories one-hot."""
    days = (rows["since"] - START).dt.days.to_numpy(float) / 300
    income = rows["income"].fillna(2.0).to_numpy(float)
    numbers = [rows["age"].to_numpy(float) / 15, rows["amount"].to_numpy(float) / 3, income, days]
    hot = [rows[c].to_numpy() == level for c, levels in LEVELS.items() for level in levels]
    return np.column_stack([*numbers, *hot]).astype(float)


class Prepared:
    """A scikit-learn classifier that takes frames of exactly the columns and dtypes of training."""

    def __init__(self, classifier: Any, label: np.ndarray) -> None:
        self.classifier = classifier.fit(encoded(loans()), label)
        self.classes_ = classifier.classes_

    def ready(self, rows: pd.DataFrame) -> np.ndarray:
        """The rows as numbers; other columns or dtypes than those of training fail."""
        if list(rows.columns) != list(loans().columns):
            raise ValueError("other columns than in training")
        if not (rows.dtypes == loans().dtypes).all():
            raise TypeError("other dtypes than in training")
        return encoded(rows)

    def predict(self, rows: pd.DataFrame) -> np.ndarray:
        """The decision."""
        return self.classifier.predict(self.ready(rows))


class Probable(Prepared):
    """A classifier that knows probabilities."""

    def predict_proba(self, rows: pd.DataFrame) -> np.ndarray:
        """The probabilities."""
        return self.classifier.predict_proba(self.ready(rows))


class Margin(Prepared):
    """A classifier that knows a decision function only."""

    def decision_function(self, rows: pd.DataFrame) -> np.ndarray:
        """The signed distance, or one per class."""
        return self.classifier.decision_function(self.ready(rows))


@cache
def pipeline() -> Any:
    """A pipeline on frames, as people write them."""
    columns = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["marital", "grade", "owner"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "amount", "income"]),
    )
    return make_pipeline(columns, LogisticRegression()).fit(loans(), outcome())


@cache
def model(name: str) -> Any:
    """The models by name."""
    logistic, tree = LogisticRegression(max_iter=500), DecisionTreeClassifier(max_depth=5)
    network = MLPClassifier((12,), solver="lbfgs", alpha=1.0, random_state=0, max_iter=2000)
    return {
        "pipeline": pipeline,
        "logistic": lambda: Probable(logistic, outcome()),
        "tree": lambda: Probable(tree, outcome()),
        "network": lambda: Probable(network, outcome()),
        "tiers": lambda: Probable(logistic, tier()),
        "tier tree": lambda: Probable(tree, tier()),
        "labels": lambda: Prepared(tree, tier()),
        "margin": lambda: Margin(logistic, outcome()),
        "margins": lambda: Margin(logistic, tier()),
        "careful": lambda: Probable(FixedThresholdClassifier(logistic, threshold=0.8), outcome()),
    }[name]()


def grants(rows: pd.DataFrame) -> np.ndarray:
    """The decision of `chance`."""
    return np.where(chance(rows) > 0.5, "granted", "refused")


def refused(name: str, count: int) -> pd.DataFrame:
    """The first rows that a model refuses."""
    decided = model(name).predict(loans())
    return loans()[decided == "refused"].head(count)


@cache
def by_merit(method: str, **options: Any) -> mx.Explainer:
    """An explainer of `chance`, whose answers can be checked by hand."""
    return mx.Explainer(chance, loans(), method=method, classes=("refused", "granted"), **options)


@cache
def explainer(name: str, method: str, **options: Any) -> mx.Explainer:
    """An explainer of one of the models."""
    return mx.Explainer(model(name), loans(), method=method, **options)


def found_rows(explanations: mx.Explanations) -> list[tuple[mx.Explanation, mx.Counterfactual]]:
    """Every counterfactual with the explanation it belongs to."""
    return [(e, c) for e in explanations for c in e.counterfactuals]


def same_cell(one: Any, other: Any) -> bool:
    """Whether two cells are the same in type and value; missing equals missing."""
    if pd.isna(one) or pd.isna(other):
        return bool(pd.isna(one)) and bool(pd.isna(other)) and type(one) is type(other)
    return type(one) is type(other) and bool(one == other)


def changed_columns(query: pd.DataFrame, row: pd.DataFrame) -> set[str]:
    """The columns in which two one-row frames differ."""
    return {c for c in query.columns if not same_cell(query[c].iloc[0], row[c].iloc[0])}
