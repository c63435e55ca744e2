"""API keys, which say who may do what, and the sessions of pages that keys have begun.

A key is shown once, when it is made, and kept as a digest only.
"""

from __future__ import annotations

import hmac
import secrets
import time
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal, get_args

from sqlalchemy import delete, insert, select
from sqlalchemy.exc import IntegrityError

from macex.errors import OptionError, closest
from macex.server.storage import tables
from macex.server.storage.tables import Store, now

Scope = Literal["read", "explain", "admin"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
PREFIX = "mx"


@dataclass(frozen=True)
class Key:
    """A key as it is kept; `projects` are those it is for, None for all."""

    id: str
    name: str
    digest: str
    scopes: tuple[Scope, ...]
    created: str
    projects: tuple[str, ...] | None = None


def digest_of(key: str) -> str:
    """What is kept of a key."""
    return sha256(key.encode()).hexdigest()


def checked_scopes(scopes: tuple[str, ...]) -> tuple[Scope, ...]:
    """Scopes in their order; each one holds those before it.

    >>> checked_scopes(("explain",))
    ('read', 'explain')
    """
    for scope in scopes:
        if scope not in SCOPES:
            raise OptionError(f"there is no scope {scope!r}{closest(scope, SCOPES)}")
    if not scopes:
        raise OptionError(f"a key needs a scope: {', '.join(SCOPES)}")
    return SCOPES[: max(SCOPES.index(scope) for scope in SCOPES if scope in scopes) + 1]


class Keys(Store):
    """The keys in a database."""

    def make(
        self, name: str, scopes: tuple[str, ...], projects: tuple[str, ...] | None = None
    ) -> str:
        """A new key, for some projects or all. It cannot be shown again."""
        held = checked_scopes(scopes)
        if not 1 <= len(name) <= 100:
            raise OptionError(f"the name of a key has 1 to 100 characters, not {len(name)}")
        identity, secret = secrets.token_hex(6), secrets.token_urlsafe(24)
        key = f"{PREFIX}_{identity}_{secret}"
        line: dict[str, str | None] = {"id": identity, "name": name, "digest": digest_of(key)}
        line |= {"scopes": " ".join(held), "created": now()}
        line |= {"projects": None if projects is None else " ".join(projects)}
        try:
            self._run(insert(tables.keys).values(line))
        except IntegrityError:
            raise OptionError(f"there is a key {name!r} already: revoke it first") from None
        return key

    def find(self, given: str) -> Key | None:
        """The key that was given, compared in constant time."""
        prefix, _, rest = given.partition("_")
        identity = rest.partition("_")[0]
        if prefix != PREFIX or len(identity) != 12 or not identity.isalnum():
            return None
        key = self.by_id(identity)
        same = hmac.compare_digest("" if key is None else key.digest, digest_of(given))
        return key if same else None

    def by_id(self, identity: str) -> Key | None:
        """The key with an id, unless it was revoked."""
        line = self._line(select(tables.keys).where(tables.keys.c.id == identity))
        return None if line is None else _key(line)

    def all(self) -> list[Key]:
        """Every key, oldest first."""
        return [_key(line) for line in self._lines(select(tables.keys).order_by("created"))]

    def revoke(self, name: str) -> None:
        """Make a key worthless from now on."""
        if not self._run(delete(tables.keys).where(tables.keys.c.name == name)):
            known = [key.name for key in self.all()]
            raise OptionError(f"there is no key {name!r}{closest(name, known)}")


def _key(line: dict[str, str]) -> Key:
    scopes, told = checked_scopes(tuple(line["scopes"].split())), line["projects"]
    projects = None if told is None else tuple(told.split())
    return Key(line["id"], line["name"], line["digest"], scopes, line["created"], projects)


class StoredSessions(Store):
    """The sessions in a database."""

    def add(self, key_id: str, lifetime_s: float) -> str:
        """A new session of a key; its id."""
        identity, now = secrets.token_hex(16), time.time()
        line = {"id": identity, "key": key_id, "until": int(now + lifetime_s)}
        old = delete(tables.sessions).where(tables.sessions.c.until < now)
        self._run(old, insert(tables.sessions).values(line))
        return identity

    def key_id(self, identity: str) -> str | None:
        """Whose session it is; None for one that is over."""
        line = self._line(select(tables.sessions).where(tables.sessions.c.id == identity))
        return None if line is None or line["until"] < time.time() else str(line["key"])

    def end(self, identity: str) -> None:
        """The session is over."""
        self._run(delete(tables.sessions).where(tables.sessions.c.id == identity))
