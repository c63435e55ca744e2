"""What is filled in under "what may change" becomes the library's own constraints."""

from __future__ import annotations

from datetime import datetime

import pytest

from macex import Constraints
from macex.errors import ConstraintError
from macex.server.pages.address import Address
from macex.server.pages.constraints import column_limits, constraints


def test_every_field_becomes_a_constraint(explainer):
    address = Address(
        [
            ("may.hours", "up"),
            ("may.rate", "down"),
            ("may.city", "keep"),
            ("low.hours", "30"),
            ("high.rate", "0.5"),
            ("low.since", "2020-02-01"),
            ("allow.job", "nurse"),
            ("max", "2"),
            ("rules", "hours <= 90\n\nrate < 0.9"),
        ]
    )
    assert constraints(address, explainer.schema) == Constraints(
        fixed=["city"],
        increase=["hours"],
        decrease=["rate"],
        ranges={"hours": (30, None), "rate": (None, 0.5), "since": (datetime(2020, 2, 1), None)},  # noqa: DTZ001
        allowed={"job": ["nurse"]},
        max_changes=2,
        rules=["hours <= 90", "rate < 0.9"],
    )


def test_nothing_filled_in_constrains_nothing(explainer):
    assert not constraints(Address([("low.hours", ""), ("n", "2")]), explainer.schema)


def test_values_of_a_long_list_come_line_by_line(explainer):
    found = constraints(Address([("allow.city", "city 001\ncity 002\n")]), explainer.schema)
    assert found.allowed == {"city": ("city 001", "city 002")}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("low.hours", "ten", "'hours' takes whole numbers, not 'ten'"),
        ("allow.job", "pilot", "'job' has no value 'pilot'"),
        ("max", "0", "no whole number of 1 or more"),
        ("max", "two", "no whole number of 1 or more"),
    ],
)
def test_what_cannot_be_read_is_named(explainer, name, text, said):
    with pytest.raises(ConstraintError, match=said):
        constraints(Address([(name, text)]), explainer.schema)


def test_a_column_that_is_not_there_is_passed_over(explainer):
    assert not constraints(Address([("may.nothing", "keep")]), explainer.schema)


def test_what_the_project_says_is_shown_beside_it(explainer):
    always = Constraints(
        fixed=["city"], increase=["hours"], ranges={"hours": (None, 90), "rate": (0.1, 0.9)}
    )
    said = {
        name: one.always for name, one in column_limits(Address(), explainer.schema, always).items()
    }
    assert said == {
        "hours": "only up, to 90",
        "rate": "0.1 to 0.9",
        "job": "",
        "city": "stays",
        "since": "",
    }
