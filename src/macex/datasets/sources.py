"""Where the raw tables come from: the package itself, a folder of the caller's, or OpenML.

Every file is known by its sha256, so that a figure always speaks of the same rows. OpenML has its
own versions of three tables; a dataset made of one says so in its `source`.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from macex.datasets import openml
from macex.datasets.openml import OpenML
from macex.errors import DataError

FOLDER_VARIABLE = "MACEX_DATA"


@dataclass(frozen=True, slots=True)
class DatasetSource:
    """One raw file: its name, checksum, citation, and other sources."""

    file: str
    sha256: str
    citation: str
    embedded: bool = False
    openml: OpenML | None = None


class Raw(NamedTuple):
    """A raw table and its citation."""

    table: pd.DataFrame
    citation: str


ADULT = DatasetSource(
    "adult_8.csv",
    "ede2d823e69d834c3fb3992516680e19e7fda0ec3bcdcc17d3e5ffff62a56066",
    "UCI Adult (Becker and Kohavi, 1996), CC BY 4.0, doi:10.24432/C5XW20",
    embedded=True,
)
BREAST = DatasetSource(
    "breast_cancer_wisconsin.csv",
    "33e97b2128de3a165347b569c984acf88a11b0e3f3086d00062495e4a16532eb",
    "UCI Breast Cancer Wisconsin, Original (Wolberg, 1990), CC BY 4.0, doi:10.24432/C5HP4Z",
    embedded=True,
)
COMPAS = DatasetSource(
    "compas.csv",
    "9a72d8310a081b85bf88030c7eaf27bf3dfaa5f549171965bfeed0007b50756f",
    "ProPublica, compas-scores-two-years (2016)",
    openml=OpenML(42193, openml.compas, "5278 people of two races instead of 6172"),
)
CREDIT = DatasetSource(
    "australian_credit.csv",
    "3cf9352264431617bdfb4d1f59636d213f85a273ddc75c831938b5124ff354e6",
    "UCI Statlog, Australian Credit Approval (Quinlan), CC BY 4.0",
    openml=OpenML(40981, openml.credit, "690 applicants, values as OpenML stores them"),
)
GERMAN = DatasetSource(
    "german_credit.csv",
    "c36bd52431d2bde628a017dd05cafd4236799a1d18b4cdad76d1add442cc1ad4",
    "UCI Statlog, German Credit Data (Hofmann, 1994), CC BY 4.0, doi:10.24432/C5NC77",
    embedded=True,
)
TITANIC = DatasetSource(
    "titanic.csv",
    "54a0390845d4bf509414b1e46a64c5fb42b62e85b0c82f05028f459278bc3a24",
    "Kaggle Titanic, train.csv",
    openml=OpenML(
        40945,
        openml.titanic,
        "1309 passengers instead of 891",
        "c56e3785c96cd8aceac85f11bff21c2bf72841426f50903a6f27be8f334a7d03",
    ),
)


def read(source: DatasetSource, folder: str | Path | None = None, *, download: bool = True) -> Raw:
    """The raw table of a source: embedded, or from the folder, or else from OpenML.

    A folder that is passed must hold the file; the one of the environment may lack it.
    """
    if source.embedded:
        packed = files("macex.datasets").joinpath("files", f"{source.file}.gz").read_bytes()
        return _table(source, gzip.decompress(packed))
    place = folder or os.environ.get(FOLDER_VARIABLE)
    path = Path(place) / source.file if place else None
    if path is not None and path.is_file():
        return _table(source, path.read_bytes())
    remedy = f"set {FOLDER_VARIABLE} to a folder that holds {source.file!r}, or pass folder="
    if path is None:
        lacking = f"{source.file!r} does not come with macex and no folder was given"
    else:
        lacking = f"{source.file!r} is missing from the folder '{place}'"
    if folder or not download or source.openml is None:
        raise DataError(f"{lacking}; {remedy}")
    try:
        table = openml.table(source.openml, progress=True)
    except DataError as error:
        raise DataError(
            f"{lacking}, and from OpenML it could not be had: {error}; {remedy}"
        ) from error
    number, note = source.openml.data_id, source.openml.note
    return Raw(table, f"{source.citation}; OpenML dataset {number}: {note}")


def _table(source: DatasetSource, content: bytes) -> Raw:
    check_sha256(source.file, content, source.sha256)
    return Raw(pd.read_csv(BytesIO(content)), source.citation)


def check_sha256(file: str, content: bytes, expected: str) -> None:
    """Refuse content that differs from the file by which the dataset was defined."""
    found = hashlib.sha256(content).hexdigest()
    if found != expected:
        raise DataError(
            f"{file!r} is not the file this dataset is defined by: its sha256 begins with "
            f"{found[:12]}, expected {expected[:12]}; use an unchanged copy"
        )
