"""From a raw file to the table that the benchmarks use: which columns, which rows, which label.

Categories are strings, also where they look like numbers; continuous columns stay numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from macex.datasets import sources
from macex.datasets.dataset import Dataset
from macex.datasets.sources import DatasetSource, Raw
from macex.errors import DataError, closest

RACES = ("African-American", "Caucasian", "Hispanic")


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


Prepare = Callable[[pd.DataFrame], tuple[pd.DataFrame, "pd.Series[bool]"]]


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
VARIANTS = ("paper",)


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
