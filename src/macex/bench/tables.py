"""Tables that are printed line by line while they are measured, and kept for Markdown."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

Value = str | float | int | None

LABEL_WIDTH = 20
NARROWEST = 7


def shown(value: Value) -> str:
    """A value as it stands in a table: two decimals, thousands apart, a dash for nothing.

    >>> shown(1.305), shown(1200), shown(None), shown(float("nan")), shown("0.1 s")
    ('1.30', '1,200', '-', '-', '0.1 s')
    """
    if value is None or value != value:  # noqa: PLR0124
        return "-"
    if isinstance(value, str):
        return value
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


@dataclass
class Table:
    """A title, headings and lines; the first column is the label of a line."""

    title: str
    headings: tuple[str, ...]
    lines: list[tuple[str, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        print(f"\n{self.title}")
        print(self._aligned(self.headings), flush=True)

    def add(self, label: str, *values: Value) -> None:
        """Add a line and print it."""
        line = (label, *map(shown, values))
        self.lines.append(line)
        print(self._aligned(line), flush=True)

    def _aligned(self, line: tuple[str, ...]) -> str:
        widths = [max(NARROWEST, len(heading)) for heading in self.headings[1:]]
        cells = [value.rjust(width) for value, width in zip(line[1:], widths, strict=True)]
        return "  ".join([line[0].ljust(LABEL_WIDTH), *cells])

    def markdown(self) -> str:
        """The table in Markdown, numbers to the right."""
        rule = ("---", *("---:" for _ in self.headings[1:]))
        rows = [f"| {' | '.join(line)} |" for line in (self.headings, rule, *self.lines)]
        return "\n".join([f"### {self.title}", "", *rows])


@dataclass
class Report:
    """Everything a run has to say, in order: printed at once, kept for Markdown."""

    parts: list[Table | str] = field(default_factory=list)

    def table(self, title: str, *headings: str) -> Table:
        """Begin a table."""
        table = Table(title, headings)
        self.parts.append(table)
        return table

    def note(self, text: str) -> None:
        """Say a sentence or two."""
        self.parts.append(text)
        print(f"\n{text}", flush=True)

    def progress(self, text: str) -> None:
        """Say what is being done, beside the results."""
        print(f"... {text}", file=sys.stderr, flush=True)

    def markdown(self) -> str:
        """The whole report in Markdown."""
        texts = [part if isinstance(part, str) else part.markdown() for part in self.parts]
        return "\n\n".join(["# Benchmarks", *texts]) + "\n"
