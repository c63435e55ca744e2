"""How many requests a project may hold at once, so that a slow one leaves room for the others."""

from __future__ import annotations

import re
from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from macex.server.problems import problem_response

OF_PROJECT = re.compile(r"(?:/api/v1)?/projects/([^/]+)")


class Admission:
    """Refuses requests to a project that holds `most` of them already."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app, self.most = app, most
        self._held: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count the request of a project while it is answered."""
        path: str = scope.get("path", "").removeprefix(scope.get("root_path", ""))
        found = OF_PROJECT.match(path) if scope["type"] == "http" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        name = found[1]
        if self._held[name] >= self.most:
            said = f"{self.most} requests wait for project {name[:100]!r}: ask again later"
            await problem_response(503, said, headers={"Retry-After": "5"})(scope, receive, send)
            return
        self._held[name] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._held[name] -= 1
            if not self._held[name]:
                del self._held[name]
