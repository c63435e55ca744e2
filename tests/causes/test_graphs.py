"""A graph in any of its forms is the same graph."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

import macex as mx
from macex.causes import drawn
from macex.causes.graphs import edges_read, in_order
from macex.errors import ConstraintError

EDGES = {"income": ("age", "education"), "savings": ("income",)}
PAIRS = [("age", "income"), ("education", "income"), ("income", "savings")]
DOT = """
/* what causes what */
digraph bank {
  node [shape=box]; rankdir=LR   // how it looks
  age -> income -> savings [label="pays; for"];
  "education" -> income
}
"""
GML = """graph [ directed 1
  node [ id 0 label "age" ] node [ id 1 label "income" ]
  node [ id 2 label "savings" ] node [ id 3 label "education" ]
  edge [ source 0 target 1 ] edge [ source 1 target 2 ] edge [ source 3 target 1 ]
]"""


@pytest.mark.parametrize(
    "given",
    [
        {"income": ["education", "age"], "savings": "income"},
        PAIRS,
        iter(PAIRS),
        DOT,
        GML,
        'strict digraph { "age"->income; education->income income->savings }',
        DOT.replace("->", "->\n"),
        GML.replace('label "age"', 'label "age" graphics [ x 1.5 fill "#ffffff" ]'),
    ],
    ids=["mapping", "pairs", "iterator", "dot", "gml", "short dot", "lines", "drawn gml"],
)
def test_all_forms_are_the_same_graph(given):
    assert edges_read(given) == EDGES


@pytest.mark.parametrize(("name", "text"), [("g.dot", DOT), ("g.gv", DOT), ("g.gml", GML)])
def test_a_graph_is_read_from_a_file(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert edges_read(path) == edges_read(str(path)) == EDGES


def test_a_file_that_is_no_text_is_an_error(tmp_path):
    path = tmp_path / "g.dot"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ConstraintError, match=r"g\.dot cannot be read as a causal graph"):
        edges_read(path)


def test_a_graph_of_networkx_is_read():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph(PAIRS)
    assert edges_read(graph) == edges_read("\n".join(networkx.generate_gml(graph))) == EDGES
    with pytest.raises(ConstraintError, match="has directions"):
        edges_read(networkx.Graph(PAIRS))


NAMES = ["income [k]", "a -> b", "x;y", "http://here", "größe & maß", "{z}"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_quotes_is_kept_whatever_is_in_it(name):
    assert edges_read(f'digraph {{ "{name}" -> y [label="1"]; y -> z }}')["y"] == (name,)
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph([(name, "y")])
    graph.add_edge("y", "z", graphics={"width": 2})
    text = "\n".join(networkx.generate_gml(graph))
    assert edges_read(text) == {"y": (name,), "z": ("y",)}


def test_causes_come_before_effects_and_ties_by_name():
    assert in_order({"d": ["c", "a"], "c": ["b"], "a": ["x"]}) == ["a", "c", "d"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (5, "takes a mapping"),
        ({"income": 5}, "must be a list of columns"),
        ({"a": ["a"]}, "'a' causes itself"),
        (["ab"], "a pair"),
        ([("a", "b", "c")], "a pair"),
        ("graph { a -- b }", "has directions"),
        ("digraph { a -> {b c} }", "without parts in braces"),
        ("digraph { a -> 'b' }", "cannot be read from"),
        ("digraph { a:n -> b }", "':' is not read"),
        ("digraph { a -> }", "stands '}'"),
        ("digraph { -> a }", "stands 'nothing'"),
        ("digraph { a -> node }", "stands 'node'"),
        ("digraph { a -> b } digraph { c -> d }", "'{' is not read"),
        ('"{"', "has directions"),
        ("graph [ directed 1 node [ id ] ]", "'id' of the GML graph has no value"),
        ("graph [ node [ id 0 ] ]", "has directions"),
        ("graph [ directed 1 edge [ source 0 target 1 ] ]", "names no node"),
        ("age causes income", "is no graph"),
        ("nowhere.dot", "there is no file"),
    ],
)
def test_what_is_no_graph_is_an_error(given, said):
    with pytest.raises(ConstraintError, match=said):
        edges_read(given)


def test_a_circle_is_named():
    with pytest.raises(ConstraintError, match=r"in a circle: '[ab]' causes '[ab]' causes"):
        in_order({"a": ["b"], "b": ["a"]})


GRAPH = {"income": ("age", "school"), "savings": ("income",), "<b>&": ("age",)}


def places(picture: str) -> dict[str, float]:
    found = re.findall(r"<title>([^<]*)</title><rect x=\"([^\"]+)\"", picture)
    return {name: float(x) for name, x in found}


def test_causes_stand_to_the_left_of_their_effects():
    at = places(drawn(GRAPH))
    assert at["age"] == at["school"] < at["income"] < at["savings"]
    assert drawn(GRAPH).count('class="edge"') == 4


def test_what_is_done_and_what_follows_is_marked():
    picture = drawn(GRAPH, done=["income"], follows=["savings"], called=str.upper)
    assert picture.count('class="done"') == picture.count('class="follows"') == 1
    assert 'class="done"><title>INCOME' in picture
    assert "AGE, SCHOOL cause INCOME" in picture


def test_it_is_whole_and_names_cannot_break_out_of_it():
    ET.fromstring(drawn(GRAPH))  # noqa: S314 - made here
    assert "<b>" not in drawn(GRAPH)
    assert "style" not in drawn(GRAPH)  # which the pages' policy would refuse


def test_notebooks_show_the_graph():
    causes = mx.Causes(GRAPH)
    assert causes._repr_html_() == drawn(causes.edges)
