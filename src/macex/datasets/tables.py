"""Datasets as values, and the paper's tables: which columns, which rows, which label.

Categories are strings, also where they look like numbers; continuous columns stay numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from macex.datasets import sources
from macex.datasets.sources import DatasetSource, Raw
from macex.errors import DataError, OptionError, closest

RACES = ("African-American", "Caucasian", "Hispanic")
Prepare = Callable[[pd.DataFrame], tuple[pd.DataFrame, "pd.Series[bool]"]]
VARIANTS = ("paper",)
TRAIN_SHARE = 0.8


def adult(raw: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[bool]]:
    """Eight columns with grouped categories; 1 earns more than 50K."""
    return raw.drop(columns=["income", "uci_split"]), raw["income"] == ">50K"


def breast(raw: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[bool]]:
    """The complete rows, nine grades of 1 to 10 each; 1 is malignant."""
    complete = raw.dropna().reset_index(drop=True)
    grades = complete.drop(columns=["sample_id", "class"]).astype("int64")
    return grades, complete["class"] == "malignant"


def compas(raw: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[bool]]:
    """ProPublica's own sample, five columns, rare races grouped; 1 offended again in two years."""
    sample = raw[raw["in_propublica_sample"] == 1].reset_index(drop=True)
    frame = pd.DataFrame(
        {
            "age": sample["age"],
            "charge_degree": sample["c_charge_degree"],
            "sex": sample["sex"],
            "race": sample["race"].where(sample["race"].isin(RACES), "Other"),
            "priors_count": sample["priors_count"],
        }
    )
    return frame, sample["two_year_recid"] == 1


def credit(raw: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[bool]]:
    """All fourteen columns, anonymous at the source; 1 is approved."""
    return raw.drop(columns="class"), raw["class"] == 1


def german(raw: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[bool]]:
    """All twenty columns, of marital status and sex together only the latter; 1 is a good risk."""
    gender = raw["status_sex"].str.split(" ", n=1).str[0]
    frame = raw.drop(columns=["credit", "status_sex"])
    return frame.assign(gender=gender), raw["credit"] == "good"


def titanic(raw: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[bool]]:
    """Seven columns, gaps filled, `fare` as a logarithm of at least 1; 1 survived."""
    frame, survived = _passengers(raw)
    return frame.assign(fare=np.log(frame["fare"].clip(lower=1.0)).round(4)), survived


def titanic_as_printed(raw: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[bool]]:
    """The same with `fare` as ln(fare + 0.001), which gives the fares that the paper prints."""
    frame, survived = _passengers(raw)
    return frame.assign(fare=np.log(frame["fare"] + 0.001).round(4)), survived


def _passengers(raw: pd.DataFrame) -> tuple[pd.DataFrame, pd.Series[bool]]:
    columns = ["pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]
    frame = raw[columns].rename(columns={"pclass": "ticket_class"})
    frame["age"] = frame["age"].fillna(frame["age"].median())
    frame["embarked"] = frame["embarked"].fillna("S")
    return frame, raw["survived"] == 1


@dataclass(frozen=True, slots=True)
class Table:
    """One dataset: its raw file, its preparation, what 0 and 1 mean, the columns of numbers.

    `printed` is the preparation of the variant "paper", where that is another one.
    """

    source: DatasetSource
    prepare: Prepare
    labels: tuple[str, str]
    continuous: tuple[str, ...] = ()
    printed: Prepare | None = None


TABLES = {
    "adult": Table(sources.ADULT, adult, ("<=50K", ">50K"), ("age", "hours_per_week")),
    "breast": Table(sources.BREAST, breast, ("benign", "malignant")),
    "compas": Table(
        sources.COMPAS, compas, ("no recidivism", "recidivism"), ("age", "priors_count")
    ),
    "credit": Table(
        sources.CREDIT, credit, ("refused", "approved"), ("A2", "A3", "A7", "A10", "A13", "A14")
    ),
    "titanic": Table(
        sources.TITANIC, titanic, ("died", "survived"), ("age", "fare"), titanic_as_printed
    ),
    "german": Table(
        sources.GERMAN,
        german,
        ("bad", "good"),
        (
            "duration",
            "credit_amount",
            "installment_rate",
            "present_residence_since",
            "age",
            "number_of_existing_credits",
            "number_of_people_liable_for",
        ),
    ),
}
NAMES = tuple(TABLES)


def load_table(
    name: str, variant: str | None, folder: str | Path | None, *, download: bool
) -> Dataset:
    """One of the paper's datasets."""
    if variant is not None and variant not in VARIANTS:
        raise DataError(
            f"dataset {name!r} has no variant {variant!r}{closest(variant, VARIANTS)}; "
            "or leave variant=None"
        )
    table = TABLES[name]
    raw = sources.read(table.source, folder, download=download)
    return assemble(name, table, raw, variant)


def assemble(name: str, table: Table, raw: Raw, variant: str | None = None) -> Dataset:
    """The dataset that a raw table makes."""
    prepare = table.printed if variant == "paper" and table.printed else table.prepare
    frame, positive = prepare(raw.table)
    categorical = tuple(column for column in frame.columns if column not in table.continuous)
    return Dataset(
        name=name,
        frame=frame.astype(dict.fromkeys(categorical, str)),
        label=positive.to_numpy().astype(np.int64),
        labels=table.labels,
        categorical=categorical,
        continuous=table.continuous,
        source=raw.citation,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """A classification table: features in `frame`, 0/1 (or 0 to k - 1) in `label`.

    `labels` names what these mean, `categorical` and `continuous` divide the columns of
    `frame`, and `source` says where the data come from.
    """

    name: str
    frame: pd.DataFrame
    label: NDArray[Any]
    labels: tuple[str, ...]
    categorical: tuple[str, ...]
    continuous: tuple[str, ...]
    source: str

    def split(self, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Positions of the training rows (80 %) and of the test rows, each sorted."""
        order = _shuffled(np.arange(len(self.frame)), seed)
        cut = round(TRAIN_SHARE * len(order))
        return np.sort(order[:cut]), np.sort(order[cut:])

    def rows(self, count: int, seed: int = 0) -> NDArray[np.int64]:
        """Positions of `count` test rows, drawn without replacement.

        A larger `count` only appends, so that a longer run repeats a shorter one.
        """
        _, test = self.split(seed)
        if not 0 <= count <= len(test):
            message = (
                f"count={count}: {self.name!r} has {len(test)} test rows; ask for 0 to that many"
            )
            raise OptionError(message)
        return _shuffled(test, seed)[:count]

    def __repr__(self) -> str:
        rows, columns = self.frame.shape
        return f"Dataset({self.name!r}, {rows} rows, {columns} columns)"


def _shuffled(positions: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """The order in which published figures took the rows, which NumPy keeps stable for good."""
    return np.random.RandomState(seed).permutation(positions)
