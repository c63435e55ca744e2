"""Explanations of series in a notebook: one table each, with a small drawing of every change."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from macex.render.values import score_text, shown
from macex.schema import Array

WIDE, HIGH = 180, 32
SHOWN = 12


def fragment(items: Sequence[Any]) -> str:
    """A table for each explanation."""
    return "".join(_explanation(item) for item in items)


def _explanation(explanation: Any) -> str:
    label = "" if explanation.label is None else f"<b>{escape(shown(explanation.label))}</b>, "
    head = (
        f"<p>{label}score {score_text(explanation.score)}; "
        f"wanted: {escape(explanation.goal.text)}</p>"
    )
    if not explanation.counterfactuals:
        return f"<div>{head}<p>{escape(explanation.reason or '')}</p></div>"
    return f"<div>{head}{''.join(map(_table, explanation.counterfactuals))}</div>"


def _table(found: Any) -> str:
    label = "" if found.label is None else f"{escape(shown(found.label))}, "
    caption = f"{label}score {score_text(found.score)}, {found.sparsity} changed"
    heads = "".join(f"<th>{head}</th>" for head in ("channel", "time", "as in", "before, after"))
    rows = "".join(map(_row, found.changes[:SHOWN]))
    left = len(found.changes) - SHOWN
    more = f'<tr><td colspan="4">… and {left} more</td></tr>' if left > 0 else ""
    return f"<table><caption>{caption}</caption><tr>{heads}</tr>{rows}{more}</table>"


def _row(change: Any) -> str:
    label = "" if change.label is None else f" ({shown(change.label)})"
    blend = "" if change.blend >= 1 else f", {100 * change.blend:.0f} %"
    cells = [
        escape(change.channel),
        f"{change.start}–{change.stop - 1}",
        escape(f"case {change.case}{label}{blend}"),
        _drawing(change.before, change.after),
    ]
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _drawing(before: Array, after: Array) -> str:
    """Two lines, what was and what would be, as SVG."""
    both = np.stack([before, after]).astype(float)
    known = both[np.isfinite(both)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    lines = "".join(
        f'<polyline fill="none" stroke="{color}" points="{_points(values, low, high)}"/>'
        for values, color in zip(both, ("#888", "#c33"), strict=True)
    )
    return f'<svg width="{WIDE}" height="{HIGH}" role="img">{lines}</svg>'


def _points(values: Array, low: float, high: float) -> str:
    step = max(1, len(values) // WIDE)
    x = np.linspace(2, WIDE - 2, len(values))[::step]
    y = HIGH - 2 - (values[::step] - low) / ((high - low) or 1.0) * (HIGH - 4)
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if np.isfinite(b))
