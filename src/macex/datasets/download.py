"""Fetching a file over HTTP: resumed where it broke off, whole or not there at all.

What has arrived lies beside the final place under the name `*.part`. It takes the final name only
when its length and its checksum are right.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from macex.errors import DataError

PIECE = 1 << 16
SECONDS = 30.0  # without a byte arriving
Arrived = Callable[[int, int | None], None]  # bytes so far, bytes in all if known


def fetch(
    url: str,
    path: Path,
    *,
    md5: str | None = None,
    sha256: str | None = None,
    timeout: float = SECONDS,
    progress: bool = False,
) -> Path:
    """The file behind `url` at `path`; an error leaves nothing under that name."""
    part = path.with_name(f"{path.name}.part")
    path.parent.mkdir(parents=True, exist_ok=True)
    with _bar(path.name, show=progress) as arrived:
        try:
            _continue(url, part, timeout, arrived)
        except urllib.error.HTTPError as error:
            raise DataError(f"{url} answered {error.code} {error.reason}") from error
        except (OSError, http.client.HTTPException) as error:
            raise DataError(f"{url} could not be fetched: {_said(error)}") from error
    _check(url, part, md5, sha256)
    part.replace(path)
    return path


def _continue(url: str, part: Path, timeout: float, arrived: Arrived) -> None:
    """Ask for the missing bytes and append them; for all of them if the server knows no parts."""
    have = part.stat().st_size if part.exists() else 0
    try:
        reply = _asked(url, have, timeout)
    except urllib.error.HTTPError as error:
        if not have or error.code != http.HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
            raise
        part.unlink()
        have, reply = 0, _asked(url, 0, timeout)
    with reply:
        if reply.status != http.HTTPStatus.PARTIAL_CONTENT:
            have = 0
        length = reply.headers.get("Content-Length")
        total = None if length is None else have + int(length)
        with part.open("ab" if have else "wb") as file:
            while piece := reply.read(PIECE):
                have += file.write(piece)
                arrived(have, total)
    if total is not None and have < total:
        raise DataError(f"{url} broke off after {have:,} of {total:,} bytes; call again to go on")


def _asked(url: str, have: int, timeout: float) -> Any:
    if not url.startswith(("http://", "https://")):
        raise DataError(f"{url!r} is no web address: it must begin with http:// or https://")
    headers = {"User-Agent": "macex", **({"Range": f"bytes={have}-"} if have else {})}
    request = urllib.request.Request(url, headers=headers)  # noqa: S310 - checked above
    return urllib.request.urlopen(request, timeout=timeout)  # noqa: S310 - the same


def _check(url: str, part: Path, md5: str | None, sha256: str | None) -> None:
    for kind, expected in (("md5", md5), ("sha256", sha256)):
        if expected is None:
            continue
        found = digest(part, kind)
        if found != expected:
            part.unlink()
            raise DataError(
                f"{url} is not the file that was expected: its {kind} begins with {found[:12]}, "
                f"not {expected[:12]}"
            )


def digest(path: Path, kind: str = "sha256") -> str:
    """The checksum of a file, in hexadecimal digits."""
    fresh = hashlib.new(kind, usedforsecurity=False)
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: fresh).hexdigest()


def cache_folder() -> Path:
    """Where fetched files are kept: MACEX_CACHE, or the place the system has for such files."""
    given = os.environ.get("MACEX_CACHE")
    if given:
        return Path(given)
    if os.name == "nt":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "macex"
    if os.uname().sysname == "Darwin":
        return Path.home() / "Library" / "Caches" / "macex"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "macex"


def _said(error: BaseException) -> str:
    reason = getattr(error, "reason", error)
    return "no answer in time" if isinstance(reason, TimeoutError) else f"{reason}"


@contextmanager
def _bar(name: str, *, show: bool) -> Iterator[Arrived]:
    """A bar on the terminal, or silence."""
    if not show:
        yield lambda _have, _total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as bar:
        task = bar.add_task(name, total=None)
        yield lambda have, total: bar.update(task, completed=have, total=total)
