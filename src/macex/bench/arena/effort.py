"""What a run took: CPU by budget, and what the dearest cells are."""

from __future__ import annotations

import pandas as pd

from macex.bench.arena.layout import KEYS
from macex.bench.arena.scores import CELL
from macex.bench.report.document import ReportSection, ReportTable

SAID = """\
CPU of all that was asked and measured, by the machines that did it; of a model that is fitted, \
too, and of its refits."""
MINUTE, HOUR = 60.0, 3600.0


def effort(lines: pd.DataFrame) -> list[ReportSection]:
    """A table of what each budget took; nothing where it is not known."""
    tasks = lines.drop_duplicates(list(KEYS))
    if tasks["took"].isna().all():
        return []
    table = ReportTable(
        "By budget", ("rows", "cells", "queries", "CPU hours", "seconds a cell", "dearest"), []
    )
    for budget, here in tasks.groupby("budget"):
        cells = here.groupby(CELL)["took"].sum()
        queries = lines[lines["budget"] == budget].groupby(CELL)["query"].nunique()
        worst = " / ".join(map(str, cells.index[int(cells.to_numpy().argmax())][:2]))
        table.add(
            f"{budget:,}",
            len(cells),
            int(queries.max()),
            float(cells.sum()) / HOUR,
            float(cells.mean()),
            f"{worst}: {cells.max() / MINUTE:.1f} min",
        )
    return [ReportSection("What it took", [SAID, table])]
