"""The structure of an explainer: a list that can be looked at, saved, and says no training row."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.errors import ConstraintError
from macex.structure import Determination, Order, Structure


@pytest.fixture(scope="module")
def rows() -> pd.DataFrame:
    draw = np.random.default_rng(0)
    place = draw.integers(0, 40, 1000)
    net = draw.normal(100, 20, 1000).round(1)
    rows = pd.DataFrame({"zip": place.astype(str), "city": (place // 10).astype(str), "net": net})
    rows["gross"] = (net + draw.exponential(9, 1000)).round(1)
    rows.loc[0, ["zip", "city"]] = ["lonely", "3"]
    return rows


@pytest.fixture(scope="module")
def explainer(rows: pd.DataFrame) -> mx.Explainer:
    return mx.Explainer(model, rows, classes=("no", "yes"))


def model(rows: pd.DataFrame) -> pd.Series:
    return (rows["gross"] > 120).astype(float)


def test_an_explainer_lists_what_holds(explainer):
    assert [relation.text for relation in explainer.structure] == [
        "zip determines city",
        "net <= gross",
    ]


def test_it_prints_in_a_terminal_and_in_a_notebook(explainer):
    assert "zip determines city  1,000 rows  no exceptions" in repr(explainer.structure)
    assert "<td>net &lt;= gross</td>" in explainer.structure._repr_html_()
    assert repr(Structure()) == "no relations in the training rows"


def test_json_keeps_it(explainer):
    stored = json.loads(json.dumps(explainer.structure.to_list()))
    assert Structure.from_list(stored) == explainer.structure


def test_a_saved_explainer_carries_it(explainer, tmp_path):
    explainer.save(tmp_path / "e.macex")
    assert mx.load(tmp_path / "e.macex", model).structure == explainer.structure


def test_a_private_one_holds_no_row(explainer, tmp_path):
    explainer.save(tmp_path / "e.macex", private=True)
    kept = mx.load(tmp_path / "e.macex", model).structure
    assert [relation.text for relation in kept] == [r.text for r in explainer.structure]
    assert {relation.example for relation in kept} == {None}
    (places,) = (relation for relation in kept if isinstance(relation, Determination))
    assert ("7", "0") in places.pairs
    assert "lonely" not in dict(places.pairs)


def test_relations_of_some_columns(explainer):
    assert [relation.kind for relation in explainer.structure.about("net")] == ["order"]


def test_all_training_rows_are_looked_at_however_few_are_kept(rows):
    small = mx.Explainer(model, rows, classes=("no", "yes"), sample=30)
    assert next(r for r in small.structure if isinstance(r, Order)).support == 1000


def test_what_is_no_list_of_relations_is_refused():
    with pytest.raises(ConstraintError, match="a list of relations"):
        Structure.from_list("keep")
