"""The tables of the arena: classification of two or more classes, and regression.

The paper's five, three larger files, nine that come with scikit-learn, and six that are made.
Of three of these something is known about every answer: the fewest changes there are, what holds
between the columns, or what follows from what.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.constraints import Constraints
from macex.bench.structured import TABLES as STRUCTURED
from macex.bench.structured import structured
from macex.datasets import NAMES, Dataset, load
from macex.datasets.sources import FOLDER_VARIABLE
from macex.errors import DataError, OptionError, closest
from macex.schema import Array

Known = Callable[[pd.DataFrame, pd.DataFrame], Array]  # (queries, answers) -> what holds
LEAST_ROWS = 20  # of a table
TEXT_FROM = 20  # different numbers of a column that make it one of numbers


@dataclass(frozen=True)
class ArenaTable:
    """A dataset, whether its label is a number, what may change, and what is known of it."""

    dataset: Dataset
    regression: bool = False
    constraints: Constraints = field(default_factory=Constraints)
    known: Known | None = None  # whether an answer keeps what the rows were made by

    @property
    def name(self) -> str:
        """How results call it."""
        return self.dataset.name

    @property
    def mark(self) -> str:
        """Digits that change with the rows, the label and what may change.

        >>> table("wine").mark == table("wine").mark != table("iris").mark
        True
        """
        dataset = self.dataset
        rows = pd.util.hash_pandas_object(dataset.frame).to_numpy()
        said = (dict(dataset.frame.dtypes.astype(str)), dataset.labels, repr(self.constraints))
        found = hashlib.sha256(repr((said, dataset.categorical, self.regression)).encode())
        found.update(rows.tobytes() + np.asarray(dataset.label).tobytes())
        return found.hexdigest()[:12]


@dataclass(frozen=True)
class TableFile:
    """A file that does not come with macex: its name, its label, columns that are no features."""

    file: str
    label: str
    skip: tuple[str, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)


FILES: Mapping[str, TableFile] = {
    "german": TableFile("german_credit.csv", "credit", constraints=Constraints(increase=("age",))),
    "loans7": TableFile("loans.csv", "grade", ("sub_grade", "interest_rate")),
    "adult-full": TableFile(
        "adult.csv",
        "income",
        ("uci_split",),
        Constraints(fixed=("race", "gender", "native_country"), increase=("age",)),
    ),
}
SKLEARN: Mapping[str, tuple[str, bool]] = {
    "breast30": ("load_breast_cancer", False),
    "iris": ("load_iris", False),
    "wine": ("load_wine", False),
    "diabetes": ("load_diabetes", True),
    "digits": ("load_digits", False),
}

ARFF: Mapping[str, tuple[int, str]] = {
    "chess": (3, "class"),
    "glass": (40675, "class"),
    "cpu": (561, "class"),
    "penguins": (42585, "species"),
}
"""Tables of OpenML that come with scikit-learn's tests: their numbers there, and their labels."""


def table(name: str, folder: str | Path | None = None) -> ArenaTable:
    """A table by name; DataError where its file cannot be read.

    >>> table("wine").dataset
    Dataset('wine', 178 rows, 13 columns)
    """
    makers = _makers(folder)
    if name not in makers:
        raise OptionError(f"the arena has no table {name!r}{closest(name, makers)}")
    return makers[name]()


def table_names() -> list[str]:
    """All tables by name."""
    return list(_makers(None))


def _makers(folder: str | Path | None) -> dict[str, Callable[[], ArenaTable]]:
    return {
        **{name: partial(_paper, name, folder) for name in NAMES},
        **{name: partial(_from_file, name, folder) for name in FILES},
        **{name: partial(_shipped, name) for name in SKLEARN},
        **{name: partial(_arff, name) for name in ARFF},
        **{name: partial(_made, name) for name in MADE},
        **{f"made {name}": partial(_structured, name) for name in STRUCTURED},
    }


def _paper(name: str, folder: str | Path | None) -> ArenaTable:
    return ArenaTable(load(name, folder=folder))


def _structured(name: str) -> ArenaTable:
    return ArenaTable(_renamed(structured(name), f"made {name}"))


def _renamed(dataset: Dataset, name: str) -> Dataset:
    parts = (dataset.frame, dataset.label, dataset.labels, dataset.categorical)
    return Dataset(name, *parts, dataset.continuous, dataset.source)


def _from_file(name: str, folder: str | Path | None) -> ArenaTable:
    file = FILES[name]
    path = Path(folder or os.environ.get(FOLDER_VARIABLE) or ".") / file.file
    if not path.is_file():
        raise DataError(
            f"table {name!r} is read from {file.file!r}, which is not in {str(path.parent)!r}: "
            f"a CSV file with a header and the column {file.label!r}"
        )
    made = table_of(pd.read_csv(path), file.label, name, skip=file.skip)
    return ArenaTable(made.dataset, made.regression, file.constraints)


def _shipped(name: str) -> ArenaTable:
    from sklearn import datasets

    loader, regression = SKLEARN[name]
    found = getattr(datasets, loader)(as_frame=True)
    label = found.target.to_numpy()
    labels = tuple(map(str, getattr(found, "target_names", ())))
    numbers = tuple(found.data.columns)
    dataset = Dataset(name, found.data, label, labels, (), numbers, "scikit-learn")
    return ArenaTable(dataset, regression)


def _arff(name: str) -> ArenaTable:
    """A whole table of OpenML among scikit-learn's files, which some installations leave out."""
    import sklearn
    from scipy.io.arff import loadarff

    number, label = ARFF[name]
    folder = Path(sklearn.__file__).parent / "datasets" / "tests" / "data" / "openml"
    paths = sorted((folder / f"id_{number}").glob("data-v1-*.arff.gz"))
    if not paths:
        raise DataError(f"table {name!r} is among the tests of scikit-learn, which are not here")
    text = gzip.decompress(paths[0].read_bytes()).decode()
    frame = pd.DataFrame(loadarff(io.StringIO(text))[0])
    for column in frame.select_dtypes(object):
        words = frame[column].str.decode("utf-8").astype(object)
        frame[column] = words.mask(words == "?", None)
    made = table_of(frame, label, name)
    return ArenaTable(replace(made.dataset, source="OpenML, by scikit-learn"), made.regression)


def table_of(frame: pd.DataFrame, label: str, name: str, skip: tuple[str, ...] = ()) -> ArenaTable:
    """A table from any frame: text is categorical, numbers are numbers, gaps stay gaps.

    A label of more than twenty different numbers makes it one of regression.

    >>> frame = pd.DataFrame({"x": range(40), "home": ["own", "rent"] * 20, "y": [0, 1] * 20})
    >>> table_of(frame, "y", "homes").dataset.categorical
    ('home',)
    """
    if label not in frame:
        one = " (is it separated by commas?)" if frame.shape[1] == 1 else ""
        raise DataError(
            f"there is no column {label!r} to be the label{closest(label, map(str, frame))}{one}"
        )
    frame = frame[frame[label].notna()].reset_index(drop=True)
    said = frame.pop(label)
    frame = frame.drop(columns=[column for column in skip if column in frame])
    _refuse_little(frame, said, label)
    regression = bool(pd.api.types.is_numeric_dtype(said) and said.nunique() > TEXT_FROM)
    frame.columns = frame.columns.map(str)
    names = [str(column) for column in frame]
    numbers = tuple(c for c in names if pd.api.types.is_numeric_dtype(frame[c].dtype))
    rest = tuple(c for c in names if c not in numbers)
    frame = frame.astype(dict.fromkeys(rest, object))
    if regression:
        values, labels = said.to_numpy(float), tuple[str, ...]()
    else:
        codes, classes = pd.factorize(said, sort=True)
        values, labels = codes.astype(np.int64), tuple(map(str, classes))
    return ArenaTable(Dataset(name, frame, values, labels, rest, numbers, "a file"), regression)


def _refuse_little(frame: pd.DataFrame, said: pd.Series, label: str) -> None:
    """What no model can be fitted on."""
    if len(frame) < LEAST_ROWS:
        raise DataError(
            f"{len(frame)} rows have a label in {label!r}: the arena needs {LEAST_ROWS} at least"
        )
    if not frame.shape[1]:
        raise DataError(f"{label!r} is the only column: there is nothing that could be changed")
    odd = [str(name) for name in frame if _infinite(frame[name])]
    if odd:
        raise DataError(f"the columns {odd} hold infinite numbers: leave these cells empty")
    if not pd.api.types.is_numeric_dtype(said) and 2 * said.nunique() > len(said):
        raise DataError(
            f"column {label!r} has {said.nunique():,} different values in {len(said):,} rows: "
            "a label is one of a few classes, or a number"
        )
    if said.nunique() < 2:
        raise DataError(f"column {label!r} has one value alone, {said.iloc[0]!r}: nothing to learn")


def _infinite(column: pd.Series) -> bool:
    return column.dtype.kind == "f" and bool(np.isinf(column).any())


def tiles() -> ArenaTable:
    """Six columns of four values: few enough combinations for the fewest changes to be known."""
    draw = np.random.default_rng(0)
    codes = draw.integers(0, 4, (1500, 6))
    score = codes[:, 0] + codes[:, 1] * (codes[:, 2] > 1) + 2 * (codes[:, 3] == codes[:, 4])
    label = (score + draw.normal(0, 0.4, 1500) > 4.5).astype(np.int64)
    frame = pd.DataFrame(np.array(list("abcd"), dtype=object)[codes], columns=list("uvwxyz"))
    return ArenaTable(
        Dataset("tiles", frame, label, ("no", "yes"), tuple("uvwxyz"), (), "made by macex.bench")
    )


def totals() -> ArenaTable:
    """Invoices whose total is the sum of two columns: what holds between them is known."""
    draw = np.random.default_rng(1)
    net = draw.integers(20, 400, 1500).astype(float)
    tax = np.round(net * draw.choice([0.0, 0.07, 0.19], 1500))
    days = draw.integers(0, 90, 1500).astype(float)
    columns = {"net": net, "tax": tax, "total": net + tax, "days": days}
    late = (0.01 * (net + tax) + 0.05 * days + draw.normal(0, 0.5, 1500) > 4.5).astype(np.int64)
    frame = pd.DataFrame(columns).assign(region=draw.choice(["east", "west"], 1500))
    dataset = Dataset(
        "totals", frame, late, ("paid", "late"), ("region",), tuple(columns), "made by macex.bench"
    )
    return ArenaTable(dataset, known=lambda _, after: _adds_up(after))


def _adds_up(after: pd.DataFrame) -> Array:
    return np.isclose(after["net"] + after["tax"], after["total"])


def effects() -> ArenaTable:
    """Pay follows schooling, and savings follow pay: what follows from what is known."""
    draw = np.random.default_rng(2)
    years = draw.integers(8, 21, 1500).astype(float)
    pay = (200 * years + draw.normal(0, 300, 1500)).round()
    savings = (0.5 * pay + draw.normal(0, 200, 1500)).round()
    granted = (pay + savings + draw.normal(0, 300, 1500) > 4300).astype(np.int64)
    frame = pd.DataFrame({"years": years, "pay": pay, "savings": savings})
    columns, made = ("years", "pay", "savings"), "made by macex.bench"
    dataset = Dataset("effects", frame, granted, ("no", "yes"), (), columns, made)
    return ArenaTable(dataset, known=_followed)


def _followed(before: pd.DataFrame, after: pd.DataFrame) -> Array:
    """Whether pay moved with schooling, and savings with pay, unless they were set themselves."""
    kept = np.ones(len(after), bool)
    for cause, effect, share in (("years", "pay", 200.0), ("pay", "savings", 0.5)):
        gap = [(frame[effect] - share * frame[cause]).to_numpy(float) for frame in (before, after)]
        moved = before[cause].to_numpy() != after[cause].to_numpy()
        stayed = before[effect].to_numpy() == after[effect].to_numpy()
        kept &= ~(moved & stayed) | (np.abs(gap[1] - gap[0]) < 1)
    return kept


MADE: Mapping[str, Callable[[], ArenaTable]] = {
    "tiles": tiles,
    "totals": totals,
    "effects": effects,
}


def _made(name: str) -> ArenaTable:
    return MADE[name]()


def label_words(table: ArenaTable, label: Any) -> str:
    """What a label is called."""
    if table.regression or not table.dataset.labels:
        return f"{float(label):g}" if table.regression else str(label)
    return table.dataset.labels[int(label)]
