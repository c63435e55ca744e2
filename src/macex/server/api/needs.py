"""What routes ask for beside the body: the server, the project, the caller."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Path, Request

from macex.server.projects.project import Project
from macex.server.security.gate import Caller, allowed, known
from macex.server.state import Server, server_of

Reader = Annotated[Caller, Depends(allowed("read"))]
Asker = Annotated[Caller, Depends(allowed("explain"))]
Admin = Annotated[Caller, Depends(allowed("admin"))]
Name = Annotated[str, Path(max_length=100, examples=["adult"])]
Identity = Annotated[str, Path(max_length=40)]


async def _server(request: Request) -> Server:
    return server_of(request)


async def _project(
    name: Name,
    server: Annotated[Server, Depends(_server)],
    _caller: Annotated[Caller, Depends(known)],
) -> Project:
    """A project by its name, opened outside the event loop; strangers learn no names."""
    project = server.projects[name]
    return project if project.ready() else await to_thread.run_sync(project.open)


Running = Annotated[Server, Depends(_server)]
Chosen = Annotated[Project, Depends(_project)]
