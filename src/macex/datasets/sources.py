"""Where the raw files come from: embedded in the package, or in a folder of the caller's.

Every file is known by its sha256, so that a figure always speaks of the same rows.
"""

from __future__ import annotations

import gzip
import hashlib
import os
from dataclasses import dataclass
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import pandas as pd

from macex.errors import DataError

FOLDER_VARIABLE = "MACEX_DATA"


@dataclass(frozen=True, slots=True)
class Source:
    """One raw file: its name, its checksum, whom to thank, and whether macex carries it."""

    file: str
    sha256: str
    citation: str
    embedded: bool = False


ADULT = Source(
    "adult_8.csv",
    "ede2d823e69d834c3fb3992516680e19e7fda0ec3bcdcc17d3e5ffff62a56066",
    "UCI Adult (Becker and Kohavi, 1996), CC BY 4.0, doi:10.24432/C5XW20",
    embedded=True,
)
BREAST = Source(
    "breast_cancer_wisconsin.csv",
    "33e97b2128de3a165347b569c984acf88a11b0e3f3086d00062495e4a16532eb",
    "UCI Breast Cancer Wisconsin, Original (Wolberg, 1990), CC BY 4.0, doi:10.24432/C5HP4Z",
    embedded=True,
)
COMPAS = Source(
    "compas.csv",
    "9a72d8310a081b85bf88030c7eaf27bf3dfaa5f549171965bfeed0007b50756f",
    "ProPublica, compas-scores-two-years (2016)",
)
CREDIT = Source(
    "australian_credit.csv",
    "3cf9352264431617bdfb4d1f59636d213f85a273ddc75c831938b5124ff354e6",
    "UCI Statlog, Australian Credit Approval (Quinlan), CC BY 4.0",
)
TITANIC = Source(
    "titanic.csv",
    "54a0390845d4bf509414b1e46a64c5fb42b62e85b0c82f05028f459278bc3a24",
    "Kaggle Titanic, train.csv",
)


def read(source: Source, folder: str | Path | None = None) -> pd.DataFrame:
    """The raw table of a source, once its checksum is right; embedded files need no folder."""
    content = _embedded(source) if source.embedded else _from_folder(source, folder)
    found = hashlib.sha256(content).hexdigest()
    if found != source.sha256:
        message = (
            f"{source.file!r} is not the file this dataset is defined by: its sha256 begins with "
            f"{found[:12]}, expected {source.sha256[:12]}; use an unchanged copy"
        )
        raise DataError(message)
    return pd.read_csv(BytesIO(content))


def _embedded(source: Source) -> bytes:
    packed = files("macex.datasets").joinpath("files", f"{source.file}.gz").read_bytes()
    return gzip.decompress(packed)


def _from_folder(source: Source, folder: str | Path | None) -> bytes:
    place = folder or os.environ.get(FOLDER_VARIABLE)
    remedy = f"set {FOLDER_VARIABLE} to a folder that holds {source.file!r}, or pass folder="
    if not place:
        message = f"{source.file!r} does not come with macex and no folder was given; {remedy}"
        raise DataError(message)
    path = Path(place) / source.file
    if not path.is_file():
        message = f"{source.file!r} is missing from the folder '{place}'; {remedy}"
        raise DataError(message)
    return path.read_bytes()
