"""What a client asks of rows, as the body of a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class AskedRows:
    """What is asked of rows; `want` and `constraints` may be lists of one each."""

    options: Mapping[str, Any]
    want: Any
    constraints: Any

    def body(self, cells: list[dict[str, Any]], start: int) -> dict[str, Any]:
        """A request about some of the rows."""
        parts = {"want": self.want, "constraints": self.constraints}
        stop = start + len(cells)
        cut = {k: v[start:stop] if isinstance(v, list) else v for k, v in parts.items()}
        said = {k: v for k, v in self.options.items() if v is not None}
        return {**said, **cut, "rows": cells}
