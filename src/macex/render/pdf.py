"""A page on paper, by a Chromium or Chrome that is there already."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

from macex.errors import RenderError

PROGRAMS = (
    "chromium",
    "chromium-headless-shell",
    "chromium-browser",
    "google-chrome",
    "chrome",
)
PATIENCE_S = 300


def chromium() -> str | None:
    """The browser: what the variable MACEX_CHROMIUM names, or one by its usual names."""
    named = os.environ.get("MACEX_CHROMIUM")
    if named:
        return which(named)
    return next((path for path in map(which, PROGRAMS) if path is not None), None)


def pdf_bytes(page: str) -> bytes:
    """A page as PDF."""
    browser = chromium()
    if browser is None:
        raise RenderError(
            "a PDF needs Chromium or Chrome: install one, or name it in the environment variable "
            "MACEX_CHROMIUM; to_html() needs neither"
        )
    with TemporaryDirectory() as folder:
        source, target = Path(folder, "page.html"), Path(folder, "page.pdf")
        source.write_text(page, encoding="utf-8")
        said = _printed(browser, source, target)
        if not target.exists():
            raise RenderError(f"{browser} made no PDF: {said.strip()[-500:] or 'it said nothing'}")
        return target.read_bytes()


def _printed(browser: str, source: Path, target: Path) -> str:
    """Print a page to a file; what the browser said."""
    root = hasattr(os, "geteuid") and os.geteuid() == 0  # for which Chromium refuses its sandbox
    options = [
        "--headless",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--no-first-run",
        "--no-pdf-header-footer",
        f"--user-data-dir={source.parent / 'profile'}",
        f"--print-to-pdf={target}",
        *(["--no-sandbox"] if root else []),
    ]
    try:
        done = subprocess.run(  # noqa: S603 - the program the user has, and our own page
            [browser, *options, source.as_uri()],
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RenderError(f"{browser} could not print the page: {error}") from error
    return done.stderr.decode(errors="replace")
