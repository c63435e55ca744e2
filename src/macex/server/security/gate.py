"""Who a request comes from, and whether it may do what it asks.

A server that only this machine can reach, and that has no keys, lets everybody in, or whoever first
opens the address that it prints. Any other wants a key: in the header `Authorization: Bearer KEY`,
or shown once on the page, which then has a session.
"""

from __future__ import annotations

import hmac
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import Response

from macex.errors import OptionError
from macex.server.problems import ProblemError
from macex.server.security.sessions import COOKIE, CSRF_FIELD, CSRF_HEADER, Sessions
from macex.server.storage.keys import SCOPES, Key, Keys, Scope, digest_of

if TYPE_CHECKING:
    from macex.server.settings import Settings


SAFE = ("GET", "HEAD", "OPTIONS")
REMEMBERED_S = 2.0
REMEMBERED = 1000
TRIES_PER_SECOND, TRIES_AT_ONCE = 1.0, 30
ADMIN, LOCAL = "admin", "local"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
KNOWN = "macex.caller"  # where the scope of a request says who sent it
PACE = "macex.pace"  # and how many more requests they may send
MOST_CALLERS = 10_000


@dataclass(frozen=True)
class Caller:
    """Whoever sent a request; `csrf` is the token of a session, empty without one.

    `projects` are those that the scopes are for, None for all.
    """

    name: str
    scopes: tuple[Scope, ...]
    key_id: str = ""
    csrf: str = ""
    projects: tuple[str, ...] | None = None

    def may(self, scope: Scope) -> bool:
        """Whether the caller has a scope."""
        return scope in self.scopes

    def sees(self, project: str) -> bool:
        """Whether a project is the caller's business."""
        return self.projects is None or project in self.projects

    @property
    def signature(self) -> dict[str, str]:
        """What records and log lines say of the caller: never the key."""
        return {"key": self.key_id, "name": self.name}

    @property
    def everywhere(self) -> bool:
        """Whether the scopes are for the server as a whole."""
        return self.projects is None


EVERYBODY = Caller(LOCAL, SCOPES, LOCAL)


class Gate:
    """Lets callers in."""

    def __init__(self, settings: Settings, keys: Keys, sessions: Sessions) -> None:
        """Refuse to serve the world without keys."""
        self._settings, self._keys, self.sessions = settings, keys, sessions
        self._rates = Rates(settings.requests_per_second, settings.requests_at_once)
        self._tries = Rates(TRIES_PER_SECOND, TRIES_AT_ONCE)
        self._known: dict[str, tuple[float, Key]] = {}
        self._any: tuple[float, bool] = (0.0, False)
        self._asking = CapacityLimiter(8)  # threads that wait for the database
        self._redeeming = Lock()
        self.token = secrets.token_urlsafe(24) if settings.token else ""
        if not settings.local and settings.admin_key is None and not keys.all():
            raise OptionError(
                f"host {settings.host} can be reached from other machines, and there is no key: "
                "make one with `macex key new NAME`, or set MACEX_ADMIN_KEY"
            )

    @property
    def unlocked(self) -> bool:
        """Whether no key is needed; a token may be."""
        if not self._settings.local or self._settings.admin_key is not None:
            return False
        if time.monotonic() > self._any[0]:
            self._any = (time.monotonic() + REMEMBERED_S, bool(self._keys.all()))
        return not self._any[1]

    @property
    def printed(self) -> bool:
        """Whether the way in is the address that the server printed."""
        return self._settings.token and self.unlocked

    @property
    def open(self) -> bool:
        """Whether everybody may do everything."""
        return not self._settings.token and self.unlocked

    async def identify(self, request: Request) -> Caller | None:
        """Who sent a request, looked up off the event loop once, and kept with the request."""
        if KNOWN not in request.scope:
            remembered = self._remembered(request)
            request.scope[KNOWN] = remembered or await to_thread.run_sync(
                self._caller, request, limiter=self._asking
            )
        caller: Caller | None = request.scope[KNOWN]
        return caller

    def _remembered(self, request: Request) -> Caller | None:
        """Who sent a request, if that is known without the database."""
        local = self._settings.local and self._settings.admin_key is None
        until, keys = self._any
        if local and not self._settings.token and not keys and time.monotonic() <= until:
            return EVERYBODY
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer":
            return None
        until, key = self._known.get(digest_of(given.strip()), (0.0, None))
        return None if key is None or time.monotonic() > until else _holder(key)

    def _caller(self, request: Request) -> Caller | None:
        if self.open:
            return EVERYBODY
        kind, _, given = request.headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer":
            key = self.shown(given.strip(), request)
            return None if key is None else _holder(key)
        return self._of_session(request.cookies.get(COOKIE, ""))

    def shown(self, given: str, request: Request) -> Key | None:
        """The key that was shown; a caller who shows several wrong keys has to wait."""
        key = self.key(given)
        if key is None:
            self.tried(request)
        return key

    def tried(self, request: Request) -> None:
        """Count what was shown in vain; too much of it from one place is an error."""
        place = "" if request.client is None else request.client.host
        if wait := self._tries.wait(place):
            raise ProblemError(
                429, "too many wrong keys", headers={"Retry-After": str(math.ceil(wait))}
            )

    def key(self, given: str) -> Key | None:
        """The key with this text, remembered for a moment."""
        digest = digest_of(given)
        until, key = self._known.get(digest, (0.0, None))
        if key is not None and time.monotonic() <= until:
            return key
        key = self._admin(given) or self._keys.find(given)
        if len(self._known) > REMEMBERED:
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
        csrf = self.sessions.csrf(cookie)
        if key_id == LOCAL:
            return Caller(LOCAL, SCOPES, LOCAL, csrf) if self.unlocked else None
        if key_id == self._admin_id:
            return Caller(ADMIN, SCOPES, key_id, csrf)
        key = self._keys.by_id(key_id)
        return None if key is None else _holder(key, csrf)

    def sign_in(self, request: Request, response: Response, given: str) -> Caller:
        """Begin a session for a caller with a key; the cookie goes with the response."""
        key = self.shown(given, request)
        if key is None:
            raise ProblemError(401, "this is not a key of this server", code="wrong_key")
        return _holder(key, self._begin(request, response, key.id))

    def redeem(self, request: Request, response: Response, given: str) -> None:
        """Begin a session for the caller who shows the printed token; it works once."""
        with self._redeeming:
            own, same = self.token, hmac.compare_digest(digest_of(self.token), digest_of(given))
            if own and same and self.unlocked:
                self.token = ""
                self._begin(request, response, LOCAL)
                return
        self.tried(request)
        raise ProblemError(
            401, "this address was opened before: start the server again for another one"
        )

    def _begin(self, request: Request, response: Response, key_id: str) -> str:
        cookie = self.sessions.begin(key_id)
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=int(self.sessions.lifetime_s),
            httponly=True,
            samesite="lax",
            secure=request.url.scheme == "https",
        )
        return self.sessions.csrf(cookie)

    async def pace(self, request: Request) -> None:
        """Raise for a known caller who asks too often, before anything else is done for them."""
        if (caller := await self.identify(request)) is not None:
            self.slow_down(request, caller)

    def slow_down(self, request: Request, caller: Caller) -> None:
        """Raise for a caller who asks too often; a server for one machine sets no pace."""
        if caller.key_id == LOCAL or PACE in request.scope:
            return
        wait, left = self._rates.take(caller.key_id)
        pace, most = self._settings.requests_per_second, self._settings.requests_at_once
        request.scope[PACE] = {
            "RateLimit-Limit": str(most),
            "RateLimit-Remaining": str(int(left)),
            "RateLimit-Reset": str(math.ceil((most - left) / pace)),
        }
        if wait:
            raise ProblemError(
                429,
                f"key {caller.name!r} may ask {pace:g} times a second",
                headers={"Retry-After": str(math.ceil(wait))},
            )


def _holder(key: Key, csrf: str = "") -> Caller:
    return Caller(key.name, key.scopes, key.id, csrf, key.projects)


def caller_of(request: Request) -> Caller | None:
    """Who sent a request, as far as that was looked up."""
    caller: Caller | None = request.scope.get(KNOWN)
    return caller


async def known(request: Request) -> Caller:
    """A dependency of routes: the caller, who must be known."""
    gate: Gate = request.app.state.server.gate
    caller = await gate.identify(request)
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
            said = f"key {caller.name!r} lacks the scope {scope!r}"
            raise ProblemError(403, said, code="scope_needed")
        project = request.path_params.get("name")
        if project is not None and not caller.sees(project):
            raise ProblemError(404, f"there is no project {project!r}", code="unknown_project")
        if caller.csrf and request.method not in SAFE:
            cookie = request.cookies.get(COOKIE, "")
            if gate.sessions.forged(cookie, await _token(request)):
                said = f"the request lacks the session's {CSRF_HEADER}"
                raise ProblemError(403, said, code="forged")
        gate.slow_down(request, caller)
        return caller

    return check


async def _token(request: Request) -> str | None:
    """The token in the header or, of a form, in its field."""
    given = request.headers.get(CSRF_HEADER)
    if given is not None or not request.headers.get("content-type", "").startswith(FORMS):
        return given
    field = (await request.form()).get(CSRF_FIELD)
    return field if isinstance(field, str) else None


class Rates:
    """A bucket for each caller.

    >>> clock = iter([0.0, 0.0, 0.0, 1.0])
    >>> rates = Rates(per_second=1, at_once=2, clock=lambda: next(clock))
    >>> [rates.wait("me") for _ in range(4)]
    [0.0, 0.0, 1.0, 0.0]
    """

    def __init__(
        self, per_second: float, at_once: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate, self._most, self._clock = per_second, float(at_once), clock
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = Lock()

    def wait(self, caller: str) -> float:
        """Take a token; 0 if there was one, else the seconds until there is."""
        return self.take(caller)[0]

    def take(self, caller: str) -> tuple[float, float]:
        """Take a token; how long to wait for one, 0 if there was one, and how many are left."""
        with self._lock:
            now = self._clock()
            tokens, since = self._buckets.pop(caller, (self._most, now))
            tokens = min(self._most, tokens + (now - since) * self._rate)
            taken = tokens >= 1
            self._buckets[caller] = (tokens - taken, now)
            if len(self._buckets) > MOST_CALLERS:
                self._buckets.popitem(last=False)
        return (0.0, tokens - 1) if taken else ((1 - tokens) / self._rate, 0.0)
