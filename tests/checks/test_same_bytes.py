"""The same seed, row and question give the same bytes; columns have names, not places."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import macex as mx
from checks.loans import by_merit, chance, grants, loans, model


@pytest.mark.parametrize("name", ["logistic", "network"])
def test_asking_twice_gives_the_same_bytes(method, name):
    first = mx.Explainer(model(name), loans(), method=method, random_state=4)
    second = mx.Explainer(model(name), loans(), method=method, random_state=4)
    rows = loans().head(6)
    said = first.explain(rows, n=2).to_json(canonical=True)
    assert first.explain(rows, n=2).to_json(canonical=True) == said
    assert second.explain(rows, n=2).to_json(canonical=True) == said


def test_canonical_bytes_hold_no_cost_and_no_names(method):
    plain = by_merit(method).explain(loans().head(2)).to_json(canonical=True)
    renamed = loans().head(2).set_axis(["x", "y"])
    assert by_merit(method).explain(renamed).to_json(canonical=True) == plain
    assert "seconds" not in plain


def essence(explanation: mx.Explanation) -> dict:
    """What may not depend on where columns stand."""
    document = json.loads(explanation.to_json(canonical=True))
    for found in (*document["counterfactuals"], document["miss"] or {"changes": []}):
        found["changes"] = sorted(found["changes"], key=lambda change: change["column"])
    return document


@settings(max_examples=3)
@given(order=st.permutations(list(loans().columns)))
def test_the_order_of_columns_changes_nothing(method, order):
    rows = loans()[grants(loans()) == "refused"].head(5)
    expected = by_merit(method).explain(rows, n=2)
    other = mx.Explainer(chance, loans()[order], method=method, classes=("refused", "granted"))
    for one, two in zip(expected, other.explain(rows[order], n=2), strict=True):
        assert essence(one) == essence(two)
        for row in two.counterfactuals:
            assert list(row.row.columns) == list(order)


def test_rows_may_have_their_columns_in_another_order_than_training(method):
    rows = loans().head(4)
    turned = rows[list(reversed(rows.columns))]
    straight = by_merit(method).explain(rows)
    for one, two in zip(straight, by_merit(method).explain(turned), strict=True):
        assert essence(one) == essence(two)
        assert list(two.counterfactuals[0].row.columns) == list(turned.columns)


@pytest.mark.parametrize("search", ["reinforce", "gradientless"])
def test_another_seed_may_answer_otherwise_and_is_as_valid(search):
    rows = loans()[grants(loans()) == "refused"].head(10)
    said = set()
    for seed in range(3):
        asked = mx.Explainer(
            chance,
            loans(),
            method=search,
            classes=("refused", "granted"),
            random_state=seed,
            finetune=None,
        )
        found = asked.explain(rows, n=2)
        assert all(grants(c.row)[0] == "granted" for e in found for c in e.counterfactuals)
        said.add(found.to_json(canonical=True))
    assert len(said) > 1
