"""Drawings of a case: each channel over time, a counterfactual laid over it, changes shaded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from macex.render.speech import Speech
from macex.render.stretches import Panel, panel
from macex.schema import Array


def case_panels(case: Array, channels: Sequence[str], speech: Speech) -> list[Panel]:
    """The channels of a case as they are."""
    return [
        panel(channel, values, None, (), speech)
        for channel, values in zip(channels, case, strict=True)
    ]


def changed_panels(explanation: Any, found: Any, speech: Speech) -> list[Panel]:
    """The channels that a counterfactual changes, over those of the case."""
    own, new = explanation.source.cells(), found.source.cells()
    return [
        panel(name, own[name], new[name], [c for c in found.changes if c.channel == name], speech)
        for name in found.channels
    ]
