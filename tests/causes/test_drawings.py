"""A causal graph is drawn with its causes to the left of their effects."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import macex as mx
from macex.causes import drawn

EDGES = {"income": ("age", "school"), "savings": ("income",), "<b>&": ("age",)}


def places(picture: str) -> dict[str, float]:
    found = re.findall(r"<title>([^<]*)</title><rect x=\"([^\"]+)\"", picture)
    return {name: float(x) for name, x in found}


def test_causes_stand_to_the_left_of_their_effects():
    at = places(drawn(EDGES))
    assert at["age"] == at["school"] < at["income"] < at["savings"]
    assert drawn(EDGES).count('class="edge"') == 4


def test_what_is_done_and_what_follows_is_marked():
    picture = drawn(EDGES, done=["income"], follows=["savings"], called=str.upper)
    assert picture.count('class="done"') == picture.count('class="follows"') == 1
    assert 'class="done"><title>INCOME' in picture
    assert "AGE, SCHOOL cause INCOME" in picture


def test_it_is_whole_and_names_cannot_break_out_of_it():
    ET.fromstring(drawn(EDGES))  # noqa: S314 - made here
    assert "<b>" not in drawn(EDGES)
    assert "style" not in drawn(EDGES)  # which the pages' policy would refuse


def test_notebooks_show_the_graph():
    causes = mx.Causes(EDGES)
    assert causes._repr_html_() == drawn(causes.edges)
