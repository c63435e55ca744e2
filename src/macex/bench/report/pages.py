"""The report as pages of the docs: the story on one, and behind it a page for every section."""

from __future__ import annotations

import re
from pathlib import Path

from macex.bench.report.document import Document, ReportSection
from macex.bench.report.markdown import BEGIN, END, around, sectioned
from macex.bench.report.pictures import DrawnPicture, pictures
from macex.render.exports import write_whole

MARK = "<!-- bench: this page is written by the benchmark -->"


def write_pages(document: Document, path: Path) -> None:
    """Write the story between the two marks of a page, and its tables into the folder of its name.

    Pictures go to `images` beside it. Pages of an earlier run that this one has no table for go.
    """
    before, after = around(path) if path.exists() else (f"# {document.title}\n\n", "\n")
    folder, shown = path.with_suffix(""), path.parent / "images" / path.stem
    drawn = pictures(document)
    for folder_, ending in ((folder, "*.md"), (shown, "*.svg")):
        folder_.mkdir(parents=True, exist_ok=True)
        for old in sorted(folder_.glob(ending)):
            if ending == "*.svg" or old.read_text(encoding="utf-8").startswith(MARK):
                old.unlink()
    for one in drawn:
        one.chart.to_svg(shown / f"{one.name}.svg")
    behind = [section for section in document.sections if not section.front]
    for section in behind:
        text = (
            f"{MARK}\n\n# {section.title}\n\n{_back(path)}\n\n{sectioned(section, heading=False)}"
        )
        write_whole(folder / f"{slug(section.title)}.md", f"{text}\n".encode())
    front = [section for section in document.sections if section.front]
    body = "\n\n".join(
        [
            *map(sectioned, front[:-1]),
            *([_pictured(drawn, path)] if drawn else []),
            _contents(behind, path),
            *map(sectioned, front[-1:]),
        ]
    )
    write_whole(path, f"{before}{BEGIN}\n\n{body}\n\n{END}{after}".encode())


def slug(title: str) -> str:
    """The name of a section's page.

    >>> slug("Table 1: one counterfactual, XGBoost")
    'table-1-one-counterfactual-xgboost'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def _back(path: Path) -> str:
    return f"Part of the [benchmarks](../{path.name}), which say how to read it."


def _pictured(drawn: list[DrawnPicture], path: Path) -> str:
    """Every picture under a title, with the way to its numbers."""
    parts = ["## In pictures"]
    for one in drawn:
        words = str(one.chart).replace("[", "(").replace("]", ")")
        link = f"{path.stem}/{slug(one.section)}.md"
        image = f"![{words}](images/{path.stem}/{one.name}.svg)"
        parts.append(f"### {one.title}\n\n{image}\n\nThe numbers: [{one.section}]({link}).")
    return "\n\n".join(parts)


def _contents(sections: list[ReportSection], path: Path) -> str:
    lines = [f"- [{one.title}]({path.stem}/{slug(one.title)}.md)" for one in sections]
    return "\n".join(["## The tables", "", *lines])
