"""The subset of `--quick`, whole but for the number of queries: every method in every cell."""

from __future__ import annotations

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from macex.bench.arena.command import QUICK, arena
from macex.bench.arena.entries import FIELD, suited

app = typer.Typer()
app.command()(arena)


@pytest.mark.slow
def test_the_quick_subset_asks_every_method_in_every_cell_and_nothing_fails(tmp_path):
    asked = ["--arena", "--quick", "--queries", "1", "--out", str(tmp_path)]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    lines = pd.read_parquet(tmp_path / "results.parquet")
    assert lines["error"].isna().all()
    tables, models = (str(QUICK[name]).split(",") for name in ("datasets", "models"))
    wanted = {(t, m, one) for t in tables for m in models for one in FIELD if suited(one, m)}
    assert set(lines[["dataset", "model", "method"]].itertuples(index=False, name=None)) == wanted
