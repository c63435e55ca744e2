"""Constraints mean the same on the explainer, per call, per row, and split between them."""

from __future__ import annotations

import pytest

import macex as mx
from checks.loans import by_merit, chance, loans

ROWS = loans().head(4)
PARTS = {
    "fixed": ({"fixed": ["income"]}, {"fixed": ["grade"]}),
    "only": ({"only": ["income", "grade", "age"]}, {"only": ["grade", "age", "amount"]}),
    "ranges": ({"ranges": {"amount": (2, 8)}}, {"ranges": {"amount": (3, 9), "age": (20, 60)}}),
    "directions": ({"increase": ["age"]}, {"decrease": ["amount"], "increase": ["grade"]}),
    "allowed": (
        {"allowed": {"marital": ["married", "single"]}},
        {"allowed": {"marital": {"divorced": ["married"], "single": ["married", "divorced"]}}},
    ),
    "groups": ({"groups": [["grade", "marital"]]}, {"groups": [["age", "owner"]]}),
    "rules": ({"rules": ["amount <= age / 4"]}, {"rules": ["income >= 1 or owner"]}),
    "weights": ({"weights": {"income": 4.0}}, {"weights": {"income": 0.5, "age": 2.0}}),
    "max_changes": ({"max_changes": 3}, {"max_changes": 2}),
    "may_blank": ({"may_blank": ["income"]}, {}),
    "protected": ({"protected": ["marital"]}, {"protected": ["owner"]}),
    "strict": ({"strict": True}, {"ranges": {"amount": (2, 6)}}),
}


def explainer(constraints) -> mx.Explainer:
    return mx.Explainer(chance, loans(), classes=("refused", "granted"), constraints=constraints)


@pytest.mark.parametrize("part", PARTS)
def test_the_way_constraints_are_given_changes_nothing(part):
    first, second = (mx.Constraints.from_dict(given) for given in PARTS[part])
    both = first.merge(second)
    asked = by_merit("exhaustive")
    ways = [
        asked.explain(ROWS, constraints=both),
        asked.explain(ROWS, constraints=both.to_dict()),
        asked.explain(ROWS, constraints=[both] * len(ROWS)),
        asked.explain(ROWS, constraints=[both, both.to_dict()] * 2),
        explainer(both).explain(ROWS),
        explainer(first).explain(ROWS, constraints=second),
        explainer(PARTS[part][1]).explain(ROWS, constraints=[first] * len(ROWS)),
    ]
    assert all(e.status == "found" for e in ways[0])
    assert len({found.to_json(canonical=True) for found in ways}) == 1
