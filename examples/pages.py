"""Photograph the pages of the demo server: `python examples/pages.py docs/images`.

Needs `macex[server]`, playwright and a Chromium that is there already.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import uvicorn
from playwright.sync_api import Page, sync_playwright

from macex.render.exports import chromium
from macex.server import Settings, create_app

WIDE = {"width": 1280, "height": 860}
ROW = "/projects/adult/rows/1?want=%3E50K&n=3&may.marital_status=keep"


@contextmanager
def served() -> Iterator[str]:
    """The demo on a free port of this machine."""
    with TemporaryDirectory() as state:
        config = uvicorn.Config(create_app(Settings(state=Path(state))), port=0, log_level="error")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.05)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
        server.should_exit = True
        thread.join()


def photograph(page: Page, site: str, folder: Path) -> None:
    """One row with answers applied, its curve and map, the model at a glance, many rows."""
    page.set_default_timeout(120_000)
    page.goto(site + ROW)
    page.get_by_role("link", name="Apply: ").first.click()
    page.get_by_role("link", name="Apply to B: ").nth(1).click()
    page.locator("#verdicts .mx-verdict").nth(2).wait_for()
    page.wait_for_load_state("networkidle")
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=folder / "page-row.png")
    page.goto(f"{site}/projects/adult/rows/1?curve=hours_per_week&mapx=age&mapy=hours_per_week")
    page.locator("#map svg").wait_for()
    page.wait_for_load_state("networkidle")
    page.evaluate("document.querySelector('#whatif').scrollIntoView()")
    page.screenshot(path=folder / "page-whatif.png")
    page.goto(f"{site}/projects/adult/glance")
    page.locator("#importance").scroll_into_view_if_needed()
    page.locator("#importance svg").first.wait_for(timeout=120_000)
    page.evaluate("scrollTo(0, 0)")
    page.screenshot(path=folder / "page-glance.png")
    page.goto(f"{site}/projects/adult/cohort?decision=%3C%3D50K&where=age+%3E+60&want=%3E50K")
    page.get_by_role("button", name="Explain").click()
    page.locator("#plan .mx-figures").wait_for(timeout=300_000)
    page.screenshot(path=folder / "page-many.png")


def main() -> None:
    folder = Path(sys.argv[1])
    with served() as site, sync_playwright() as driver:
        options = ["--no-sandbox"]
        browser = driver.chromium.launch(executable_path=chromium(), args=options)
        photograph(browser.new_page(viewport=WIDE), site, folder)
        browser.close()


if __name__ == "__main__":
    main()
