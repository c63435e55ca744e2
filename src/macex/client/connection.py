"""Requests to a server, sent again where it says to come back.

A server that is busy, whose database or model is away, or that sets a pace answers 503 or 429 with
`Retry-After`. That is waited for, within bounds. One that makes something has an `Idempotency-Key`
beside, so that it may also be sent again when its answer is lost.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from macex import errors
from macex.errors import ServerError

API = "/api/v1"
ERROR = "urn:macex:error:"
AGAIN = (429, 503)
PENDING = "idempotency_pending"  # the code of a 409: the same request is being answered
LOST_S = 1.0  # after which a request whose answer was lost is sent again
LONGEST_S = 3600.0


class Connection:
    """A kept connection to a server."""

    def __init__(self, url: str, key: str | None, timeout_s: float, wait_s: float) -> None:
        """`timeout_s` bounds one answer; `wait_s` how long in all a server is come back to."""
        try:
            import httpx
        except ImportError as error:
            raise ImportError("httpx is not installed: pip install macex[client]") from error
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout_s)
        self._failure, self._url, self._wait_s = httpx.TransportError, url, wait_s

    def close(self) -> None:
        """Close it."""
        self._http.close()

    def answer(self, method: str, path: str, body: Any = None, once: str = "") -> Any:
        """A response, if all is well; otherwise the error that the server names.

        `once` is the `Idempotency-Key` of a request that makes something.
        """
        headers = {"Idempotency-Key": once} if once else {}
        until = time.monotonic() + self._wait_s

        def send() -> Any:
            return self._http.request(method, f"{API}{path}", json=body, headers=headers)

        while True:
            response, pause, error = self._sent(send, again=bool(once))
            if error is None:
                return response
            if pause is None or time.monotonic() + pause > until:
                raise error
            time.sleep(pause)

    def _sent(self, send: Callable[[], Any], *, again: bool) -> tuple[Any, float | None, Any]:
        """A response, when it may be sent again, and the error that it is otherwise."""
        try:
            response = send()
        except self._failure as error:
            said = ServerError(f"{self._url} cannot be reached: {error}", status=0)
            said.__cause__ = error
            return None, LOST_S if again else None, said
        if response.status_code < 400:
            return response, None, None
        return response, _pause(response), _error(response)


def _pause(response: Any) -> float | None:
    """When the server wants to be asked again; None where that would not help."""
    busy = response.status_code in AGAIN
    if not busy and not (response.status_code == 409 and PENDING in response.text):
        return None
    try:
        return min(max(0.0, float(response.headers["retry-after"])), LONGEST_S)
    except (KeyError, ValueError):
        return None


def _error(response: Any) -> errors.MacexError:
    """The error that a response speaks of."""
    try:
        said = response.json()
        kind, detail = str(said["type"]), str(said["detail"])
    except (ValueError, KeyError, TypeError):
        kind, detail = "", response.text[:500]
    known = getattr(errors, kind.removeprefix(ERROR), None) if kind.startswith(ERROR) else None
    if isinstance(known, type) and issubclass(known, errors.MacexError):
        return known(detail)
    return ServerError(
        f"the server answered {response.status_code}: {detail}", status=response.status_code
    )
