"""Who a request comes from, and whether it may do what it asks.

A server that only this machine can reach, and that has no keys, lets everybody in. Any other wants
a key: in the header `Authorization: Bearer KEY`, or shown once on the page, which then has a
session.
"""

from __future__ import annotations

import hmac
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response

from macex.errors import OptionError
from macex.server.problems import ProblemError
from macex.server.security.rates import Rates
from macex.server.security.sessions import COOKIE, CSRF_FIELD, CSRF_HEADER, Sessions
from macex.server.storage.keys import SCOPES, Key, Keys, Scope, digest_of

if TYPE_CHECKING:
    from macex.server.settings import Settings

SAFE = ("GET", "HEAD", "OPTIONS")
REMEMBERED_S = 2.0
TRIES_PER_SECOND, TRIES_AT_ONCE = 1.0, 30
ADMIN = "admin"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


@dataclass(frozen=True)
class Caller:
    """Whoever sent a request; `csrf` is the token of a session, empty without one."""

    name: str
    scopes: tuple[Scope, ...]
    key_id: str = ""
    csrf: str = ""

    def may(self, scope: Scope) -> bool:
        """Whether the caller has a scope."""
        return scope in self.scopes


EVERYBODY = Caller("local", SCOPES)


class Gate:
    """Lets callers in."""

    def __init__(self, settings: Settings, keys: Keys, sessions: Sessions) -> None:
        """Refuse to serve the world without keys."""
        self._settings, self._keys, self.sessions = settings, keys, sessions
        self._rates = Rates(settings.requests_per_second, settings.requests_at_once)
        self._tries = Rates(TRIES_PER_SECOND, TRIES_AT_ONCE)
        self._known: dict[str, tuple[float, Key | None]] = {}
        self._any: tuple[float, bool] = (0.0, False)
        if not settings.local and settings.admin_key is None and not keys.all():
            raise OptionError(
                f"host {settings.host} can be reached from other machines, and there is no key: "
                "make one with `macex key new NAME`, or set MACEX_ADMIN_KEY"
            )

    @property
    def open(self) -> bool:
        """Whether everybody may do everything."""
        if not self._settings.local or self._settings.admin_key is not None:
            return False
        if time.monotonic() > self._any[0]:
            self._any = (time.monotonic() + REMEMBERED_S, bool(self._keys.all()))
        return not self._any[1]

    def caller(self, request: Request) -> Caller | None:
        """Who sent a request; None where a key is needed and none is shown."""
        if self.open:
            return EVERYBODY
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            key = self.shown(given.strip(), request)
            return None if key is None else Caller(key.name, key.scopes, key.id)
        return self._of_session(request.cookies.get(COOKIE, ""))

    def shown(self, given: str, request: Request) -> Key | None:
        """The key that was shown; who shows one wrong key after the other is told to wait."""
        key = self.key(given)
        place = "" if request.client is None else request.client.host
        if key is None and (wait := self._tries.wait(place)):
            raise ProblemError(
                429, "too many wrong keys", headers={"Retry-After": str(math.ceil(wait))}
            )
        return key

    def key(self, given: str) -> Key | None:
        """The key with this text, remembered for a moment."""
        digest = digest_of(given)
        until, key = self._known.get(digest, (0.0, None))
        if time.monotonic() > until:
            key = self._admin(given) or self._keys.find(given)
            if len(self._known) > 1000:
                self._known.clear()
            if key is not None:
                self._known[digest] = (time.monotonic() + REMEMBERED_S, key)
        return key

    def _admin(self, given: str) -> Key | None:
        own = self._settings.admin_key
        same = own is not None and hmac.compare_digest(
            digest_of(own.get_secret_value()), digest_of(given)
        )
        return Key(self._admin_id, ADMIN, "", SCOPES, "") if same else None

    @property
    def _admin_id(self) -> str:
        """Another one for another key, so that the sessions of a former key are over."""
        own = self._settings.admin_key
        return "" if own is None else f"{ADMIN}-{digest_of(own.get_secret_value())[:12]}"

    def _of_session(self, cookie: str) -> Caller | None:
        key_id = self.sessions.key_id(cookie) if cookie else None
        if key_id is None:
            return None
        if key_id == self._admin_id:
            return Caller(ADMIN, SCOPES, key_id, self.sessions.csrf(cookie))
        key = self._keys.by_id(key_id)
        if key is None:
            return None
        return Caller(key.name, key.scopes, key.id, self.sessions.csrf(cookie))

    def sign_in(self, request: Request, response: Response, given: str) -> Caller:
        """Begin a session for whoever shows a key; the cookie goes with the response."""
        key = self.shown(given, request)
        if key is None:
            raise ProblemError(401, "this is no key of this server")
        cookie = self.sessions.cookie(key.id)
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=int(self.sessions.lifetime_s),
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return Caller(key.name, key.scopes, key.id, self.sessions.csrf(cookie))

    def slow_down(self, caller: Caller) -> None:
        """Raise for a caller who asks too often; a server for one machine sets no pace."""
        if caller is EVERYBODY:
            return
        if wait := self._rates.wait(caller.key_id):
            pace = self._settings.requests_per_second
            raise ProblemError(
                429,
                f"key {caller.name!r} may ask {pace:g} times a second",
                headers={"Retry-After": str(math.ceil(wait))},
            )


async def known(request: Request) -> Caller:
    """A dependency of routes: the caller, whoever it is, but not a stranger."""
    gate: Gate = request.app.state.server.gate
    caller = gate.caller(request)
    if caller is None:
        raise ProblemError(
            401, "show a key: Authorization: Bearer KEY", headers={"WWW-Authenticate": "Bearer"}
        )
    return caller


def allowed(scope: Scope) -> Callable[[Request], Awaitable[Caller]]:
    """A dependency of routes: the caller, if the scope is theirs and the request their own."""

    async def check(request: Request) -> Caller:
        gate: Gate = request.app.state.server.gate
        caller = await known(request)
        if not caller.may(scope):
            raise ProblemError(403, f"key {caller.name!r} has not the scope {scope!r}")
        if caller.csrf and request.method not in SAFE:
            cookie = request.cookies.get(COOKIE, "")
            if gate.sessions.forged(cookie, await _token(request)):
                raise ProblemError(403, f"the request lacks the session's {CSRF_HEADER}")
        gate.slow_down(caller)
        return caller

    return check


async def _token(request: Request) -> str | None:
    """The token in the header or, of a form, in its field."""
    given = request.headers.get(CSRF_HEADER)
    if given is not None or not request.headers.get("content-type", "").startswith(FORMS):
        return given
    field = (await request.form()).get(CSRF_FIELD)
    return field if isinstance(field, str) else None
