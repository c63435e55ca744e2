"""Structural models whose equations are known: those of the recourse literature, and random ones.

A world draws rows, and says what becomes of a row when some of its columns are set: it knows the
noise of every row, which nobody else does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

Columns = dict[str, np.ndarray]


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


@dataclass(frozen=True)
class World:
    """Columns in the order of their causes, each a function of those before it and its noise."""

    equations: dict[str, Callable[[Columns, np.ndarray], np.ndarray]]
    noises: dict[str, Callable[[np.random.Generator, int], np.ndarray]]
    edges: dict[str, list[str]]
    mechanisms: dict[str, str]
    decision: Callable[[Any], np.ndarray]

    def draw(self, count: int, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Rows, and the noise that made them."""
        random = np.random.default_rng(seed)
        noise = {name: draw(random, count) for name, draw in self.noises.items()}
        return self.acted(pd.DataFrame(noise), {}), pd.DataFrame(noise)

    def acted(self, noise: pd.DataFrame, actions: dict[str, np.ndarray]) -> pd.DataFrame:
        """The rows of some noise once columns are set; NaN leaves a column to its causes."""
        made: Columns = {}
        for name, equation in self.equations.items():
            made[name] = equation(made, noise[name].to_numpy())
            if name in actions:
                set_ = np.asarray(actions[name], float)
                made[name] = np.where(np.isnan(set_), made[name], set_)
        return pd.DataFrame(made)

    def model(self, rows: Any) -> np.ndarray:
        """The chance of a yes."""
        return np.asarray(self.decision(rows))


def _normal(scale: float) -> Callable[[np.random.Generator, int], np.ndarray]:
    return lambda random, n: random.normal(0, scale, n)


def _two_humps(random: np.random.Generator, n: int) -> np.ndarray:
    first = random.random(n) < 0.5
    return np.where(first, random.normal(-2, np.sqrt(1.5), n), random.normal(1, 1, n))


LINEAR = World(  # Karimi et al. 2020, the linear model of three variables
    {
        "x1": lambda c, u: u,
        "x2": lambda c, u: -c["x1"] + u,
        "x3": lambda c, u: 0.05 * c["x1"] + 0.25 * c["x2"] + u,
    },
    {"x1": _two_humps, "x2": _normal(1), "x3": _normal(1)},
    {"x2": ["x1"], "x3": ["x1", "x2"]},
    {"x2": "-x1 + u", "x3": "0.05 * x1 + 0.25 * x2 + u"},
    lambda r: sigmoid(1.5 * (np.asarray(r["x1"]) + np.asarray(r["x2"]) + np.asarray(r["x3"]))),
)

CURVED = World(  # the same, with additive noise and curved equations
    {
        "x1": lambda c, u: u,
        "x2": lambda c, u: -1 + 3 * sigmoid(2 * c["x1"]) + u,
        "x3": lambda c, u: -0.05 * c["x1"] + 0.25 * c["x2"] ** 2 + u,
    },
    {"x1": _two_humps, "x2": _normal(np.sqrt(0.1)), "x3": _normal(1)},
    {"x2": ["x1"], "x3": ["x1", "x2"]},
    {"x2": "-1 + 3 / (1 + exp(-2 * x1)) + u", "x3": "-0.05 * x1 + 0.25 * x2 ** 2 + u"},
    lambda r: sigmoid(1.5 * (np.asarray(r["x1"]) + np.asarray(r["x2"]) + np.asarray(r["x3"]))),
)


def _granted(r: Any) -> np.ndarray:
    """The loan is paid back: amount, duration, income and savings decide."""
    amount, months, income, savings = (
        np.asarray(r[name], float) for name in ("amount", "duration", "income", "savings")
    )
    return sigmoid(0.3 * (-amount - months + income + savings + income * savings))


LOAN = World(  # Karimi et al. 2020, the loan model of seven variables
    {
        "gender": lambda c, u: u,
        "age": lambda c, u: -35 + u,
        "education": lambda c, u: (
            -0.5 + sigmoid(-1 + 0.5 * c["gender"] + sigmoid(0.1 * c["age"]) + u)
        ),
        "amount": lambda c, u: 1 + 0.01 * (c["age"] - 5) * (5 - c["age"]) + c["gender"] + u,
        "duration": lambda c, u: -1 + 0.1 * c["age"] + 2 * c["gender"] + c["amount"] + u,
        "income": lambda c, u: (
            -4 + 0.1 * (c["age"] + 35) + 2 * c["gender"] + c["gender"] * c["education"] + u
        ),
        "savings": lambda c, u: -4 + 1.5 * np.maximum(c["income"], 0) + u,
    },
    {
        "gender": lambda random, n: (random.random(n) < 0.5).astype(float),
        "age": lambda random, n: random.gamma(10, 3.5, n),
        "education": _normal(0.5),
        "amount": _normal(2),
        "duration": _normal(3),
        "income": _normal(2),
        "savings": _normal(5),
    },
    {
        "education": ["age", "gender"],
        "amount": ["age", "gender"],
        "duration": ["age", "amount", "gender"],
        "income": ["age", "education", "gender"],
        "savings": ["income"],
    },
    {
        "education": "-0.5 + 1 / (1 + exp(-(-1 + 0.5 * gender + 1 / (1 + exp(-0.1 * age)) + u)))",
        "amount": "1 + 0.01 * (age - 5) * (5 - age) + gender + u",
        "duration": "-1 + 0.1 * age + 2 * gender + amount + u",
        "income": "-4 + 0.1 * (age + 35) + 2 * gender + gender * education + u",
        "savings": "-4 + 1.5 * max(income, 0) + u",
    },
    _granted,
)

WORLDS = {"linear": LINEAR, "curved": CURVED, "loan": LOAN}


def random_world(seed: int, width: int = 5) -> World:
    """A random graph with random equations: some straight, some curved."""
    random = np.random.default_rng(seed)
    names = [f"c{place}" for place in range(width)]
    equations: dict[str, Any] = {}
    edges, mechanisms = {}, {}
    for place, name in enumerate(names):
        parents = [one for one in names[:place] if random.random() < 0.6]
        weights = np.round(random.uniform(0.3, 1.2, len(parents)) * random.choice([-1, 1]), 2)
        bends = random.random(len(parents)) < 0.3
        parts = list(zip(parents, weights.tolist(), bends.tolist(), strict=True))

        def equation(c: Columns, u: np.ndarray, parts: Any = parts) -> np.ndarray:
            for parent, weight, bend in parts:
                u = u + weight * (0.3 * c[parent] ** 2 if bend else c[parent])
            return u

        equations[name] = equation
        if parents:
            edges[name] = parents
            mechanisms[name] = " + ".join(
                [f"{w} * {'0.3 * ' * b}{p}{' ** 2' * b}" for p, w, b in parts] + ["u"]
            )
    slopes = np.round(random.uniform(0.4, 1.5, width), 2)
    return World(
        equations,
        dict.fromkeys(names, _normal(1)),
        edges,
        mechanisms,
        lambda r: sigmoid(
            sum(s * np.asarray(r[n]) for s, n in zip(slopes, names, strict=True)) - 1
        ),
    )


def actions_of(found: Any, count: int) -> dict[str, np.ndarray]:
    """What the first answers set, by column; NaN where they leave a column to its causes."""
    done: dict[str, np.ndarray] = {}
    for row, explanation in enumerate(found):
        for answer in explanation.counterfactuals[:1]:
            for change in answer.changes:
                done.setdefault(change.column, np.full(count, np.nan))[row] = change.after
    return done
