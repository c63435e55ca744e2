"""The state of a page is its address: what is read from one is written to the same one."""

from __future__ import annotations

from urllib.parse import parse_qsl

from hypothesis import given
from hypothesis import strategies as st

from macex.server.pages.address import Address

NAMES = st.sampled_from(["q", "sort", "n", "may.age", "allow.job", "a.age", "b.a=b&c", "rules"])
PAIRS = st.lists(st.tuples(NAMES, st.text(max_size=8).filter(lambda text: text.isprintable())))


@given(PAIRS)
def test_an_address_reads_itself_back(pairs):
    address = Address(pairs)
    again = Address(parse_qsl(str(address), keep_blank_values=True))
    assert again.pairs == address.pairs


def test_a_blank_says_nothing_but_in_a_cell():
    address = Address([("q", ""), ("a.age", ""), ("n", "2")])
    assert address.pairs == (("a.age", ""), ("n", "2"))
    assert address.cells("a") == {"age": ""}


def test_a_variant_is_replaced_as_a_whole():
    address = Address([("a.age", "3"), ("a.job", "cook"), ("b.age", "4"), ("n", "2")])
    varied = address.varied("a", {"age": "9"})
    assert varied.cells("a") == {"age": "9"}
    assert varied.cells("b") == {"age": "4"}
    assert varied.one("n") == "2"


def test_parameters_are_kept_or_left_out_by_name_and_by_prefix():
    address = Address([("may.age", "keep"), ("mayor", "x"), ("max", "2")])
    assert str(address.only("may.", "max")) == "may.age=keep&max=2"
    assert str(address.without("may.")) == "mayor=x&max=2"


def test_none_takes_a_parameter_out():
    assert str(Address([("page", "3"), ("q", "x")]).having({"page": None, "q": "y"})) == "q=y"
