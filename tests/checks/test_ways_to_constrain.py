"""Constraints mean the same on the explainer, per call, per row, and split between them."""

from __future__ import annotations

import pandas as pd
import pytest

import macex as mx
from checks.loans import by_merit, chance, loans

ROWS = loans().head(4)
PARTS = {
    "fixed": ({"fixed": ["income"]}, {"fixed": ["grade"]}),
    "only": ({"only": ["income", "grade", "age"]}, {"only": ["grade", "age", "amount"]}),
    "ranges": ({"ranges": {"amount": (2, 8)}}, {"ranges": {"amount": (3, 9), "age": (20, 60)}}),
    "ranges of text": ({"ranges": {"grade": ("A", "C")}}, {"ranges": {"grade": ("B", None)}}),
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


SIZES = pd.CategoricalDtype(["S", "M", "L", "XL"], ordered=True)


def by_size() -> mx.Explainer:
    """The larger, the surer; text in an order that is not the alphabet's."""
    data = pd.DataFrame({"size": pd.Categorical(["S", "M", "L", "XL"] * 6, dtype=SIZES)})
    return mx.Explainer(lambda rows: rows["size"].cat.codes / 4, data, classes=("no", "yes"))


def sizes_set(*wishes: mx.Constraints) -> list[str]:
    """What an S becomes under the constraints together."""
    both = wishes[0].merge(wishes[1]) if len(wishes) > 1 else wishes[0]
    row = pd.DataFrame({"size": pd.Categorical(["S"], dtype=SIZES)})
    asked = by_size().explain(row, want=mx.at_least(0.2), constraints=both)[0]
    return [answer.row["size"].iloc[0] for answer in asked.counterfactuals]


def test_a_range_of_an_ordered_column_goes_by_its_order():
    assert sizes_set(mx.Constraints(ranges={"size": ("S", "M")})) == ["M"]
    assert sizes_set(mx.Constraints(ranges={"size": ("L", "L")})) == ["L"]


def test_ranges_of_an_ordered_column_merge_by_its_order():
    first, second = (mx.Constraints(ranges={"size": ends}) for ends in (("M", None), ("L", "L")))
    assert sizes_set(first, second) == sizes_set(second, first) == ["L"]
    written = mx.Constraints.from_dict(first.merge(second).to_dict())
    assert sizes_set(written) == ["L"]


@pytest.mark.parametrize("ends", [("M", "S"), ("XL", "L")])
def test_an_empty_range_of_an_ordered_column_is_refused_by_its_order(ends):
    with pytest.raises(mx.ConstraintError, match="the range of 'size' is empty"):
        sizes_set(mx.Constraints(ranges={"size": ends}))
