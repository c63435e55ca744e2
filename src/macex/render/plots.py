"""Drawings. The only file that imports matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def bars(counts: Sequence[tuple[str, int]]) -> Any:
    """A horizontal bar for each name, the first at the top."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("matplotlib is not installed: pip install macex[plots]") from error
    _, axes = plt.subplots(figsize=(6, 0.8 + 0.3 * len(counts)), layout="constrained")
    axes.barh([name for name, _ in counts], [count for _, count in counts])
    axes.invert_yaxis()
    axes.set_xlabel("counterfactuals that change the column")
    return axes
