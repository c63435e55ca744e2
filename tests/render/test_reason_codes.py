"""Reason codes: the caller's own, strongest first, each once."""

from __future__ import annotations

import pytest

from explanation.made import counterfactual, explanation
from macex.errors import OptionError
from macex.explanation import Action

REASONS = tuple(
    Action(column, 1, weight, flips=False)
    for column, weight in [("edu", 0.4), ("age", 0.3), ("hours_per_week+rate", 0.2), ("since", 0.1)]
)
TABLE = {
    "age": ("R1", "Age"),
    "edu": {"code": "R2", "text": "Education"},
    "hours_per_week": "R3",
    "rate": ("R1", "Age"),
}


def codes(table=TABLE, most=4):
    found = explanation(counterfactual(age=38), actions=(), reasons=REASONS)
    return [code.code for code in found.reason_codes(table, most)]


def test_the_strongest_come_first_and_each_code_once():
    assert codes() == ["R2", "R1", "R3"]
    assert codes(most=1) == ["R2"]


def test_reasons_need_not_be_actions():
    found = explanation(counterfactual(age=38), actions=(), reasons=REASONS)
    first = found.reason_codes(TABLE)[0]
    assert (first.column, first.text, first.weight) == ("edu", "Education", 0.4)
    assert str(first) == "R2 Education"


def test_a_column_without_a_code_is_left_out():
    assert codes({"since": "R9"}) == ["R9"]


@pytest.mark.parametrize(
    ("table", "most", "message"),
    [
        ({"agee": "R1"}, 4, "did you mean 'age'"),
        ({"age": 1.5}, 4, "needs a code"),
        ([("age", "R1")], 4, "maps columns to codes"),
        (TABLE, 0, "most must be"),
    ],
)
def test_a_wrong_table_is_refused(table, most, message):
    with pytest.raises(OptionError, match=message):
        codes(table, most)
