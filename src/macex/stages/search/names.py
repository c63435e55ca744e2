"""The names of macex's own searches, in one place: what `method=` takes and answers carry."""

from __future__ import annotations

from typing import Final

EXHAUSTIVE: Final = "exhaustive"
REINFORCE: Final = "reinforce"
GRADIENTLESS: Final = "gradientless"
NEAREST_ROW: Final = "nearest row"  # the last resort, which nobody can ask for
DEFAULT_SEARCH: Final = EXHAUSTIVE
