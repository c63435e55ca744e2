"""The numbers the paper prints, by table, metric, method and dataset."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from macex.bench.methods import Method
from macex.bench.report.document import ReportTable, beside


@cache
def printed_tables() -> dict[str, Any]:
    """Everything in `paper.json`, which was copied from the paper's seven tables."""
    text = files("macex.bench.record").joinpath("paper.json").read_text(encoding="utf-8")
    tables: dict[str, Any] = json.loads(text)
    return tables


def printed(table: str, metric: str, method: str | None, dataset: str) -> float | None:
    """One printed number; None where the paper prints none.

    >>> printed("1", "sparsity", "MACE-RL", "adult")
    1.63
    >>> printed("1", "sparsity", "DiCE", "adult") is None
    True
    """
    known = printed_tables()
    row = known[table][metric].get(method)
    if row is None or dataset not in known["datasets"]:
        return None
    number: float = row[known["datasets"].index(dataset)]
    return number


def beside_paper(
    title: str,
    datasets: Sequence[str],
    methods: Iterable[Method],
    printed_as: tuple[str | None, str],
    measured: Callable[[str, str], float | None],
    digits: int = 2,
) -> ReportTable:
    """A line for each method, a column for each dataset: the paper's number, and the measured one.

    `printed_as` are the paper's table, if it has one, and its metric.
    """
    made, (number, metric) = ReportTable(title, ("method", *datasets)), printed_as
    for one in methods:
        pairs = (
            (printed(number, metric, one.paper, name) if number else None, measured(name, one.name))
            for name in datasets
        )
        made.add(one.name, *(beside(*pair, digits) for pair in pairs))
    return made
