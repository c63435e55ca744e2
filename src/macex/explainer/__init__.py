"""The four stages joined, and the object that people meet."""

from __future__ import annotations

from macex.explainer.explainer import Explainer

__all__ = ["Explainer"]
