"""Causal graphs as text, in the DOT language or in GML, or as files of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from os import PathLike
from pathlib import Path
from typing import Any

from macex.errors import ConstraintError

FILES = {".dot": "dot", ".gv": "dot", ".gml": "gml"}
DOT = re.compile(
    r"/\*.*?\*/|//[^\n]*|^[ \t]*\#[^\n]*|\s+"  # a remark, or space
    r'|"(?P<quoted>(?:[^"\\]|\\.)*)"'
    r"|(?P<sign>->|--|[\[\]{};,=:])"
    r"|(?P<plain>-?[\w.\u0080-\uffff]+)",
    re.DOTALL | re.MULTILINE,
)
GML = re.compile(r'#[^\n]*|\s+|"(?P<quoted>[^"]*)"|(?P<sign>[\[\]])|(?P<plain>[^\s"\[\]]+)')
KEYWORDS = {"node", "edge", "graph"}  # of DOT: they only set how things look

Token = tuple[str, str]
"""What it is (quoted, sign or plain) and its text."""
OPEN: Token = ("sign", "{")
REFUSED: set[Token] = {OPEN, ("sign", ":"), ("sign", "--"), ("plain", "subgraph")}
Fields = list[tuple[str, Any]]
"""Names and values: texts, or fields of their own."""


def text_edges(given: str | PathLike[str]) -> list[tuple[str, str]]:
    """The edges (cause, effect) of a graph in DOT or GML, or in a file of either."""
    text, form = str(given), ""
    if isinstance(given, PathLike) or Path(text[-255:]).suffix.lower() in FILES:
        form, text = FILES.get(Path(given).suffix.lower(), ""), _read(Path(given))
    if form == "gml" or (not form and re.match(r"\s*(#[^\n]*\n\s*)*graph\s*\[", text)):
        return _gml(text)
    if "{" in text:
        return _dot(text)
    raise ConstraintError(
        f"{text[:60]!r} is no graph: give DOT such as 'digraph {{ age -> income }}', GML, or the "
        "path of a file that ends in .dot, .gv or .gml"
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConstraintError(f"there is no file {str(path)!r} with a causal graph") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConstraintError(f"{path} cannot be read as a causal graph: {error}") from error


def _tokens(pattern: re.Pattern[str], text: str) -> Iterator[Token]:
    place = 0
    while place < len(text):
        found = pattern.match(text, place)
        if found is None:
            raise ConstraintError(f"the graph cannot be read from {text[place : place + 30]!r} on")
        if found.lastgroup is not None:
            yield found.lastgroup, found[found.lastgroup]
        place = found.end()


def _dot(text: str) -> list[tuple[str, str]]:
    """The edges of a digraph in the DOT language; what only says how it looks is skipped.

    >>> _dot('digraph { node [shape=box]; "a [k]" -> b -> c [label="x -> y"] }')
    [('a [k]', 'b'), ('b', 'c')]
    """
    tokens = list(_tokens(DOT, text))
    start = tokens.index(OPEN) if OPEN in tokens else 0
    if ("plain", "digraph") not in tokens[:start]:
        raise ConstraintError("a causal graph has directions: write digraph { cause -> effect }")
    body = list(_without_attributes(tokens[start + 1 :]))
    for one in body:
        if one in REFUSED:
            raise ConstraintError(
                f"{one[1]!r} is not read: a causal graph in DOT is one digraph without parts in "
                "braces, whose edges are written cause -> effect"
            )
    arrows = [place for place, token in enumerate(body) if token == ("sign", "->")]
    return [(_node(body, place - 1), _node(body, place + 1)) for place in arrows]


def _without_attributes(tokens: list[Token]) -> Iterator[Token]:
    inside = False
    for token in tokens:
        if not inside and token != ("sign", "["):
            yield token
        inside = (inside or token == ("sign", "[")) and token != ("sign", "]")


def _node(body: list[Token], place: int) -> str:
    """The name beside an arrow."""
    kind, token = body[place] if 0 <= place < len(body) else ("sign", "nothing")
    if kind == "sign" or (kind == "plain" and token in KEYWORDS):
        raise ConstraintError(f"beside an arrow of DOT stands {token!r}: write cause -> effect")
    return re.sub(r"\\(.)", r"\1", token) if kind == "quoted" else token


def _gml(text: str) -> list[tuple[str, str]]:
    """The edges of a directed graph in GML, by the labels of its nodes.

    >>> _gml('graph [directed 1 node [id 0 label "a"] node [id 1] edge [source 0 target 1]]')
    [('a', '1')]
    """
    whole = dict(_fields(_tokens(GML, text)))
    graph = whole.get("graph")
    fields = graph if isinstance(graph, list) else []
    if ("directed", "1") not in fields:
        raise ConstraintError("a causal graph has directions: GML says so by `directed 1`")
    nodes = [dict(part) for name, part in fields if name == "node" and isinstance(part, list)]
    edges = [dict(part) for name, part in fields if name == "edge" and isinstance(part, list)]
    labels = {node.get("id"): str(node.get("label", node.get("id"))) for node in nodes}
    ends = [(edge.get("source"), edge.get("target")) for edge in edges]
    for end in (end for both in ends for end in both):
        if end not in labels:
            raise ConstraintError(f"an edge of the GML graph names no node {end!r}")
    return [(labels[source], labels[target]) for source, target in ends]


def _fields(tokens: Iterator[Token]) -> Fields:
    """The fields up to the end of a block, in their order."""
    found: Fields = []
    for token in tokens:
        if token == ("sign", "]"):
            break
        kind, value = next(tokens, ("sign", "nothing"))
        if kind == "sign" and value != "[":
            raise ConstraintError(f"the field {token[1]!r} of the GML graph has no value")
        found.append((token[1], _fields(tokens) if kind == "sign" else unescape(value)))
    return found
