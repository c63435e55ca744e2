"""The pages of the server."""

from __future__ import annotations

from fastapi import FastAPI

from macex.server.pages import (
    cases,
    cohort,
    home,
    job,
    login,
    new_project,
    reference,
    row,
    rows,
    upkeep,
    views,
)
from macex.server.pages.glance import page as glance
from macex.server.pages.guard import add_lost
from macex.server.recent import Recent

ROOMS = (
    home,
    login,
    new_project,
    glance,
    rows,
    row,
    cases,
    cohort,
    reference,
    job,
    views,
    upkeep,
)
KEPT = 8  # outcomes of jobs that are not summed up again
PACES = 200  # jobs whose pace is watched


def add_pages(app: FastAPI) -> None:
    """Put the pages beside the API."""
    app.state.outcomes, app.state.plans = Recent(most=KEPT), Recent(most=KEPT)
    app.state.paces = Recent(most=PACES)
    for room in ROOMS:
        app.include_router(room.router)
    add_lost(app)
