"""A causal graph as a picture: causes on the left, effects to the right of all their causes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from html import escape

from macex.causes.graphs import in_order

STEP, HEIGHT, GAP = 190.0, 30.0, 14.0
MOST_LETTERS = 20  # of a name
FRAMES = {
    "node": 'stroke-opacity="0.5"',
    "done": 'stroke-width="3"',
    "follows": 'stroke-width="2.5" stroke-dasharray="4 3"',
}
SVG = 'xmlns="http://www.w3.org/2000/svg" fill="none" stroke="currentColor"'
FONT = 'font-family="system-ui, sans-serif" font-size="13" text-anchor="middle"'


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
        parts.append(_node(called(name), x, y, kind))
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


def _node(name: str, x: float, y: float, kind: str) -> str:
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
    """The graph in words, for who cannot see it."""
    return "; ".join(
        f"{', '.join(map(called, causes))} cause{'s' * (len(causes) == 1)} {called(effect)}"
        for effect, causes in edges.items()
    )
