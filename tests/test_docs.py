"""What the README and the docs say is true: examples run and print what is shown, links lead on.

`python tests/test_docs.py` writes the outputs anew.
"""

from __future__ import annotations

import io
import os
import re
from contextlib import chdir, redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import macex

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
EXAMPLE = re.compile(
    r"```python\n(?P<code>.*?)```\n(?:(?P<gap>\n+)```text\n(?P<shown>.*?)```\n)?", re.DOTALL
)
LINK = re.compile(r"\]\((?P<link>[^)\s]+)\)|(?:src|href)=\"(?P<html>[^\"]+)\"")
FENCED = re.compile(r"```.*?```", re.DOTALL)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def replayed(text: str) -> str:
    """A page with every output as its examples print it today, run in order in one namespace."""
    namespace: dict[str, object] = {"__name__": "example"}

    def replay(example: re.Match[str]) -> str:
        printed = io.StringIO()
        with redirect_stdout(printed):
            exec(compile(example["code"], "example", "exec"), namespace)  # noqa: S102
        shown = "\n".join(line.rstrip() for line in printed.getvalue().splitlines())
        if example["shown"] is None:
            return example[0]
        return f"```python\n{example['code']}```\n{example['gap']}```text\n{shown}\n```\n"

    with TemporaryDirectory() as folder, chdir(folder):
        return EXAMPLE.sub(replay, text)


def slug(heading: str) -> str:
    """A heading as links write it.

    >>> slug("What `minimal` means, and does not")
    'what-minimal-means-and-does-not'
    """
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page: Path) -> set[str]:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    return {slug(line.lstrip("#")) for line in text.splitlines() if line.startswith("#")}


def links(page: Path) -> list[str]:
    text = FENCED.sub("", page.read_text(encoding="utf-8"))
    found = [match["link"] or match["html"] for match in LINK.finditer(text)]
    return [link for link in found if not link.startswith(("https://", "mailto:"))]


every_page = pytest.mark.parametrize("page", PAGES, ids=named)


@every_page
def test_examples_run_and_print_what_the_page_shows(page):
    text = page.read_text(encoding="utf-8")
    assert replayed(text) == text


@every_page
def test_links_lead_somewhere(page):
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_page_can_be_reached_from_the_readme():
    seen, todo = set(), [PAGES[0]]
    while todo:
        page = todo.pop()
        seen.add(page)
        targets = {(page.parent / link.partition("#")[0]).resolve() for link in links(page)}
        todo += [target for target in targets if target.suffix == ".md" and target not in seen]
    assert [named(page) for page in PAGES if page not in seen] == []


@pytest.mark.parametrize("name", macex.__all__)
def test_every_public_name_is_in_the_reference(name):
    reference = (ROOT / "docs" / "reference" / "names.md").read_text(encoding="utf-8")
    assert re.search(rf"`{name}\b", reference)


def test_the_gallery_answers_ten_questions():
    page = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    _, *answers = re.split(r"(?m)^## \d+\. .+\?$", page)
    assert len(answers) == 10
    assert all("```python" in answer for answer in answers)
    assert page.count("](images/gallery/") >= 8


def test_a_wrong_output_is_noticed():
    page = "```python\nprint(1 + 1)\n```\n\n```text\n3\n```\n"
    assert replayed(page) == page.replace("3", "2")


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for path in PAGES:
        path.write_text(replayed(path.read_text(encoding="utf-8")), encoding="utf-8")
