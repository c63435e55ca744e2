"""Looking at a page: opened without any network, measured, photographed."""

from __future__ import annotations

import os
from contextlib import contextmanager
from pathlib import Path

DESK, WIDE, PHONE = 1280, 900, 380
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
FAINT = """
() => {
  const light = c => { const v = c.map(x => x / 255).map(x => x <= 0.04045 ? x / 12.92
    : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
  const parts = text => text.match(/[\\d.]+/g).map(Number);
  const behind = node => { for (; node; node = node.parentElement) {
    const c = parts(getComputedStyle(node).backgroundColor);
    if (c.length === 3 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const faint = [];
  for (let text = walk.nextNode(); text; text = walk.nextNode()) {
    const node = text.parentElement;
    if (!text.data.trim() || !node.closest('.macex')) continue;
    if (['STYLE', 'title'].includes(node.tagName)) continue;
    const [a, b] = [light(parts(getComputedStyle(node).color)), light(behind(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faint.push([text.data.trim(), ratio]);
  }
  return faint;
}
"""


@contextmanager
def opened(browser, html: str, *, scheme="light", media="screen"):
    """A page of this HTML; every request it makes is refused and kept as `page.asked`."""
    context = browser.new_context(color_scheme=scheme, viewport={"width": WIDE, "height": 800})
    asked = []

    def refuse(route):
        asked.append(route.request.url)
        route.abort()

    context.route("**/*", refuse)
    page = context.new_page()
    page.emulate_media(media=media, color_scheme=scheme)
    page.set_content(html)
    page.asked = asked
    yield page
    context.close()


def looks(page):
    """The name of each way to see a page, while it is seen so."""
    for scheme in ("light", "dark"):
        page.emulate_media(media="screen", color_scheme=scheme)
        for width in (DESK, WIDE, PHONE):
            page.set_viewport_size({"width": width, "height": 800})
            yield f"{scheme}-{width}"


def photographed(page, name: str, folder: Path) -> None:
    """A picture of the whole page, kept where MACEX_PICTURES says."""
    kept = Path(os.environ.get("MACEX_PICTURES", folder))
    kept.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=kept / f"{name}.png", full_page=True)
    assert (kept / f"{name}.png").stat().st_size > 5000
