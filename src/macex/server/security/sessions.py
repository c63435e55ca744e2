"""Sessions of the page: a signed cookie that names a session, and a token against forged requests.

The session itself is in the database until it ends: by signing out, by its time, or because its key
is revoked.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from macex.render.exports import write_whole
from macex.server.storage.keys import StoredSessions

COOKIE = "macex_session"
CSRF_HEADER = "X-CSRF-Token"
CSRF_FIELD = "csrf"


class Sessions:
    """Makes, reads and ends sessions."""

    def __init__(self, secret: bytes, lifetime_s: float, stored: StoredSessions) -> None:
        self.lifetime_s, self._stored = lifetime_s, stored
        self._cookies = URLSafeSerializer(secret, salt="macex session")
        self._tokens = URLSafeSerializer(secret, salt="macex csrf")

    def begin(self, key_id: str) -> str:
        """The cookie of a new session of this key."""
        return str(self._cookies.dumps(self._stored.add(key_id, self.lifetime_s)))

    def identity(self, cookie: str) -> str | None:
        """The session that a cookie names; None for a forged one."""
        return _signed(self._cookies, cookie, str)

    def key_id(self, cookie: str) -> str | None:
        """Whose session this is; None for one that is forged or over."""
        identity = self.identity(cookie)
        return None if identity is None else self._stored.key_id(identity)

    def end(self, cookie: str) -> None:
        """End the session, even where its cookie is kept."""
        if (identity := self.identity(cookie)) is not None:
            self._stored.end(identity)

    def csrf(self, cookie: str) -> str:
        """The token that requests of this session must carry when they change something.

        It differs each time, so that a compressed page does not give it away.
        """
        return str(self._tokens.dumps([self.identity(cookie), secrets.token_hex(4)]))

    def forged(self, cookie: str, token: str | None) -> bool:
        """Whether a request does not come from the session's own page."""
        identity, said = self.identity(cookie), _signed(self._tokens, token or "", list)
        return identity is None or said is None or said[0] != identity


def _signed(signer: URLSafeSerializer, text: str, kind: type) -> Any:
    try:
        said = signer.loads(text)
    except BadData:
        return None
    return said if isinstance(said, kind) else None


def kept_secret(folder: Path) -> bytes:
    """The secret of a server, made once and readable by its user only."""
    path = folder / "secret"
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, secrets.token_bytes(32))
        path.chmod(0o600)
    return path.read_bytes()
