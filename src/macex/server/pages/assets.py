"""The files that every page needs: one style sheet, one module and its parts.

They are read once and served by name; no name that comes with a request becomes a path.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files

from macex.render.palette import DARK, LIGHT, PRINT
from macex.server.pages.environment import templates

KINDS = {
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
}


@cache
def assets() -> dict[str, bytes]:
    """The content of each file, by name."""
    folder = files("macex.server.pages").joinpath("static")
    found = {file.name: file.read_bytes() for file in folder.iterdir() if "." in file.name}
    palettes = {"light": LIGHT, "dark": DARK, "paper": PRINT}
    names = ("style.css.j2", "live.css.j2")
    shared = [templates().get_template(name).render(palettes).encode() for name in names]
    found["pages.css"] = b"\n".join([*shared, found["pages.css"]])
    return found


@cache
def version() -> str:
    """Changes whenever a file does, so that browsers may keep files for ever."""
    content = b"".join(assets()[name] for name in sorted(assets()))
    return sha256(content).hexdigest()[:12]
