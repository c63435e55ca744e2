"""What findings about many rows look like: figures, tables with bars, remarks; text and HTML."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from macex.render.results import Result
from macex.render.speech import ENGLISH
from macex.render.text import GLUE, aligned, width, wrapped

BAR = 20  # characters of a full bar in a terminal
EIGHTHS = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class Grid:
    """A table. With `bars` every line has a bar, as long as its share from 0 to 1."""

    title: str
    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    bars: tuple[float, ...] = ()
    note: str = ""

    @property
    def barred(self) -> list[tuple[tuple[str, ...], float | None]]:
        """The lines with the lengths of their bars in percent."""
        bars: Sequence[float | None] = [round(100 * share, 1) for share in self.bars]
        return list(zip(self.lines, bars or [None] * len(self.lines), strict=True))


@dataclass(frozen=True)
class Sheet:
    """A finding: a title, figures (text, what of), tables, and what there is to say.

    `strip` divides a whole, drawn as one bar on a page: parts and their shares, what is left last.
    """

    title: str
    figures: tuple[tuple[str, str], ...] = ()
    grids: tuple[Grid, ...] = ()
    remarks: tuple[str, ...] = ()
    strip: tuple[tuple[str, float], ...] = ()

    def __str__(self) -> str:
        """The sheet for a terminal."""
        lines = [self.title]
        room = width() - 2
        for remark in self.remarks:
            lines += [f"  {line}" for line in wrapped(remark.replace(" %", f"{GLUE}%"), room)]
        for grid in self.grids:
            lines += ["", grid.title] if grid.title else [""]
            if grid.lines:
                lines += [f"  {line}" for line in aligned(_table(grid), room, flexible=0)]
            if grid.note:
                lines += [f"  {line}" for line in wrapped(grid.note, room)]
        return "\n".join(lines)


class Finding(Result):
    """Something found out about many rows, that shows itself as a sheet."""

    @abstractmethod
    def sheet(self) -> Sheet:
        """The finding as figures, tables and remarks."""

    def sheet_in(self, language: str | Path) -> Sheet:
        """The same in another language, by findings that speak it."""
        del language
        return self.sheet()

    def fragment(self, language: str | Path = ENGLISH) -> str:
        """The finding as a part of a page, with its styles."""
        from macex.render.html import sheet_fragment

        return sheet_fragment(self.sheet_in(language))

    def heading(self, language: str | Path = ENGLISH) -> str:
        """What the finding comes down to."""
        return self.sheet_in(language).title

    def json_text(self, *, canonical: bool) -> str:
        """Its heading, figures and remarks, and the lines of `to_frame()`.

        Unless canonical, what was asked of which model, too.
        """
        sheet = self.sheet()
        document = {
            "format": f"macex.{type(self).__name__.lower()}/1",
            "title": sheet.title,
            "figures": {of: text for text, of in sheet.figures},
            "remarks": list(sheet.remarks),
            "lines": json.loads(self.to_frame().to_json(orient="records", date_format="iso")),
            **({} if canonical else {"meta": dict(self.facts())}),
        }
        return json.dumps(document, ensure_ascii=False, default=str)

    def __repr__(self) -> str:
        return str(self.sheet())


def _table(grid: Grid) -> list[list[str]]:
    table = [list(grid.headings), *map(list, grid.lines)]
    if grid.bars:
        table[0].append("")
        for line, share in zip(table[1:], grid.bars, strict=True):
            line.append(bar_text(share))
    return table


def bar_text(share: float, length: int = BAR) -> str:
    """A bar of characters.

    >>> bar_text(0.5, 4), bar_text(0.03, 4)
    ('██', '▏')
    """
    parts = round(8 * length * min(max(share, 0.0), 1.0))
    parts = max(parts, 1) if share > 0 else 0
    return "█" * (parts // 8) + (EIGHTHS[parts % 8] if parts % 8 else "")


def several(count: int, what: str) -> str:
    """A count with its noun, in the singular or the plural.

    >>> several(1, "row"), several(0, "row")
    ('1 row', '0 rows')
    """
    return f"{count} {what}{'s' * (count != 1)}"


def percent(share: float) -> str:
    """A share as people write it.

    >>> percent(0.0523), percent(0.71), percent(float("nan"))
    ('5.2 %', '71 %', '-')
    """
    if share != share:  # noqa: PLR0124 - NaN
        return "-"
    few = 0 < share < 0.1 or 0.9 < share < 1
    return f"{100 * share:.1f} %" if few else f"{100 * share:.0f} %"
