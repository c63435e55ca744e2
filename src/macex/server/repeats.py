"""Requests that may be sent again: who gives an `Idempotency-Key` is answered once.

The same request with the same key gets the first answer again, for a day. Another request with the
key is an error, and so is the same one while the first is being answered.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from hashlib import sha256
from typing import IO, Any

from anyio import to_thread
from fastapi import Request
from starlette.responses import Response

from macex.server.problems import ProblemError
from macex.server.room import require_room
from macex.server.security.sessions import CSRF_FIELD
from macex.server.state import server_of
from macex.server.storage.answers import StoredAnswer

Handler = Callable[[Request], Coroutine[Any, Any, Response]]
HEADER = "idempotency-key"
KEPT_HEADERS = ("content-type", "location")
LONGEST = 200
PIECE = 2**20  # bytes of a file that are read at a time


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
