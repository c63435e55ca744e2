"""What columns are called and how their values are written."""

from __future__ import annotations

import pytest

from macex.errors import OptionError
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
