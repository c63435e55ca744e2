"""Bodies of requests, read so that one of them never holds up all the others.

Text becomes values on a thread of its own. Reading JSON cannot be interrupted, so what a body may
hold is counted before it is read: bytes, values, and how far it unpacks.

Who gives an `Idempotency-Key` is answered once: the same request with the same key gets the first
answer again, for a day. Another request with the key is an error, and so is the same one while the
first is being answered.
"""

from __future__ import annotations

import inspect
import zlib
from collections.abc import Callable, Coroutine
from hashlib import sha256
from typing import IO, Any

from anyio import CapacityLimiter, to_thread
from fastapi import Request, params
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ValidationError
from pydantic_core import from_json
from starlette.responses import Response

from macex.server.logs import note
from macex.server.problems import ProblemError
from macex.server.room import require_room
from macex.server.security.sessions import CSRF_FIELD
from macex.server.state import Server, server_of
from macex.server.storage.answers import StoredAnswer
from macex.server.turns import Turns, turn_name

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
FAULTS = 20  # as many are told
CONTAINER = 4  # a list or an object takes as long as so many plain values
AT_ONCE = 2  # bodies that are read at the same time,
SHORT = 2**16  # and as many up to this length, which wait for no longer ones
HEADER = "idempotency-key"
KEPT_HEADERS = ("content-type", "location")
LONGEST = 200
PIECE = 2**20  # bytes of a file that are read at a time


class Read(Request):
    """A request whose body was read already."""

    def __init__(self, request: Request, value: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._value = value

    async def body(self) -> bytes:
        """Something, so that the value is asked for."""
        return b"read"

    async def json(self) -> Any:
        """The value."""
        return self._value


class BodyRoute(APIRoute):
    """A route that refuses bodies of another form, and reads its own off the event loop."""

    def get_route_handler(self) -> Handler:
        """The handler, with the body read before it."""
        handle, field = super().get_route_handler(), self.body_field
        if field is None:
            return in_turn(self, handle, lambda server: server.looking)
        if isinstance(field.field_info, params.Form):
            return _formed(handle)
        return _parsed(handle, field.field_info.annotation)


def media_of(request: Request) -> str:
    """The form of a body, in small letters and without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def require_form(request: Request) -> None:
    """Raise for a body that is not a form."""
    if media_of(request) not in FORMS:
        raise ProblemError(415, f"send a form, as {' or '.join(FORMS)}", code="wrong_content_type")


def in_turn(route: APIRoute, handle: Handler, turns: Callable[[Server], Turns]) -> Handler:
    """The handler of a route that answers on a thread, for so many of a project at once.

    Where no project is asked for, it is so many of a key. A page that takes long, such as a plan,
    holds up pages of its own kind alone.
    """
    if inspect.iscoroutinefunction(route.endpoint) or inspect.isasyncgenfunction(route.endpoint):
        return handle
    if "GET" not in (route.methods or ()):
        return handle

    async def handled(request: Request) -> Response:
        server = server_of(request)
        await server.gate.pace(request)
        caller = await server.gate.identify(request)
        if caller is None:  # who is a stranger is told so
            return await handle(request)
        name = request.path_params.get("name", "")
        seen = bool(name) and caller.sees(name)
        whose = turn_name(name) if seen else f"key {caller.name!r}"
        async with turns(server).turn(whose, route.path):
            return await handle(request)

    return handled


def _formed(handle: Handler) -> Handler:
    async def handled(request: Request) -> Response:
        await server_of(request).gate.pace(request)
        require_form(request)
        return await answered_once(request, None, handle)

    return handled


def _parsed(handle: Handler, shape: Any) -> Handler:
    short, long = CapacityLimiter(AT_ONCE), CapacityLimiter(AT_ONCE)

    async def handled(request: Request) -> Response:
        await server_of(request).gate.pace(request)
        media = media_of(request)
        if media != "application/json" and not media.endswith("+json"):
            said = f"send JSON, as application/json, not {media[:100] or 'without a type'!r}"
            raise ProblemError(415, said, code="wrong_content_type")
        settings = server_of(request).settings
        body = await request.body()
        packing = request.headers.get("content-encoding", "identity").lower()

        def read() -> Any:
            text = unpacked(body, packing, settings.body_bytes)
            refuse_crowded(text, settings.body_values)
            return valued(text, shape)

        value = await to_thread.run_sync(read, limiter=short if len(body) <= SHORT else long)
        if hasattr(value, "noted"):
            note(value.noted())
        return await answered_once(Read(request, value), body, handle)

    return handled


def unpacked(body: bytes, packing: str, most: int) -> bytes:
    """The text of a body; one that unpacks to more than may be sent is not unpacked.

    >>> unpacked(b"{}", "identity", 10)
    b'{}'
    """
    if packing == "identity":
        return body
    if packing != "gzip":
        raise ProblemError(415, f"send it as gzip or uncompressed, not {packing[:100]!r}")
    unpacking = zlib.decompressobj(wbits=31)
    try:
        text = unpacking.decompress(body, most + 1)
    except zlib.error:
        raise ProblemError(400, "the body is not gzip") from None
    if len(text) > most:
        raise ProblemError(413, f"the body unpacks to more than {most:,} bytes")
    if not unpacking.eof or unpacking.unused_data:
        raise ProblemError(400, "the gzip data is incomplete")
    return text


def refuse_crowded(text: bytes, most: int) -> None:
    """Raise for a body of very many values, by its signs alone."""
    containers = text.count(b"[") + text.count(b"{")
    if text.count(b",") + CONTAINER * containers > most:
        said = f"a body may hold {most:,} values: send fewer rows, or upload a table"
        raise ProblemError(413, said, code="too_many_values")


def valued(text: bytes, shape: Any) -> Any:
    """What a body says, in its shape."""
    try:
        document = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        wrong = [{"loc": ("body",), "msg": f"not JSON: {error}"}]
        raise RequestValidationError(wrong) from None
    try:
        shaped = isinstance(shape, type) and issubclass(shape, BaseModel)
        return shape.model_validate(document) if shaped else document
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        placed = [{**one, "loc": ("body", *one["loc"])} for one in found[:FAULTS]]
        raise RequestValidationError(placed) from None


async def answered_once(request: Request, body: bytes | None, answer: Handler) -> Response:
    """The answer to a request; the first one again if it was sent before.

    A form, whose body is None, is the same if its fields and the contents of its files are.
    """
    given = request.headers.get(HEADER)
    caller = await server_of(request).gate.identify(request)
    if given is None or caller is None:
        return await answer(request)
    if not 0 < len(given) <= LONGEST:
        raise ProblemError(422, f"an Idempotency-Key has 1 to {LONGEST} characters")
    require_room(server_of(request).settings)
    answers = server_of(request).answers
    identity = _digest(caller.key_id, request.method, request.url.path, given)
    sent = body if body is not None else await _form_digest(request)
    asked = _digest(str(request.url.query), sent)
    there = await to_thread.run_sync(answers.begin, identity, asked)
    if there is not None:
        return _again(there, asked)
    try:
        response = await answer(request)
    except BaseException:
        await to_thread.run_sync(answers.forget, identity)
        raise
    kept = {name: value for name, value in response.headers.items() if name in KEPT_HEADERS}
    content = bytes(getattr(response, "body", b""))
    if 200 <= response.status_code < 300:
        await to_thread.run_sync(answers.keep, identity, response.status_code, kept, content)
    else:
        await to_thread.run_sync(answers.forget, identity)
    return response


def _again(there: StoredAnswer, asked: str) -> Response:
    if there.asked != asked:
        said = "another request was sent with this Idempotency-Key"
        raise ProblemError(422, said, code="idempotency_mismatch")
    if there.status is None:
        said = "the same request is being answered: ask again in a moment"
        raise ProblemError(409, said, headers={"Retry-After": "1"}, code="idempotency_pending")
    headers = {**there.headers, "Idempotent-Replayed": "true"}
    return Response(there.body, there.status, headers=headers)


async def _form_digest(request: Request) -> str:
    """What a form says: what stands between its parts, and the session's token, differ each time.

    Whoever answers gets the same form, which is read once.
    """
    form = await request.form()

    def read() -> str:
        made = sha256()
        for name, value in form.multi_items():
            if name == CSRF_FIELD:
                continue
            content = value.encode() if isinstance(value, str) else _content_digest(value.file)
            made.update(_digest(name, type(value).__name__, content).encode())
        return made.hexdigest()

    return await to_thread.run_sync(read)


def _content_digest(file: IO[bytes]) -> bytes:
    """The SHA-256 of a file, which is at its beginning before and after."""
    made = sha256()
    while piece := file.read(PIECE):
        made.update(piece)
    file.seek(0)
    return made.digest()


def _digest(*parts: str | bytes) -> str:
    made = sha256()
    for part in parts:
        made.update((part.encode() if isinstance(part, str) else part) + b"\n")
    return made.hexdigest()
