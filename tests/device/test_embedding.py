from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from macex import ModelError, Schema
from macex.device.embedding import Embedding, learn_embedding, tables_of


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, 60),
            "edu": rng.choice(["BSc", "MSc", "PhD"], 60),
            "income": np.where(rng.random(60) < 0.2, np.nan, rng.normal(3e4, 1e4, 60)),
            "city": rng.choice(["Rome", "Oslo"], 60),
        }
    )


def prepare(rows: pd.DataFrame) -> np.ndarray:
    """One-hot, scaling, a flag for missing numbers."""
    return np.column_stack(
        [
            (rows["age"] - 40) / 12,
            *(rows["edu"] == level for level in ("BSc", "MSc", "PhD")),
            rows["income"].fillna(2e4) / 1e4 - 3,
            rows["income"].isna(),
            rows["city"] == "Oslo",
        ]
    ).astype(float)


def learnt() -> tuple[Schema, np.ndarray, Embedding]:
    schema = Schema.infer(frame())
    codes = schema.read(frame()).codes
    return schema, codes, learn_embedding(schema, codes, prepare)


def test_an_embedding_gives_what_was_prepared():
    _, codes, embedding = learnt()
    np.testing.assert_allclose(embedding(codes), prepare(frame()), atol=1e-9)


def test_a_linear_layer_can_be_taken_in():
    _, codes, embedding = learnt()
    weight, bias = np.random.default_rng(1).normal(size=(5, 7)), np.arange(5.0)
    np.testing.assert_allclose(
        embedding.through(weight, bias)(codes), prepare(frame()) @ weight.T + bias, atol=1e-9
    )


@pytest.mark.parametrize("most", [1, 5, 1000])
def test_joined_tables_add_what_the_columns_add(most):
    _, codes, embedding = learnt()
    tables = tables_of(embedding, most)
    assert len(tables.lines) == (2 if most < 12 else 1)
    line = (codes[:, embedding.categories] @ tables.stride + tables.first).astype(int)
    found = sum(lines[line[:, group]] for group, lines in enumerate(tables.lines))
    expected = embedding.constant + sum(
        lines[codes[:, column].astype(int) + 1]
        for column, lines in zip(embedding.categories, embedding.lines, strict=True)
    )
    np.testing.assert_allclose(found, expected)


def test_what_is_no_sum_over_columns_is_refused():
    schema, codes, _ = learnt()
    with pytest.raises(ModelError, match="no sum over columns"):
        learn_embedding(schema, codes, lambda rows: rows[["age"]] ** 2)
    with pytest.raises(ModelError, match="no sum over columns"):
        learn_embedding(schema, codes, lambda rows: rows["age"] * (rows["edu"] == "PhD"))
