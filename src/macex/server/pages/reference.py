"""The HTTP API as a page: what OpenAPI says of it, without anything from elsewhere."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from macex.server.api.needs import Reader
from macex.server.pages.shell import PageRoute, page

router = APIRouter(include_in_schema=False, route_class=PageRoute)


@dataclass(frozen=True)
class Operation:
    """One request: what it does, what it takes, and what it answers."""

    method: str
    path: str
    text: str
    parameters: tuple[tuple[str, str, str], ...]
    body: str
    example: str
    answers: tuple[tuple[str, str], ...]


@router.get("/docs")
def reference_page(request: Request, _caller: Reader) -> HTMLResponse:
    """All requests of the API, by subject."""
    document = request.app.openapi()
    subjects: dict[str, list[Operation]] = {}
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            made = operation(method, path, one, document)
            subjects.setdefault(str(one.get("tags", ["other"])[0]), []).append(made)
    values = {"subjects": subjects, "schemas": document["components"]["schemas"]}
    return page(request, "reference", values)


def operation(method: str, path: str, said: Mapping[str, Any], document: Any) -> Operation:
    """What the document says of one request."""
    content: dict[str, Any] = said.get("requestBody", {}).get("content", {})
    media = next(iter(content), "")
    body: dict[str, Any] = content.get(media, {})
    return Operation(
        method=method.upper(),
        path=path,
        text=str(said.get("description", "")),
        parameters=tuple(
            (one["name"], one["in"], _kind(one["schema"])) for one in said.get("parameters", ())
        ),
        body=f"{media}: {_kind(body.get('schema', {}))}" if media else "",
        example=_example(body.get("schema", {}), document),
        answers=tuple(
            (status, str(answer["description"])) for status, answer in said["responses"].items()
        ),
    )


def _kind(schema: Mapping[str, Any]) -> str:
    """The shape of a value in a few words."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(_kind(one) for one in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(map(str, schema["enum"]))
    return str(schema.get("type", "any"))


def _example(schema: Mapping[str, Any], document: Any) -> str:
    """A body made of the examples of its parts."""
    shape = document["components"]["schemas"].get(_kind(schema), {})
    parts = shape.get("properties", {})
    made = {name: one["examples"][0] for name, one in parts.items() if one.get("examples")}
    return json.dumps(made, indent=2, ensure_ascii=False) if made else ""
