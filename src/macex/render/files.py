"""Writing a file whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Write a file at once: readers see the old one or the new one, never half of one.

    An error names the path as it was given, and leaves nothing behind.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        try:
            unfinished.write_bytes(content)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error
