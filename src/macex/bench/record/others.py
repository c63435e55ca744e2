"""What other tools, and the true optimum, reached on the same set-up.

The figures in `others.csv` were measured once on a 2-core machine with the same split, rows and
settings, all tools explaining the same fitted models. Seconds are per query, one at a time. The
models were fitted with other versions of the libraries than those installed here, so a cell's
optimum may differ from the one measured by this run. For Credit the proximity is the median over
queries. `answered` below 50 means the first rows only; CERTIFAI is its public code, made to run.

The optimum is the nearest valid row at the first level of changes that has any, over all values
seen in training; "nearest" is the nearest valid row of any level (not measured on Credit). With
XGBoost the fewest changes are the same over all cells cut by its thresholds.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple

FEWEST = "optimum fewest"
NEAREST = "optimum nearest"
MACE_RL = "OmniXAI MACE-RL"
ALL_ROWS = 50

# Rows scored per query, least and most over the datasets, XGBoost.
ROWS = {
    MACE_RL: (715, 772),
    "OmniXAI MACE-GLD": (868, 905),
    "DiCE random": (2004, 2484),
    "NICE sparsity": (6, 19),
}

# Share of MACE-RL's answers farther from goal rows than 95 % of those are from each other.
IMPLAUSIBLE = {
    ("adult", "XGBoost"): 0.14,
    ("adult", "MLP"): 0.14,
    ("credit", "XGBoost"): 0.32,
}


class Figure(NamedTuple):
    """What one tool reached in one cell."""

    sparsity: float
    proximity: float
    seconds: float | None
    answered: int
    validity: float

    @property
    def complete(self) -> bool:
        """Whether all rows were answered, and validly."""
        return self.answered == ALL_ROWS and self.validity == 1


@cache
def recorded() -> dict[tuple[str, str, str], Figure]:
    """All figures by tool, dataset and model."""
    text = files("macex.bench.record").joinpath("others.csv").read_text(encoding="utf-8")
    return {
        (line["tool"], line["dataset"], line["model"]): Figure(
            float(line["sparsity"]),
            float(line["proximity"]),
            float(line["seconds"]) if line["seconds"] else None,
            int(line["answered"]),
            float(line["validity"]),
        )
        for line in csv.DictReader(text.splitlines())
    }


def listed(tool: str, dataset: str, kind: str) -> Figure | None:
    """One tool's figure in one cell, None where there is none.

    >>> listed("OmniXAI MACE-RL", "adult", "XGBoost").sparsity
    1.44
    """
    return recorded().get((tool, dataset, kind))


def sparsest(dataset: str, kind: str) -> tuple[str, Figure] | None:
    """The tool with the fewest changes among those that answered all rows of a cell.

    >>> sparsest("titanic", "MLP")[0]
    'NICE sparsity'
    """
    rivals = _rivals(dataset, kind)
    return min(rivals, key=lambda rival: rival[1].sparsity, default=None)


def nearest(dataset: str, kind: str) -> tuple[str, Figure] | None:
    """The tool with the best proximity among those that answered all rows of a cell."""
    rivals = _rivals(dataset, kind)
    return max(rivals, key=lambda rival: rival[1].proximity, default=None)


def _rivals(dataset: str, kind: str) -> list[tuple[str, Figure]]:
    return [
        (tool, figure)
        for (tool, *cell), figure in recorded().items()
        if cell == [dataset, kind] and figure.complete and tool not in (FEWEST, NEAREST)
    ]
