"""What follows from what is done: causes between columns, stated or fitted from training rows."""

from __future__ import annotations

from macex.causes.causes import Causes, check_causes
from macex.causes.graphs import drawn
from macex.causes.model import CausalModel, causal_model

__all__ = ["CausalModel", "Causes", "causal_model", "check_causes", "drawn"]
