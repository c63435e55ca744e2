"""The report in Markdown, aligned for a terminal as well; drawings are left out."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from macex.bench.report.document import Block, Document, ReportPicture, ReportSection, ReportTable
from macex.errors import DataError
from macex.render.exports import write_whole

BEGIN = "<!-- bench: what follows is written by the benchmark -->"
END = "<!-- bench: what follows is written by hand -->"
SUMMARY, SUMMARY_END = "<!-- bench -->", "<!-- /bench -->"


def markdown(document: Document) -> str:
    """The whole report."""
    return "\n\n".join([f"# {document.title}", *map(sectioned, document.sections)]) + "\n"


def around(path: Path) -> tuple[str, str]:
    """What a page has before and after the place for the tables."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise DataError(
            f"{str(path)!r} exists and has no place for the tables: it needs the lines {BEGIN!r} "
            f"and {END!r}, or name a new file"
        )
    return before, after


def write_summary(table: ReportTable, path: Path) -> None:
    """Write one table into a page, between its two marks for that."""
    before, begin, rest = path.read_text(encoding="utf-8").partition(SUMMARY)
    _, end, after = rest.partition(SUMMARY_END)
    if not begin or not end:
        raise DataError(
            f"{str(path)!r} has no lines {SUMMARY!r} and {SUMMARY_END!r} to write between"
        )
    text = _table(table).replace("### ", "", 1)
    write_whole(path, f"{before}{SUMMARY}\n{text}\n{SUMMARY_END}{after}".encode())


def sectioned(section: ReportSection, *, heading: bool = True) -> str:
    """A section; without its heading where a page has that."""
    blocks = [text for block in section.blocks if (text := _block(block))]
    return "\n\n".join([f"## {section.title}", *blocks] if heading else blocks)


def _block(block: Block) -> str:
    if isinstance(block, ReportPicture):
        return ""
    return _table(block) if isinstance(block, ReportTable) else block


def _table(table: ReportTable) -> str:
    lines = [tuple(map(_escaped, line)) for line in (tuple(table.headings), *table.lines)]
    if table.prose:
        rule = ["---"] * len(table.headings)
        heading, *rest = [list(line) for line in lines]
        return "\n".join([f"### {table.title}", "", *map(_bar, [heading, rule, *rest])])
    widths = [max(4, *(len(line[at]) for line in lines)) for at in range(len(table.headings))]
    rule = ["-" * width if at == 0 else "-" * (width - 1) + ":" for at, width in enumerate(widths)]
    heading, *rest = [_padded(line, widths) for line in lines]
    return "\n".join([f"### {table.title}", "", *map(_bar, [heading, rule, *rest])])


def _padded(line: Iterable[str], widths: list[int]) -> list[str]:
    first, *others = line
    padded = [text.rjust(width) for text, width in zip(others, widths[1:], strict=True)]
    return [first.ljust(widths[0]), *padded]


def _bar(line: Iterable[str]) -> str:
    return f"| {' | '.join(line)} |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
