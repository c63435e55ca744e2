"""The pages of the server."""

from __future__ import annotations

from fastapi import FastAPI

from macex.server.pages import (
    cases,
    cohort,
    entering,
    following,
    home,
    keeping,
    listing,
    looking,
    making,
    reference,
    tidying,
)
from macex.server.pages.glance import page as glance
from macex.server.pages.guard import add_lost
from macex.server.recent import Recent

ROOMS = (
    home,
    entering,
    making,
    glance,
    listing,
    looking,
    cases,
    cohort,
    reference,
    following,
    keeping,
    tidying,
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
