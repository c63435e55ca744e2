"""The documentation builds without a warning and needs no network."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


class Requests(HTMLParser):
    """What a page loads by itself, and the pages it leads to."""

    def __init__(self) -> None:
        super().__init__()
        self.loads: list[str] = []
        self.leads: list[str] = []

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "a":
            self.leads.append(given.get("href") or "")
        elif tag == "link" and given.get("rel") != "canonical":
            self.loads.append(given.get("href") or "")
        self.loads += [given[name] or "" for name in ("src", "srcset", "data") if name in given]


def read(page: Path) -> Requests:
    found = Requests()
    found.feed(page.read_text(encoding="utf-8"))
    return found


def test_no_page_loads_anything_from_elsewhere(site):
    outside = re.compile(r"^(?:https?:)?//")
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 15
    loaded = [load for page in pages for load in read(page).loads if outside.match(load)]
    assert loaded == []
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert [link for text in styles for link in re.findall(r"url\(\"?https?:[^)]*", text)] == []


def test_every_page_is_there_and_listed(site):
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    names = {str(page.with_suffix(".html")).replace("README", "index") for page in pages}
    assert [name for name in sorted(names) if not (site / name).exists()] == []
    listed = {
        str((site / page).parent.joinpath(link.partition("#")[0]).relative_to(site))
        for page in ("index.html", "benchmarks.html")
        for link in read(site / page).leads
        if not link.startswith((".", "http"))
    }
    assert [name for name in sorted(names - {"index.html"}) if name not in listed] == []


def test_the_reference_comes_from_the_docstrings(site):
    page = (site / "reference" / "api.html").read_text(encoding="utf-8")
    assert "the rows the model was trained on" in page
    assert "macex.explain_file" in page


def test_pages_are_searched_and_are_dark_where_the_system_is(site):
    found = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert any(one["location"].startswith("gallery.html") for one in found["docs"])
    page = (site / "index.html").read_text(encoding="utf-8")
    assert re.search(r'data-md-color-media="\(prefers-color-scheme: dark\)"[^>]*"slate"', page)


def test_the_readme_lists_every_extra():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = (ROOT / "README.md").read_text(encoding="utf-8").partition("## Extras")[2]
    extras = project["optional-dependencies"]
    assert [extra for extra in extras if f"`{extra}`" not in listed] == []
