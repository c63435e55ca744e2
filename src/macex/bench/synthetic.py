"""Made-up tables of any size, and models on them that cost next to nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from macex.schema import Array

LETTERS = np.array(list("abcde"), dtype=object)


def table(rows: int, columns: int = 10, categories: int = 10, seed: int = 0) -> pd.DataFrame:
    """`columns` columns: a `place` of so many categories, then numbers and letters by turns."""
    random = np.random.default_rng(seed)
    names = np.array([f"p{number:05d}" for number in range(categories)], dtype=object)
    made: dict[str, Array] = {"place": names[random.integers(categories, size=rows)]}
    for number in range(1, columns):
        if number % 2:
            made[f"number{number}"] = random.normal(10, 3, rows).round(1)
        else:
            made[f"letter{number}"] = LETTERS[random.integers(5, size=rows)]
    return pd.DataFrame(made).astype({n: str for n in made if not n.startswith("number")})


def model(frame: pd.DataFrame) -> Array:
    """A score of the first columns; a place counts by its last digit, however many there are."""
    good = frame["place"].str.endswith(("7", "8", "9")).to_numpy(dtype=bool)
    numbers = frame["number1"].to_numpy() + frame["number3"].to_numpy()
    letter = (frame["letter2"] == "a").to_numpy(dtype=bool)
    score: Array = 1 / (1 + np.exp(12 - numbers / 2 - good - letter))
    return score


def model_of(classes: int) -> Callable[[pd.DataFrame], Array]:
    """A model with so many classes: steps of the same score, each a class."""
    middles = (np.arange(classes) + 0.5) / classes

    def scores(frame: pd.DataFrame) -> Array:
        near: Array = np.exp(-np.abs(model(frame)[:, None] - middles) * 4 * classes)
        return near / near.sum(axis=1, keepdims=True)

    return scores
