"""Sessions of the page: a signed cookie that names a key, and a token against forged requests.

Nothing is kept on the server: the cookie says whose it is and until when, and is worth nothing
once the key is revoked or the secret is another.
"""

from __future__ import annotations

import hmac
import secrets
import time
from hashlib import sha256
from pathlib import Path

from macex.render.files import write_whole

COOKIE = "macex_session"
CSRF_HEADER = "X-CSRF-Token"
CSRF_FIELD = "csrf"


class Sessions:
    """Makes and reads session cookies."""

    def __init__(self, secret: bytes, lifetime_s: float) -> None:
        self._secret, self.lifetime_s = secret, lifetime_s

    def cookie(self, key_id: str) -> str:
        """A cookie for whoever has shown this key."""
        until = int(time.time() + self.lifetime_s)
        said = f"{key_id}.{until}.{secrets.token_hex(8)}"
        return f"{said}.{self._signed('session', said)}"

    def key_id(self, cookie: str) -> str | None:
        """Whose cookie this is; None for a forged or an old one."""
        said, _, signature = cookie.rpartition(".")
        if not said or not _same(signature, self._signed("session", said)):
            return None
        key_id, until, _ = said.split(".")
        return key_id if int(until) > time.time() else None

    def csrf(self, cookie: str) -> str:
        """The token that requests of this session must carry when they change something."""
        return self._signed("csrf", cookie)

    def forged(self, cookie: str, token: str | None) -> bool:
        """Whether a request does not come from the session's own page."""
        return token is None or not _same(token, self.csrf(cookie))

    def _signed(self, purpose: str, said: str) -> str:
        return hmac.new(self._secret, f"{purpose}:{said}".encode(), sha256).hexdigest()


def _same(given: str, own: str) -> bool:
    return hmac.compare_digest(given.encode(), own.encode())


def kept_secret(folder: Path) -> bytes:
    """The secret of a server, made once and readable by its user only."""
    path = folder / "secret"
    if not path.exists():
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_whole(path, secrets.token_bytes(32))
        path.chmod(0o600)
    return path.read_bytes()
