"""The explainer: a model and its training rows, ready to answer questions."""

from __future__ import annotations

from macex.explainer.explainer import Explainer

__all__ = ["Explainer"]
