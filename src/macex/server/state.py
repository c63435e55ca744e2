"""What the parts of a running server share."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.requests import HTTPConnection

from macex.server.projects.catalogue import Catalogue
from macex.server.settings import Settings


@dataclass(frozen=True)
class Server:
    """One server's settings and projects."""

    settings: Settings
    projects: Catalogue


def server_of(connection: HTTPConnection) -> Server:
    """The server that a request was sent to."""
    server: Server = connection.app.state.server
    return server
