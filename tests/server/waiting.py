"""Waiting for jobs of a real server."""

from __future__ import annotations

import time
from typing import Any

import httpx

API = "/api/v1"


def ended(client: httpx.Client, identity: str, seconds: float = 300) -> dict[str, Any]:
    """A job by its id, when it is at its end; the client is of the server, or of its API."""
    root = "" if client.base_url.path.startswith(API) else API
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        job = client.get(f"{root}/jobs/{identity}").json()
        if job["status"] not in ("queued", "running"):
            return job
        time.sleep(0.05)
    raise TimeoutError(job)
