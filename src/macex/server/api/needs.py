"""What routes ask for beside the body: the server, the project, the caller."""

from __future__ import annotations

from typing import Annotated

from anyio import to_thread
from fastapi import Depends, Path, Query, Request

from macex.server.problems import ProblemError
from macex.server.projects.catalogue import settle
from macex.server.projects.project import Project
from macex.server.security.gate import Caller, allowed, known
from macex.server.state import Server, server_of

Reader = Annotated[Caller, Depends(allowed("read"))]
Asker = Annotated[Caller, Depends(allowed("explain"))]
Admin = Annotated[Caller, Depends(allowed("admin"))]
Name = Annotated[str, Path(max_length=100, examples=["adult"])]
Start = Annotated[int, Query(ge=0, le=2**31)]
Size = Annotated[int, Query(ge=1, le=1000)]
Identity = Annotated[str, Path(max_length=40)]


async def _server(request: Request) -> Server:
    return server_of(request)


async def _project(
    name: Name,
    server: Annotated[Server, Depends(_server)],
    caller: Annotated[Caller, Depends(known)],
) -> Project:
    """A project by its name, opened outside the event loop; others learn no names."""
    if not caller.sees(name):
        raise ProblemError(404, f"there is no project {name!r}", code="unknown_project")
    project = server.projects.known(name)
    if project is None or not project.ready():
        return await to_thread.run_sync(_opened, server, name)
    return project


def _opened(server: Server, name: str) -> Project:
    project = server.projects[name]
    if not project.ready():
        project.open()
        settle()
    return project


Running = Annotated[Server, Depends(_server)]
Chosen = Annotated[Project, Depends(_project)]
