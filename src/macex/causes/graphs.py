"""Causal graphs as people have them: mappings, pairs, networkx graphs, DOT or GML, DoWhy models.

Whatever the form, the result maps every column that has causes to its causes, both sorted by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from os import PathLike
from typing import Any

from macex.causes.texts import text_edges
from macex.errors import ConstraintError

Edges = dict[str, tuple[str, ...]]


def edges_read(given: Any) -> Edges:
    """The graph in one form, from any of those that it may have.

    >>> edges_read({"income": ["education", "age"], "savings": "income"})
    {'income': ('age', 'education'), 'savings': ('income',)}
    >>> edges_read("digraph { age -> income -> savings; education -> income }")
    {'income': ('age', 'education'), 'savings': ('income',)}
    """
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return _sorted(
            (parent, child)
            for child, parents in ((str(name), parents) for name, parents in given.items())
            for parent in _listed(child, parents)
        )
    if isinstance(given, str | PathLike):
        return _sorted(text_edges(given))
    graph = getattr(given, "graph", None)
    if hasattr(given, "causal_mechanism") and graph is not None:
        given = graph  # a model of DoWhy
    if hasattr(given, "nodes") and hasattr(given, "edges"):
        return _sorted(_graph_edges(given))
    if isinstance(given, Iterable):
        return _sorted(_pair(pair) for pair in given)
    raise ConstraintError(
        "causes takes a mapping such as {'income': ['education', 'age']}, pairs, a directed graph "
        f"of networkx, DOT or GML, not {type(given).__name__}"
    )


def in_order(edges: Mapping[str, Iterable[str]]) -> list[str]:
    """The columns that have causes, causes first, ties by name; a cycle is an error.

    >>> in_order({"savings": ["income"], "income": ["age"]})
    ['income', 'savings']
    """
    waits = {child: sorted(set(edges[child]) & set(edges)) for child in sorted(edges)}
    try:
        return list(TopologicalSorter(waits).static_order())
    except CycleError as error:
        cycle = " causes ".join(repr(name) for name in error.args[1])
        raise ConstraintError(f"causes go in a circle: {cycle}; drop one of them") from error


def _sorted(pairs: Iterable[tuple[str, str]]) -> Edges:
    found: dict[str, set[str]] = {}
    for parent, child in pairs:
        if parent == child:
            raise ConstraintError(f"causes go in a circle: {child!r} causes itself; drop that")
        found.setdefault(child, set()).add(parent)
    return {child: tuple(sorted(found[child])) for child in sorted(found)}


def _listed(child: object, parents: Any) -> tuple[str, ...]:
    if isinstance(parents, str):
        return (parents,)
    if isinstance(parents, Mapping) or not isinstance(parents, Iterable):
        raise ConstraintError(f"the causes of {child!r} must be a list of columns, not {parents!r}")
    return tuple(str(parent) for parent in parents)


def _pair(given: Any) -> tuple[str, str]:
    if isinstance(given, str) or not isinstance(given, Iterable) or len(pair := tuple(given)) != 2:
        raise ConstraintError(f"an edge is a pair (cause, effect), not {given!r}")
    return str(pair[0]), str(pair[1])


def _graph_edges(graph: Any) -> list[tuple[str, str]]:
    directed = getattr(graph, "is_directed", None)
    if directed is not None and not directed():
        raise ConstraintError("a causal graph has directions: give a DiGraph, not a Graph")
    return [(str(edge[0]), str(edge[1])) for edge in graph.edges]
