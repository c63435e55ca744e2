"""Which code measured something: a hash of the package's sources.

What only writes reports is left out, so that a finished run can be written anew.
"""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

WRITES = ("bench/claims.py", "bench/command.py", "bench/story.py", "bench/writing.py")


@cache
def code_version() -> str:
    """Twelve digits that change with every line that can change a number.

    >>> len(code_version())
    12
    """
    root = Path(__file__).parents[1]
    found = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        name = path.relative_to(root).as_posix()
        if name not in WRITES and not name.startswith("bench/report/"):
            found.update(name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:12]
