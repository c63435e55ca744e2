"""Causal graphs: read from what people have, put in order, and drawn.

They come as mappings, pairs, networkx graphs, text in DOT or GML, or models of DoWhy.
Whatever the form, the result maps every column that has causes to its causes, both sorted by name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from html import escape, unescape
from os import PathLike
from pathlib import Path
from typing import Any

from macex.errors import ConstraintError

Edges = dict[str, tuple[str, ...]]
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
STEP, HEIGHT, GAP = 190.0, 30.0, 14.0
MOST_LETTERS = 20  # of a name
FRAMES = {
    "node": 'stroke-opacity="0.5"',
    "done": 'stroke-width="3"',
    "follows": 'stroke-width="2.5" stroke-dasharray="4 3"',
}
SVG = 'xmlns="http://www.w3.org/2000/svg" fill="none" stroke="currentColor"'
FONT = 'font-family="system-ui, sans-serif" font-size="13" text-anchor="middle"'


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


def drawn(
    edges: Mapping[str, Collection[str]],
    done: Collection[str] = (),
    follows: Collection[str] = (),
    called: Callable[[str], str] = str,
) -> str:
    """The graph as SVG; what is done has a bold frame, and what follows a broken one.

    >>> picture = drawn({"income": ["age"], "savings": ["income"]}, done=["income"])
    >>> picture.count("<rect"), picture.count('class="edge"'), picture.count('class="done"')
    (3, 2, 1)
    """
    place = _places(edges)
    right = max(x for x, _ in place.values()) + STEP - 24
    bottom = max(y for _, y in place.values()) + HEIGHT + 2
    size = f'width="{right:g}" viewBox="0 0 {right:g} {bottom:g}"'
    said = escape(_said(edges, called))
    parts = [f'<svg class="macex-causes" role="img" aria-label="{said}" {size} {SVG}>']
    parts += [
        _edge(place[cause], place[effect]) for effect, causes in edges.items() for cause in causes
    ]
    for name, (x, y) in place.items():
        kind = "done" if name in done else "follows" if name in follows else "node"
        parts.append(_box(called(name), x, y, kind))
    return "".join(parts) + "</svg>"


def _places(edges: Mapping[str, Collection[str]]) -> dict[str, tuple[float, float]]:
    """Where each column stands: one step to the right of the last of its causes."""
    depth = {cause: 0 for causes in edges.values() for cause in sorted(causes)}
    for effect in in_order(edges):
        depth[effect] = 1 + max(depth[cause] for cause in edges[effect])
    height: dict[int, int] = {}
    place = {}
    for name in sorted(depth, key=lambda one: (depth[one], one)):
        layer = depth[name]
        line = height.get(layer, 0)
        place[name] = (2 + layer * STEP, 2 + line * (HEIGHT + GAP) + (layer % 2) * GAP)
        height[layer] = line + 1
    return place


def _edge(start: tuple[float, float], end: tuple[float, float]) -> str:
    x, y = start[0] + STEP - 30, start[1] + HEIGHT / 2
    to_x, to_y = end[0] - 2, end[1] + HEIGHT / 2
    middle = (x + to_x) / 2
    tip = f"M{to_x - 7:g} {to_y - 4:g}L{to_x:g} {to_y:g}L{to_x - 7:g} {to_y + 4:g}"
    curve = f"M{x:g} {y:g}C{middle:g} {y:g} {middle:g} {to_y:g} {to_x:g} {to_y:g}"
    return f'<path class="edge" stroke-opacity="0.45" d="{curve}{tip}"/>'


def _box(name: str, x: float, y: float, kind: str) -> str:
    wide = STEP - 30
    text = name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…"
    frame = f'rx="7" fill="Canvas" {FRAMES[kind]}'
    return (
        f'<g class="{kind}"><title>{escape(name)}</title>'
        f'<rect x="{x:g}" y="{y:g}" width="{wide:g}" height="{HEIGHT:g}" {frame}/>'
        f'<text x="{x + wide / 2:g}" y="{y + HEIGHT / 2 + 4.5:g}" {FONT} fill="currentColor" '
        f'stroke="none">{escape(text)}</text></g>'
    )


def _said(edges: Mapping[str, Collection[str]], called: Callable[[str], str]) -> str:
    """The graph in words, for readers who do not see it."""
    return "; ".join(
        f"{', '.join(map(called, causes))} cause{'s' * (len(causes) == 1)} {called(effect)}"
        for effect, causes in edges.items()
    )
