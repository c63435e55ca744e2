"""A real browser for tests that look at pages."""

from __future__ import annotations

import os
from shutil import which

import pytest

PATIENCE_MS = 30_000  # on a busy machine a page takes its time


def chromium() -> str | None:
    """The browser: what MACEX_CHROMIUM names, else Debian's."""
    names = [os.environ.get("MACEX_CHROMIUM", ""), "chromium", "chromium-headless-shell"]
    return next((path for path in map(which, filter(None, names)) if path), None)


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    path = chromium()
    if path is None:
        pytest.skip("no Chromium here")
    playwright.expect.set_options(timeout=PATIENCE_MS)
    with playwright.sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()
