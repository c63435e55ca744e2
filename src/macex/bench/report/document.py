"""What a report is made of: sections of texts, tables and pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from macex.render.charts import Chart

Value = str | float | int | None


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


def beside(paper: float | None, measured: float | None, digits: int = 2) -> str:
    """The paper's number, the measured one, and their ratio, as the paper's tables show them.

    >>> beside(1.63, 1.304), beside(None, 1.3), beside(1.0, None)
    ('1.63 / 1.30 / 0.80', '- / 1.30 / -', '1.00 / - / -')
    """

    def number(value: float | None) -> str:
        absent = value is None or value != value  # noqa: PLR0124
        return "-" if absent else f"{value:.{digits}f}"

    known = paper and measured is not None and measured == measured  # noqa: PLR0124
    ratio = f"{measured / paper:.2f}" if known and paper and measured is not None else "-"
    return f"{number(paper)} / {number(measured)} / {ratio}"


@dataclass
class ReportTable:
    """A title, headings and lines; the first column is the label of a line.

    Numbers stand to the right; `prose` to the left, in lines as long as they need.
    """

    title: str
    headings: Sequence[str]
    lines: list[tuple[str, ...]] = field(default_factory=list)
    prose: bool = False

    def add(self, label: str, *values: Value) -> None:
        """Add a line."""
        self.lines.append((label, *map(shown, values)))


@dataclass(frozen=True, slots=True)
class ReportPicture:
    """A chart; `title` says what it shows."""

    title: str
    chart: Chart


Block = ReportTable | ReportPicture | str


@dataclass
class ReportSection:
    """A heading and what stands under it; `front` sections are the story, the rest its tables."""

    title: str
    blocks: list[Block] = field(default_factory=list)
    front: bool = False


@dataclass
class Document:
    """A whole report."""

    title: str
    sections: list[ReportSection] = field(default_factory=list)
