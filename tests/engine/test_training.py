"""Fewer training rows are kept, and with them every label and every category."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import macex as mx
from macex.engine.training import covering
from macex.schema import Schema


def world(seed: int, count: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Towns of which most are rare, and a label that one row in fifty has."""
    rng = np.random.default_rng(seed)
    towns = np.minimum(rng.geometric(0.3, count), 12)
    data = pd.DataFrame(
        {"town": [f"t{town}" for town in towns], "age": rng.integers(18, 90, count)}
    )
    return data, (rng.random(count) < 0.02).astype(int)


def kept_of(data: pd.DataFrame, label: np.ndarray, most: int, seed: int = 0) -> np.ndarray:
    schema = Schema.infer(data)
    return covering(schema, schema.read(data).codes, label, most, seed)


@given(seed=st.integers(0, 1000), count=st.integers(30, 400), most=st.integers(26, 200))
def test_every_category_and_label_is_kept_and_never_too_many_rows(seed, count, most):
    data, label = world(seed, count)
    kept = kept_of(data, label, most)
    assert len(kept) == min(most, count)
    assert (np.diff(kept) > 0).all()
    assert set(data["town"].iloc[kept]) == set(data["town"])
    rare = int(label.sum())
    assert label[kept].sum() == min(rare, max(most // 2, most - (count - rare)))


def test_what_is_kept_depends_on_the_seed_alone():
    data, label = world(1, 500)
    assert np.array_equal(kept_of(data, label, 60), kept_of(data, label, 60))
    assert not np.array_equal(kept_of(data, label, 60), kept_of(data, label, 60, seed=-7))


def test_more_categories_than_room_still_fit():
    data = pd.DataFrame({"id": [f"i{at}" for at in range(100)], "age": range(100)})
    assert len(kept_of(data, np.zeros(100, int), 10)) == 10


def model(frame: pd.DataFrame) -> np.ndarray:
    return 1 / (1 + np.exp((60.5 - frame["age"].to_numpy()) / 4))


def test_an_explainer_of_a_sample_knows_the_ranges_of_all_rows(tmp_path):
    data, _ = world(2, 3000)
    explainer = mx.Explainer(model, data, classes=("no", "yes"), sample=200)
    assert "200 training rows" in repr(explainer)
    assert explainer.schema.columns[1].high == data["age"].max()
    found = explainer.explain(data.head(20))
    assert found.metrics()["validity"] == 1
    explainer.save(tmp_path / "small.macex")
    again = mx.load(tmp_path / "small.macex", model)
    assert again.explain(data.head(20)).to_json(canonical=True) == found.to_json(canonical=True)


def test_a_sample_as_large_as_the_data_changes_nothing():
    data, _ = world(3, 300)
    whole = mx.Explainer(model, data, classes=("no", "yes"))
    same = mx.Explainer(model, data, classes=("no", "yes"), sample=300)
    asked = data.head(20)
    assert same.explain(asked).to_json(canonical=True) == whole.explain(asked).to_json(
        canonical=True
    )


@pytest.mark.parametrize("wrong", [0, -5, 2.5, True, "all"])
def test_a_sample_is_a_number_of_rows(wrong):
    data, _ = world(4, 50)
    with pytest.raises(mx.OptionError, match="sample must be a whole number of 1 or more"):
        mx.Explainer(model, data, classes=("no", "yes"), sample=wrong)
