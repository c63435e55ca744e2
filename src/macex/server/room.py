"""Whether there is room on the disk for what is going to stay."""

from __future__ import annotations

import shutil

from macex.server.problems import ProblemError
from macex.server.settings import MEBIBYTE, Settings


def require_room(settings: Settings) -> None:
    """Raise where the disk of the state folder is nearly full."""
    if shutil.disk_usage(settings.state).free < settings.free_mb * MEBIBYTE:
        said = f"less than {settings.free_mb:,} MB are left on the server: remove projects or jobs"
        raise ProblemError(507, said)
