"""The story in at most ten pictures, each drawn from a table of the report that it stands for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log10

from macex.bench.report.charts import powers as axis_of_powers
from macex.bench.report.document import Document, ReportTable
from macex.render.charts import Bar, Bars, Categories, Chart, Measure, Point, Scatter

NUMBER = re.compile(r"[-+]?\d[\d,]*(?:\.\d+)?")
LINE, FRAME = 17.0, 60.0  # pixels: each line of a plot of dots, and what is around them

Values = Mapping[str, float]
Draw = Callable[[ReportTable], Chart | None]


@dataclass(frozen=True)
class StoryPicture:
    """A chart of a table: which section and table, how their titles begin, and how it is drawn."""

    name: str
    title: str
    section: str
    table: str
    draw: Draw


@dataclass(frozen=True)
class DrawnPicture:
    """A chart, and the title of the section whose numbers it shows."""

    name: str
    title: str
    section: str
    chart: Chart


def pictures(document: Document) -> list[DrawnPicture]:
    """Those whose tables are there."""
    drawn = []
    for one in STORY:
        for section in document.sections:
            for table in section.blocks:
                here = isinstance(table, ReportTable) and section.title.startswith(one.section)
                if here and isinstance(table, ReportTable) and table.title.startswith(one.table):
                    chart = one.draw(table)
                    if chart is not None:
                        drawn.append(DrawnPicture(one.name, one.title, section.title, chart))
    return drawn


def number(text: str) -> float | None:
    """The first number of a cell.

    >>> number("1.555 ± 0.012"), number("-19,474.5"), number("-")
    (1.555, -19474.5, None)
    """
    found = NUMBER.search(text)
    return float(found.group().replace(",", "")) if found else None


def _column(table: ReportTable, heading: str) -> dict[str, float]:
    """The numbers under a heading by the first cells of their lines."""
    if heading not in table.headings:
        return {}
    place = list(table.headings).index(heading)
    named = {line[0]: number(line[place]) for line in table.lines}
    return {name: value for name, value in named.items() if value is not None}


def _bars(heading: str, of: str) -> Draw:
    """A bar for each line, with what stands after ± as its interval; shortest first."""

    def draw(table: ReportTable) -> Chart | None:
        place = list(table.headings).index(heading) if heading in table.headings else 0
        bars = []
        for name, value in sorted(_column(table, heading).items(), key=lambda item: item[1]):
            said = next(line[place] for line in table.lines if line[0] == name)
            wide = number(said.partition("±")[2])
            ends = None if wide is None else (value - wide, value + wide)
            bars.append(Bar(name, value, f"{value:.2f}", interval=ends))
        return Bars(tuple(bars), of) if bars else None

    return draw


def _beside(first: str, second: str, of: str) -> Draw:
    """Two bars for each line."""

    def draw(table: ReportTable) -> Chart | None:
        mine, theirs = _column(table, first), _column(table, second)
        bars = [Bar(name, mine[name], beside=theirs[name]) for name in mine if name in theirs]
        return Bars(tuple(bars), of, (first, second)) if bars else None

    return draw


def _dots(
    headings: Mapping[str, str], of: str, *, powers: bool = False, ranked: bool = True
) -> Draw:
    """Dots on a line for each line of the table, a colour for each heading."""

    def draw(table: ReportTable) -> Chart | None:
        columns = {said: _column(table, name) for name, said in headings.items()}
        known = {said: column for said, column in columns.items() if column}
        return dots(known, of, powers=powers, ranked=ranked)

    return draw


def _groups(groups: str, heading: str, of: str) -> Draw:
    """A line for each first cell, a colour for each cell under `groups`, a number for each line."""

    def draw(table: ReportTable) -> Chart | None:
        if not {groups, heading} <= set(table.headings):
            return None
        at, place = (list(table.headings).index(name) for name in (groups, heading))
        found: dict[str, dict[str, float]] = {}
        for line in table.lines:
            value = number(line[place])
            if value is not None:
                found.setdefault(line[at], {})[line[0]] = value
        return dots(found, of, powers=True, ranked=False)

    return draw


def dots(
    groups: Mapping[str, Values], of: str, *, powers: bool = False, ranked: bool = True
) -> Chart | None:
    """A line for each name and a dot for each group; `powers` for an axis of powers of ten.

    Names are in the order of the first group's values if `ranked`, else in their own.
    """
    least = 1e-12 if powers else float("-inf")
    kept = {
        group: {name: value for name, value in values.items() if value > least}
        for group, values in groups.items()
    }
    first: Values = next(iter(kept.values()), {})
    names = list(dict.fromkeys(name for values in kept.values() for name in values))
    if ranked:
        names.sort(key=lambda name: first.get(name, float("inf")))
    if not names:
        return None
    scale: Callable[[float], float] = log10 if powers else float
    points = [
        Point(scale(value), float(names[::-1].index(name)), at, f"{name}, {group}: {value:,.4g}")
        for at, (group, values) in enumerate(kept.items())
        for name, value in values.items()
    ]
    axis = (
        axis_of_powers(of, [p.x for p in points])
        if powers
        else Measure.over(of, [p.x for p in points])
    )
    legend = tuple(kept) if len(kept) > 1 else ()
    high = FRAME + LINE * (len(names) + bool(legend))
    rows = Categories("", tuple(names[::-1]))
    return Scatter(axis, rows, tuple(points), legend, words=_told(kept, of), height=high)


def _told(groups: Mapping[str, Values], of: str) -> str:
    """The least and the greatest of each group, in words."""
    said = []
    for group, values in groups.items():
        low, high = (pick(values, key=lambda n: values[n]) for pick in (min, max))
        ends = f"from {values[low]:,.4g} ({low}) to {values[high]:,.4g} ({high})"
        said.append(f"{group} {ends}" if len(groups) > 1 else ends)
    return f"{of}: {'; '.join(said)}"


SEEDS = ("Seeds", "Mean over cells")
STORY = (
    StoryPicture("changes", "Changed columns", *SEEDS, _bars("sparsity", "changed columns")),
    StoryPicture("distance", "Distance to the query", *SEEDS, _bars("distance", "distance")),
    StoryPicture(
        "outliers",
        "Answers that look like outliers",
        *SEEDS,
        _dots({"lof": "local outlier factor", "isolation": "isolation forest"}, "share of answers"),
    ),
    StoryPicture(
        "optimum",
        "The default beside the fewest changes there are",
        "The engine beside the optimum",
        "Changed columns",
        _beside("default", "optimum", "changed columns"),
    ),
    StoryPicture(
        "believed",
        "Answers that would be believed, and hold tomorrow",
        "Answers that would be believed",
        "All cells",
        _dots({"refits": "hold on refits", "unusual": "unusual"}, "share of answers"),
    ),
    StoryPicture(
        "cost",
        "What a query costs",
        "Table 3",
        "A query, mean over cells",
        _dots(
            {"alone cpu ms": "alone", "batch cpu ms": "in a batch"},
            "milliseconds of CPU",
            powers=True,
        ),
    ),
    StoryPicture(
        "growth",
        "Many queries at once",
        "Growth",
        "queries (",
        _dots(
            {"ms batch": "in a batch", "ms alone": "alone"},
            "milliseconds a query, by how many are asked",
            powers=True,
            ranked=False,
        ),
    ),
    StoryPicture(
        "exact",
        "Exact answers for trees",
        "Exact answers for trees, beside",
        "Least distance",
        _groups("by", "cpu ms", "milliseconds of CPU"),
    ),
    StoryPicture(
        "series",
        "Greedy on time series",
        "Table 7",
        "Times as long",
        _groups("Greedy", "default", "times as long as the default"),
    ),
)
