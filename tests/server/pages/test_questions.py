"""What is asked on the page is what the library is asked."""

from __future__ import annotations

import re

import httpx
import pytest

from macex import at_least, at_most, between
from macex.errors import MacexError
from macex.server.pages.address import Address
from macex.server.pages.questions import question, wanted


def test_a_goal_is_a_class_a_score_or_anything_else():
    classes = (0, 1)
    assert wanted(Address(), classes) is None
    assert wanted(Address([("want", "1")]), classes) == 1
    assert wanted(Address([("least", "0.7"), ("want", "1")]), classes) == at_least(0.7, label=1)
    assert wanted(Address([("most", "0")]), None) == at_most(0)
    assert wanted(Address([("least", "0.2"), ("most", "0.4")]), None) == between(0.2, 0.4)


def test_what_is_not_said_is_usual():
    asked = question(Address(), ("no", "yes"))
    assert (asked.want, asked.n, asked.method, asked.prefer) == (None, 3, "exhaustive", "balanced")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("want", "perhaps"),
        ("least", "much"),
        ("n", "0"),
        ("n", "11"),
        ("n", "-1"),
        ("n", "²"),
        ("method", "luck"),
        ("prefer", "mine"),
    ],
)
def test_what_cannot_be_asked_is_refused(name, text):
    with pytest.raises(MacexError):
        question(Address([(name, text)]), ("no", "yes"))


def test_the_preference_that_is_shown_is_the_one_that_is_asked(served):
    page = httpx.get(f"{served.url}/projects/loans/rows/0", timeout=60).text
    chosen = re.search(r'<select name="prefer".*?<option value="(\w+)" selected', page, re.DOTALL)
    assert chosen is not None
    assert chosen[1] == question(Address([]), None).prefer
