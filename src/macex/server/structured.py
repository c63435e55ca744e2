"""structlog without rich, which is for terminals and takes a third of a second to be imported."""

from __future__ import annotations

import sys

_ABSENT = "rich" not in sys.modules
if _ABSENT:
    sys.modules["rich"] = None  # type: ignore[assignment]  # as if it were not installed
try:
    import structlog
    from structlog.contextvars import bound_contextvars
finally:
    if _ABSENT:
        del sys.modules["rich"]

__all__ = ["bound_contextvars", "structlog"]
