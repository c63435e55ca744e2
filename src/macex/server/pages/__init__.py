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
)
from macex.server.pages.guard import add_lost
from macex.server.recent import Recent

ROOMS = (home, entering, making, listing, looking, cases, cohort, following, keeping, reference)
KEPT = 8  # outcomes of jobs that are not summed up again


def add_pages(app: FastAPI) -> None:
    """Put the pages beside the API."""
    app.state.outcomes, app.state.plans = Recent(most=KEPT), Recent(most=KEPT)
    for room in ROOMS:
        app.include_router(room.router)
    add_lost(app)
