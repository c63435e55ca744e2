"""Datasets from OpenML: the description of a dataset, its file, and a pinned checksum.

OpenML says where the file lies and what its md5 is. The sha256 is known here for files that could
be checked; any other is written down beside the file when it first arrives, and a file that later
has another one is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from macex.datasets.arff import read_arff
from macex.datasets.download import cache_folder, digest, fetch
from macex.errors import DataError

ADDRESS = "https://www.openml.org"
ADDRESS_VARIABLE = "MACEX_OPENML"  # another address, or "off"


@dataclass(frozen=True, slots=True)
class OpenML:
    """A dataset of OpenML, and how its columns become those of the file it stands for."""

    data_id: int
    convert: Callable[[pd.DataFrame], pd.DataFrame]
    note: str  # in what it differs
    sha256: str | None = None


def table(source: OpenML, *, progress: bool = False) -> pd.DataFrame:
    """The dataset as a raw table; it is fetched once and then read from the cache."""
    path = cache_folder() / f"openml-{source.data_id}.arff"
    if not path.is_file():
        _fetch(source, path, progress=progress)
    _check_pin(path)
    raw = read_arff(path.read_text(encoding="utf-8"))
    try:
        return source.convert(raw)
    except KeyError as error:
        raise DataError(f"OpenML's dataset {source.data_id} has no column {error}") from error


def address() -> str | None:
    """The address of OpenML; None if it must not be asked."""
    given = os.environ.get(ADDRESS_VARIABLE, ADDRESS)
    return None if given.lower() in ("", "off") else given.rstrip("/")


def _fetch(source: OpenML, path: Path, *, progress: bool) -> None:
    host = address()
    if host is None:
        raise DataError(f"downloads are turned off ({ADDRESS_VARIABLE})")
    described = _description(source.data_id, host, path)
    url, md5 = described.get("url"), described.get("md5_checksum")
    if not isinstance(url, str):
        raise DataError(f"OpenML's description of dataset {source.data_id} names no file")
    if url.startswith(ADDRESS):
        url = host + url.removeprefix(ADDRESS)
    fetch(url, path, md5=md5, sha256=source.sha256, progress=progress)
    _pin(path).write_text(digest(path) + "\n", encoding="ascii")


def _description(data_id: int, host: str, path: Path) -> dict[str, Any]:
    where = path.with_suffix(".json")
    fetch(f"{host}/api/v1/json/data/{data_id}", where)
    try:
        described = json.loads(where.read_text(encoding="utf-8"))["data_set_description"]
        return dict(described)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{host} described dataset {data_id} in an unknown form") from error
    finally:
        where.unlink()


def _pin(path: Path) -> Path:
    return path.with_suffix(".sha256")


def _check_pin(path: Path) -> None:
    """Refuse a cached file that has changed since it arrived."""
    pin = _pin(path)
    if not pin.is_file():
        pin.write_text(digest(path) + "\n", encoding="ascii")
    elif pin.read_text(encoding="ascii").strip() != digest(path):
        raise DataError(f"{path} has changed since it was fetched; delete it to fetch it again")


def compas(raw: pd.DataFrame) -> pd.DataFrame:
    """Dataset 42193: two races, categories as 0 and 1."""
    yes = raw.apply(pd.to_numeric) == 1
    return pd.DataFrame(
        {
            "age": pd.to_numeric(raw["age"]).astype("int64"),
            "c_charge_degree": yes["c_charge_degree_F"].map({True: "F", False: "M"}),
            "sex": yes["sex"].map({True: "Male", False: "Female"}),
            "race": yes["race_African-American"].map(
                {True: "African-American", False: "Caucasian"}
            ),
            "priors_count": pd.to_numeric(raw["priors_count"]).astype("int64"),
            "two_year_recid": yes["twoyearrecid"].astype("int64"),
            "in_propublica_sample": 1,
        }
    )


def credit(raw: pd.DataFrame) -> pd.DataFrame:
    """Dataset 40981: the same columns, the class is called A15."""
    numbers = raw.apply(pd.to_numeric).rename(columns={"A15": "class"})
    whole = [name for name in numbers if (numbers[name] == numbers[name].round()).all()]
    columns = [f"A{place}" for place in range(1, 15)]
    return numbers.astype(dict.fromkeys(whole, "int64"))[[*columns, "class"]]


def titanic(raw: pd.DataFrame) -> pd.DataFrame:
    """Dataset 40945: 1309 passengers; one fare is missing and takes the median."""
    columns = ["survived", "pclass", "sex", "age", "sibsp", "parch", "fare", "embarked"]
    whole = dict.fromkeys(["survived", "pclass", "sibsp", "parch"], "int64")
    found = raw[columns].astype({"survived": "float64"}).astype(whole)
    return found.assign(fare=found["fare"].fillna(found["fare"].median()))
