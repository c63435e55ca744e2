"""The demo runs from start to end and writes a self-contained page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SEARCHES = ("exhaustive", "reinforce", "gradientless")


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """What the demo printed, and the folder it ran in."""
    folder = tmp_path_factory.mktemp("demo")
    done = subprocess.run(
        [sys.executable, ROOT / "examples" / "demo.py"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, folder


@pytest.mark.parametrize("search", SEARCHES)
def test_the_demo_shows_every_search_with_tables_and_actions(demo, search):
    output, _ = demo
    _, after = output.split(f"Search: {search}\n")
    part = after.split("Search: ")[0]
    assert part.count("Original") >= 2
    assert part.count("Actions") >= 2
    assert "the model would have decided >50K" in part
    assert "the model would have decided <=50K" in part


def test_the_demo_shows_a_question_without_an_answer(demo):
    output, _ = demo
    assert "no answer (none)" in output
    assert "Dropping one of these would give an answer" in " ".join(output.split())


def test_the_demo_fits_a_terminal(demo):
    output, folder = demo
    lines = [line for line in output.splitlines() if str(folder) not in line]
    assert [line for line in lines if len(line) > 100] == []


def test_the_report_asks_for_nothing_outside_itself(demo):
    output, folder = demo
    page = folder / "macex-report.html"
    assert str(page) in output
    text = page.read_text(encoding="utf-8")
    assert text.count("<section") >= 20
    assert re.findall(r"(?:src|href|action)\s*=|url\(|@import|<script|<link", text) == []


def test_the_picture_is_that_of_the_demo():
    sys.path.insert(0, str(ROOT / "examples"))
    try:
        import picture
    finally:
        sys.path.pop(0)
    kept = (ROOT / "docs" / "images" / "explanation.svg").read_text(encoding="utf-8")
    assert picture.drawn(picture.explained()) == kept
