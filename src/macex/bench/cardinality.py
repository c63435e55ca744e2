"""What the shape of the training rows costs: categories, columns, rows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from macex.bench.claims import Claim, at_most
from macex.bench.size import Size, build, measure, peak
from macex.bench.synthetic import table as made
from macex.bench.tables import Report

MOST = 1.5
HEADINGS = ("build s", "ms alone", "ms batch", "rows", "calls", "peak MB")


def run(
    report: Report,
    rows: int = 100_000,
    queries: int = 100,
    few_and_many: tuple[int, int] = (10, 10_000),
    widths: Sequence[int] = (10, 30, 100, 300, 1000),
    lengths: Sequence[int] = (1_000, 10_000, 100_000, 1_000_000),
) -> list[Claim]:
    """Print the three tables and return what the first shows."""
    claims = compare_cardinality(report, rows, queries, few_and_many)
    wide = report.table("Columns (2,000 training rows)", "columns", *HEADINGS)
    for width in widths:
        report.progress(f"cardinality: {width} columns")
        wide.add(f"{width:,}", *_line(measure(made(2_000, columns=width), min(queries, 20))))
    long = report.table("Training rows (10 columns)", "rows", *HEADINGS)
    for length in lengths:
        report.progress(f"cardinality: {length} rows")
        long.add(f"{length:,}", *_line(measure(made(length), min(queries, 20))))
    return claims


def compare_cardinality(
    report: Report, rows: int, queries: int, few_and_many: tuple[int, int]
) -> list[Claim]:
    """One column of few categories, then of many, all else equal."""
    title = f"Categories of one column ({rows:,} training rows)"
    table = report.table(title, "categories", *HEADINGS, "build MB")
    sizes, builds = [], []
    for categories in few_and_many:
        report.progress(f"cardinality: {categories} categories")
        train = made(rows, categories=categories)
        sizes.append(measure(train, queries))
        builds.append(peak(partial(build, train)))
        table.add(f"{categories:,}", *_line(sizes[-1]), builds[-1])
    few, many = sizes
    table.add("ratio", *(b / a for a, b in zip(few, many, strict=True)), builds[1] / builds[0])
    span = f"{few_and_many[1]:,} categories against {few_and_many[0]:,}"
    return [
        at_most(f"{span}: ms per query alone", many.alone / few.alone, MOST, "x"),
        at_most(f"{span}: ms per query in a batch", many.batch / few.batch, MOST, "x"),
        at_most(f"{span}: memory to explain", many.peak / few.peak, MOST, "x"),
        at_most(f"{span}: memory to build", builds[1] / builds[0], MOST, "x"),
    ]


def _line(size: Size) -> tuple[str, ...]:
    return (
        f"{size.build:.2f}",
        f"{size.alone:.1f}",
        f"{size.batch:.1f}",
        f"{size.rows:.0f}",
        f"{size.calls:.1f}",
        f"{size.peak:.1f}",
    )
