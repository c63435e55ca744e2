"""`python -m macex.bench`: print the benchmark tables, and whether what macex claims holds."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from macex.bench import cardinality, cost, quality, searches, thresholds
from macex.bench.cells import Cells
from macex.bench.claims import Claim, print_claims
from macex.bench.reference import ALL_ROWS
from macex.bench.tables import Report

Experiment = Callable[[Cells, Report, int], list[Claim]]

EXPERIMENTS: dict[str, Experiment] = {
    "quality": quality.run,
    "searches": searches.run,
    "cost": lambda cells, report, _: cost.run(cells, report),
    "cardinality": lambda _cells, report, _: cardinality.run(report),
    "thresholds": thresholds.run,
}


def main(arguments: Sequence[str] | None = None, cells: Cells | None = None) -> int:
    """Run the experiments that were asked for; `cells` stands in for the ten."""
    asked = _read(arguments)
    report = Report()
    cells = cells or Cells(asked.data)
    began = time.perf_counter()
    if asked.queries != ALL_ROWS:
        report.note(f"Figures on record are for {ALL_ROWS} queries a cell, not {asked.queries}.")
    for name, why in cells.skipped.items():
        report.note(f"Skipped {name}: {why}")
    known = set(cells.skipped)
    claims: list[Claim] = []
    for name in asked.only:
        claims += EXPERIMENTS[name](cells, report, asked.queries)
    for name in cells.skipped.keys() - known:
        report.note(f"Skipped {name}: {cells.skipped[name]}")
    print_claims(report, claims)
    report.progress(f"{time.perf_counter() - began:.0f} s in all")
    if asked.markdown:
        asked.markdown.write_text(report.markdown(), encoding="utf-8")
    return 0


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m macex.bench", description=__doc__)
    parser.add_argument(
        "--only",
        type=_names,
        default=list(EXPERIMENTS),
        metavar="NAMES",
        help=f"some of {','.join(EXPERIMENTS)}",
    )
    parser.add_argument("--data", metavar="FOLDER", help="where the other datasets' files are")
    parser.add_argument("--queries", type=_count, default=ALL_ROWS, help="rows to explain a cell")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the tables there")
    return parser.parse_args(arguments)


def _names(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    for name in names:
        if name not in EXPERIMENTS:
            raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(EXPERIMENTS)}")
    return names


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of 1 or more")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
