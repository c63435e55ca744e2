"""Drawings of series. The only file of this room that imports matplotlib."""

from __future__ import annotations

from typing import Any

import numpy as np

from macex.errors import OptionError


def panels(explanation: Any, rank: int, most: int) -> Any:
    """A panel for each changed channel: the case, its counterfactual, and what changed shaded."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError("matplotlib is not installed: pip install macex[plots]") from error
    found = _chosen(explanation, rank)
    changes = found.changes[:most] if found is not None else ()
    height = 1.0 + 1.6 * max(1, len(changes))
    figure, axes = plt.subplots(
        max(1, len(changes)),
        1,
        sharex=True,
        squeeze=False,
        figsize=(8, height),
        layout="constrained",
    )
    if found is None or not changes:
        axes[0, 0].set_title(explanation.reason or "No change is needed.", wrap=True)
        return axes[:, 0]
    query, sample = (
        _channels_first(explanation, values) for values in (explanation.query, found.sample)
    )
    for panel, change in zip(axes[:, 0], changes, strict=True):
        place = explanation.channels.index(change.channel)
        panel.plot(np.asarray(query[place], dtype=float), color="0.35", label="the case")
        panel.plot(
            np.asarray(sample[place], dtype=float), color="C3", ls="--", label="counterfactual"
        )
        panel.axvspan(change.start - 0.5, change.stop - 0.5, color="C3", alpha=0.12, lw=0)
        panel.set_ylabel(change.channel)
    axes[0, 0].legend(loc="best", fontsize="small")
    axes[-1, 0].set_xlabel("time point")
    left = len(found.changes) - len(changes)
    more = f", {left} more channels not shown" if left else ""
    figure.suptitle(f"{_named(explanation)} → {_named(found)}{more}")
    return axes[:, 0]


def _chosen(explanation: Any, rank: int) -> Any:
    if not explanation.counterfactuals:
        return explanation.miss
    if not 1 <= rank <= len(explanation.counterfactuals):
        raise OptionError(
            f"rank={rank}: there are counterfactuals 1 to {len(explanation.counterfactuals)}"
        )
    return explanation.counterfactuals[rank - 1]


def _channels_first(explanation: Any, values: Any) -> Any:
    return values if explanation.layout == "channels_first" else values.T


def _named(result: Any) -> str:
    score = f"score {result.score:.3g}"
    return score if result.label is None else f"{result.label} ({score})"
