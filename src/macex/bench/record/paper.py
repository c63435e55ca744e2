"""The numbers the paper prints, by table, metric, method and dataset."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


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
