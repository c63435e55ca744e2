"""The report says the same in Markdown and in HTML, and needs no network."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from macex.bench.report.charts import bars, curves, scatter
from macex.bench.report.document import Document, ReportPicture, ReportSection, ReportTable
from macex.bench.report.html import page
from macex.bench.report.markdown import BEGIN, END, markdown
from macex.bench.report.pages import slug, write_pages
from macex.bench.report.pictures import STORY, pictures
from macex.errors import DataError

EVIL = "<script>alert(1)</script>"


@pytest.fixture
def document():
    table = ReportTable("Speed", ("cell", "ms"))
    table.add("adult", 1.25)
    table.add(EVIL, None)
    picture = ReportPicture("Dots", scatter({EVIL: (1, 2), "b": (2, 3)}, "x", "y"))
    return Document("Report", [ReportSection("Time", [table, "A note.", picture])])


def test_markdown_lines_up(document):
    text = markdown(document)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(line) for line in lines}) == 1
    assert "| adult" in text
    assert "<svg" not in text


def test_a_page_needs_nothing_else_and_escapes_names(document):
    html = page(document)
    assert EVIL not in html
    assert "<svg" in html
    assert not re.search(r"(src|href)=\"(?!#)|@import|url\(|https?:", html)


def test_a_page_without_a_place_for_tables_is_left_alone(tmp_path, document):
    path = tmp_path / "page.md"
    path.write_text("by hand")
    with pytest.raises(DataError, match="no place"):
        write_pages(document, path)
    assert path.read_text() == "by hand"
    path.write_text(f"{BEGIN}{END}")
    write_pages(document, path)
    write_pages(document, path)
    assert "adult" not in path.read_text()
    assert "[Time](page/time.md)" in path.read_text()
    assert (tmp_path / "page" / "time.md").read_text().count("adult") == 1


@pytest.mark.parametrize(
    "drawing",
    [
        scatter({}, "x", "y"),
        scatter({"a": (1, 1)}, "x", "y"),
        scatter({"a": (float("nan"), 1)}, "x", "y"),
        curves({"a": [(1, 0)]}, "x", "y"),
        curves({"a": [(1, 10), (10, 100)]}, "x", "y"),
        bars([]),
        bars([("a", 0.0)]),
    ],
)
def test_drawings_are_whole_whatever_is_drawn(drawing):
    assert drawing.svg().startswith("<svg")
    assert drawing.svg().endswith("</svg>")
    assert "nan" not in drawing.svg()


def test_a_steeper_line_ends_higher():
    def last(drawing):
        return float(
            re.findall(r"points=\"([^\"]*)\"", drawing.svg())[-1].split()[-1].split(",")[1]
        )

    flat = {"flat": [(1, 1), (100, 10)], "steep": [(1, 1), (100, 100)]}
    assert last(curves(flat, "x", "y")) < last(curves(dict(reversed(flat.items())), "x", "y"))


def test_the_story_is_on_the_page_and_each_table_on_one_of_its_own(tmp_path):
    front = ReportSection("What came out", ["All is well."], front=True)
    seeds = ReportTable("Mean over cells", ("method", "sparsity", "distance", "lof", "isolation"))
    seeds.add("default", "1.300 ± 0.010", "2.00 ± 0.10", "0.15 ± 0.01", "0.20 ± 0.01")
    seeds.add("[other]", "1.500 ± 0.020", "1.00 ± 0.10", "0.10 ± 0.01", "0.10 ± 0.01")
    document = Document("Report", [front, ReportSection("Seeds: 5", [seeds])])
    path = tmp_path / "benchmarks.md"
    (tmp_path / "benchmarks").mkdir()
    kept = tmp_path / "benchmarks" / "by-hand.md"
    kept.write_text("mine")
    write_pages(Document("Report", [front, ReportSection("Gone", ["old"])]), path)
    gone = tmp_path / "benchmarks" / "gone.md"
    assert gone.exists()
    write_pages(document, path)
    assert not gone.exists()
    assert kept.read_text() == "mine"
    text = path.read_text()
    assert "All is well." in text
    assert "1.300" not in text
    assert "changed columns: default 1.30, (other) 1.50" in text
    assert "1.300" in (tmp_path / "benchmarks" / "seeds-5.md").read_text()
    for name in re.findall(r"\((images/[^)]+|benchmarks/[^)]+)\)", text):
        assert (tmp_path / name).exists()


def test_the_pages_in_the_docs_were_written_by_this_code(tmp_path):
    docs = Path(__file__).parents[3] / "docs"
    text = (docs / "benchmarks.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 260
    shown = re.findall(r"\((images/benchmarks/[^)]+)\)", text)
    assert len(shown) == len(set(shown)) <= 10
    assert {docs / name for name in shown} == set((docs / "images" / "benchmarks").glob("*.svg"))
    behind = {
        docs / name for name in re.findall(r"^- .*\((benchmarks/[^)]+)\)", text, re.MULTILINE)
    }
    assert behind == set((docs / "benchmarks").glob("*.md"))


def test_there_are_at_most_ten_pictures_and_none_of_nothing():
    assert len({one.name for one in STORY}) == len(STORY) <= 10
    empty = [ReportSection(one.section, [ReportTable(one.table, ("a", "b"))]) for one in STORY]
    assert pictures(Document("Report", empty)) == []


def test_pages_are_named_by_their_titles():
    assert slug("The engine's cost") == "the-engine-s-cost"
