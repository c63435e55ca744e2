"""A graph in any of its forms is the same graph."""

from __future__ import annotations

import pytest

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
        'strict digraph { "age"->income; education->income income->savings }'.replace(
            "income income", "income; income"
        ),
    ],
    ids=["mapping", "pairs", "iterator", "dot", "gml", "short dot"],
)
def test_all_forms_are_the_same_graph(given):
    assert edges_read(given) == EDGES


@pytest.mark.parametrize(("name", "text"), [("g.dot", DOT), ("g.gv", DOT), ("g.gml", GML)])
def test_a_graph_is_read_from_a_file(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert edges_read(path) == edges_read(str(path)) == EDGES


def test_a_graph_of_networkx_is_read():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph(PAIRS)
    assert edges_read(graph) == edges_read("\n".join(networkx.generate_gml(graph))) == EDGES
    with pytest.raises(ConstraintError, match="has directions"):
        edges_read(networkx.Graph(PAIRS))


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
        ("digraph { a -> 'b' }", "is no edge of DOT"),
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
