"""What it costs to look for structure is bounded in columns, whatever they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from macex.schema import Schema
from macex.structure import Structure, determined, find_structure, pairs, triples

LOOKS = {
    "_tolerance": (triples, 2400),
    "_line": (pairs, 5000),
    "_order": (pairs, 1000),
    "_exceptions": (determined, 2000),
}


@pytest.fixture
def looks(monkeypatch) -> Counter:
    """How often each kind of relation was looked at closely."""
    counts: Counter = Counter()
    for name, (room, _) in LOOKS.items():
        monkeypatch.setattr(room, name, counted(counts, name, getattr(room, name)))
    return counts


def counted(counts: Counter, name: str, inner: Callable[..., Any]) -> Callable[..., Any]:
    def look(*args: Any, **options: Any) -> Any:
        counts[name] += 1
        return inner(*args, **options)

    return look


def table(columns: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(columns, columns=[f"c{at}" for at in range(columns.shape[1])])


def found(rows: pd.DataFrame) -> Structure:
    known = Schema.infer(rows)
    return find_structure(known, known.read(rows).codes)


def bounded(looks: Counter) -> bool:
    return all(looks[name] <= most for name, (_, most) in LOOKS.items())


LATENT = np.random.default_rng(1).integers(2, 90, 500).astype(float)


@pytest.fixture
def draw() -> np.random.Generator:
    return np.random.default_rng(0)


def test_a_thousand_rare_flags_are_tried_in_no_formula(looks, draw):
    rows = table((draw.random((1000, 1000)) < 0.01).astype(int))
    assert {relation.kind for relation in found(rows)} == {"flag"}
    assert looks["_tolerance"] == looks["_order"] == looks["_line"] == 0


def test_a_thousand_counts_are_mostly_refuted_by_a_few_rows(looks, draw):
    rows = table(draw.poisson(np.geomspace(0.01, 3, 1000), (1000, 1000)))
    assert {relation.kind for relation in found(rows)} == {"flag"}
    assert looks["_tolerance"] < 50
    assert bounded(looks)


def test_a_hundred_columns_that_determine_each_other(looks):
    powers = table(LATENT[:, None] ** (np.arange(100) / 20 + 0.05))
    assert found(powers)
    assert bounded(looks)


def test_a_thousand_columns_where_everything_determines_everything(looks):
    factors = table(LATENT[:, None] * np.arange(1, 1001) + np.arange(1000))
    assert sum(relation.kind == "linear" for relation in found(factors)) == 999
    assert bounded(looks)


def test_numbers_that_are_nearly_alike(looks, draw):
    noisy = LATENT[:, None] + draw.normal(0, 0.01, (500, 300))
    near_one = draw.normal(1, 0.05, (500, 300))
    assert not found(table(np.hstack([noisy, near_one])))
    assert bounded(looks)


def test_a_formula_is_found_among_a_thousand_columns(draw):
    columns = draw.poisson(0.05, (1000, 1000)).astype(float)
    columns[:, 3] = draw.integers(1, 60, 1000)
    columns[:, 500] = draw.integers(5, 90, 1000)
    columns[:, 900] = columns[:, 3] * columns[:, 500]
    assert "c900 = c3 * c500" in {relation.text for relation in found(table(columns))}


def test_a_formula_between_columns_that_are_mostly_nothing(draw):
    columns = np.where(draw.random((2000, 2)) < 0.2, draw.integers(1, 50, (2000, 2)), 0)
    rows = pd.DataFrame({"fees": columns[:, 0], "fines": columns[:, 1]})
    rows["charges"] = rows["fees"] + rows["fines"]
    assert "charges = fees + fines" in {relation.text for relation in found(rows)}
