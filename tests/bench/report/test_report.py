"""The report says the same in Markdown and in HTML, and needs no network."""

from __future__ import annotations

import re

import pytest

from macex.bench.report.document import Document, ReportPicture, ReportSection, ReportTable
from macex.bench.report.html import page
from macex.bench.report.markdown import BEGIN, END, markdown, write_markdown
from macex.bench.report.svg import bars, curves, scatter
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
        write_markdown(document, path)
    assert path.read_text() == "by hand"
    path.write_text(f"{BEGIN}{END}")
    write_markdown(document, path)
    write_markdown(document, path)
    assert path.read_text().count("adult") == 1


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
    assert drawing.startswith("<svg")
    assert drawing.endswith("</svg>")
    assert "nan" not in drawing


def test_a_steeper_line_ends_higher():
    def last(drawing):
        return float(re.findall(r"points=\"([^\"]*)\"", drawing)[-1].split()[-1].split(",")[1])

    flat = {"flat": [(1, 1), (100, 10)], "steep": [(1, 1), (100, 100)]}
    assert last(curves(flat, "x", "y")) < last(curves(dict(reversed(flat.items())), "x", "y"))
