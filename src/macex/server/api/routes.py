"""All routes of the API under one prefix."""

from __future__ import annotations

from fastapi import FastAPI

from macex.server.api import cases, explanations, jobs, projects, service, uploads, views
from macex.server.problems import ProblemDetail

PREFIX = "/api/v1"


def add_api(app: FastAPI) -> None:
    """Put the API into an application."""
    for room in (service, projects, cases, uploads, explanations, jobs, views):
        app.include_router(room.router, prefix=PREFIX)
    make = app.openapi

    def described() -> dict[str, object]:
        document = make()
        shapes = document["components"]["schemas"]
        shapes["Fault"] = ProblemDetail.model_json_schema()["$defs"]["Fault"]
        own = ProblemDetail.model_json_schema(ref_template="#/components/schemas/{model}")
        own.pop("$defs", None)
        shapes["ProblemDetail"] = own
        return document

    app.openapi = described  # type: ignore[method-assign]
