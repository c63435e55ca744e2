"""What columns are called and how their values are written."""

from __future__ import annotations

import pytest

from explanation.made import counterfactual, explanation
from macex.errors import OptionError
from macex.explanation import Action
from macex.render.names import Name, called, read_names
from macex.render.speech import Speech


def test_a_unit_follows_the_value_and_a_format_replaces_both():
    names = {"hours": Name("hours", unit="h"), "pay": Name("pay", unit="€", format="{:,.0f} €")}
    assert Speech(names).value("hours", 45.0) == "45 h"
    assert Speech(names).value("pay", 12345.6) == "12,346 €"


def test_a_value_that_does_not_fit_its_format_is_written_plainly():
    speech = Speech({"pay": Name("pay", format="{:,.0f} €")})
    assert speech.value("pay", "a lot") == "a lot"
    assert speech.value("pay", None) == "missing"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["age"], "names maps columns"),
        ({"age": {"txt": "years"}}, "did you mean 'text'"),
        ({"age": {"text": 3}}, "must be text"),
        ({"age": {"format": "euro"}}, "no place for the value"),
    ],
)
def test_names_that_mean_nothing_are_refused(given, message):
    with pytest.raises(OptionError, match=message):
        read_names(given)


def test_parts_of_a_name_may_be_left_out():
    names = read_names({"hours_per_week": {"unit": "h"}, "edu": "education"})
    assert called("hours_per_week", names) == "hours per week"
    assert called("edu", names) == "education"


def test_a_group_is_called_by_the_names_of_its_columns():
    assert Speech({"a_b": "first"}).name("a_b+c_d") == "first and c d"
    assert Speech().plain((1, "x", None)) == "1, x, missing"


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
