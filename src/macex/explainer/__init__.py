"""The object that people meet: a model and its training rows, ready to be asked."""

from __future__ import annotations

from macex.explainer.explainer import Explainer

__all__ = ["Explainer"]
