"""Causal graphs as people have them: mappings, pairs, networkx graphs, DOT or GML, DoWhy models.

Whatever the form, the result maps every column that has causes to its causes, both sorted by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from os import PathLike
from pathlib import Path
from typing import Any

from macex.errors import ConstraintError

Edges = dict[str, tuple[str, ...]]

FILES = {".dot": "dot", ".gv": "dot", ".gml": "gml"}
ATTRIBUTES = re.compile(r"\[[^\]]*\]")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|^\s*#[^\n]*", re.DOTALL | re.MULTILINE)
NODE = re.compile(r'"((?:[^"\\]|\\.)*)"|([A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)')
BLOCK = re.compile(r"\b(node|edge)\s*\[([^\[\]]*)\]")
FIELD = re.compile(r'\b(id|label|source|target)\s+("(?:[^"])*"|-?\d+)')
DEFAULTS = {"node", "edge", "graph"}  # statements of DOT that only set how things look


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
        return _sorted(_text_edges(given))
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


def _text_edges(given: str | PathLike[str]) -> list[tuple[str, str]]:
    text, form = str(given), ""
    if isinstance(given, PathLike) or Path(text[-255:]).suffix.lower() in FILES:
        form, path = FILES.get(Path(given).suffix.lower(), ""), Path(given)
        if not path.is_file():
            raise ConstraintError(f"there is no file {text!r} with a causal graph")
        text = path.read_text(encoding="utf-8")
    if form == "gml" or (not form and re.match(r"\s*(#[^\n]*\n\s*)*graph\s*\[", text)):
        return _gml(text)
    if "{" in text:
        return _dot(text)
    raise ConstraintError(
        f"{text[:60]!r} is no graph: give DOT such as 'digraph {{ age -> income }}', GML, or the "
        "path of a file that ends in .dot, .gv or .gml"
    )


def _dot(text: str) -> list[tuple[str, str]]:
    """The edges of a digraph in the DOT language; what only says how it looks is skipped."""
    plain = COMMENT.sub(" ", text)
    head, _, rest = plain.partition("{")
    if "digraph" not in head.split():
        raise ConstraintError("a causal graph has directions: write digraph { cause -> effect }")
    body, pairs = rest.rpartition("}")[0], list[tuple[str, str]]()
    if "{" in body or "subgraph" in body.split():
        raise ConstraintError("a causal graph in DOT is one digraph without parts in braces")
    for statement in re.split(r";|\n", ATTRIBUTES.sub(" ", body)):
        parts = [part.strip() for part in statement.split("->")]
        if len(parts) > 1:
            names = [_node(part, statement) for part in parts]
            pairs += pairwise(names)
    return pairs


def _node(text: str, statement: str) -> str:
    found = NODE.fullmatch(text)
    if found is None or text in DEFAULTS:
        raise ConstraintError(f"{statement.strip()!r} is no edge of DOT: write cause -> effect")
    return found[2] or re.sub(r"\\(.)", r"\1", found[1])


def _gml(text: str) -> list[tuple[str, str]]:
    """The edges of a directed graph in GML, by the labels of its nodes."""
    if not re.search(r"\bdirected\s+1\b", text):
        raise ConstraintError("a causal graph has directions: GML says so by `directed 1`")
    labels: dict[str, str] = {}
    pairs = list[tuple[str, str]]()
    for kind, block in BLOCK.findall(text):
        parts = {name: value.strip('"') for name, value in FIELD.findall(block)}
        if kind == "node":
            labels[parts.get("id", "")] = parts.get("label", parts.get("id", ""))
        else:
            pairs.append((parts.get("source", ""), parts.get("target", "")))
    unknown = sorted({end for pair in pairs for end in pair} - set(labels))
    if unknown:
        raise ConstraintError(f"an edge of the GML graph names no node {unknown[0]!r}")
    return [(labels[source], labels[target]) for source, target in pairs]
