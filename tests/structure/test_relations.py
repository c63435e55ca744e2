"""Relations are values that can be written down and read again."""

from __future__ import annotations

import json
import tomllib

import pytest
import tomli_w

from macex.errors import ConstraintError
from macex.structure import (
    Arithmetic,
    Determination,
    Flag,
    Implication,
    Linear,
    MissingTogether,
    OneOf,
    Order,
    relation_from,
)

EACH = [
    Implication(columns=("a", "b"), when="x", then=("y",), support=40, example=("x", "y")),
    Implication(columns=("a", "b c"), when=None, never=(1, 2.5, True)),
    Implication(columns=("a", "b"), when="it's", then=(None,)),
    Determination(columns=("a", "b"), pairs=(("x", 1), ("y", 2)), mutual=True),
    Arithmetic(columns=("a", "b", "c"), operation="ratio", tolerance=0.05, exceptions=2),
    Linear(columns=("a", "b"), factor=2.0, offset=-1.0),
    Order(columns=("a", "b")),
    MissingTogether(columns=("a", "b", "c")),
    OneOf(columns=("a", "b", "c")),
    Flag(columns=("a",)),
]


@pytest.mark.parametrize("relation", EACH, ids=lambda relation: relation.text)
def test_json_keeps_a_relation(relation):
    assert relation_from(json.loads(json.dumps(relation.to_dict()))) == relation


@pytest.mark.parametrize("relation", EACH, ids=lambda relation: relation.text)
def test_toml_keeps_a_relation(relation):
    stored = tomllib.loads(tomli_w.dumps({"structure": [relation.to_dict()]}))
    assert relation_from(stored["structure"][0]) == relation


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        ({"kind": "ordr", "columns": ["a", "b"]}, "did you mean 'order'"),
        ({"kind": "order"}, "needs its columns"),
        ({"kind": "order", "columns": ["a"]}, "needs 2 different columns"),
        ({"kind": "order", "columns": ["a", "a"]}, "needs 2 different columns"),
        ({"kind": "order", "columns": "ab"}, "in a list"),
        ({"kind": "order", "columns": ["a", "b"], "tolerance": 1}, "has no part 'tolerance'"),
        ({"kind": "arithmetic", "columns": ["a", "b", "c"], "operation": "sun"}, "'sum'"),
        ("a <= b", "a table with its kind"),
        ({"kind": "order", "columns": ["a", "b", "c"]}, "has 2 columns"),
        ({"kind": "order", "columns": ["a", "b"], "support": "many"}, "numbers of rows"),
        ({"kind": "order", "columns": ["a", "b"], "exceptions": -1}, "numbers of rows"),
        ({"kind": "order", "columns": ["a", "b"], "example": 3}, "a list of values"),
        ({"kind": "implication", "columns": ["a", "b"]}, "for then, or for never"),
        ({"kind": "implication", "columns": ["a", "b"], "then": 5}, "lists of values"),
        ({"kind": "implication", "columns": ["a", "b"], "then": [[1]]}, "values of columns"),
        ({"kind": "determines", "columns": ["a", "b"], "pairs": [1]}, "pairs of values"),
        ({"kind": "determines", "columns": ["a", "b"], "pairs": [[1]]}, "pairs of values"),
        ({"kind": "determines", "columns": ["a", "b"], "mutual": "yes"}, "true or false"),
        ({"kind": "arithmetic", "columns": ["a", "b", "c"], "operation": {}}, "no operation"),
        ({"kind": "arithmetic", "columns": ["a", "b", "c"], "tolerance": "5 %"}, "from 0 on"),
        ({"kind": "linear", "columns": ["a", "b"], "factor": "2"}, "numbers"),
        ({"kind": "linear", "columns": ["a", "b"], "offset": float("nan")}, "numbers"),
        ({"kind": "linear", "columns": ["a", "b"], "factor": 10**400}, "numbers"),
    ],
)
def test_what_is_no_relation_is_said(stored, said):
    with pytest.raises(ConstraintError, match=said):
        relation_from(stored)
