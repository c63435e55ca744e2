"""Table 7 on a small made set."""

from __future__ import annotations

import numpy as np
import pytest

from macex.bench import series
from macex.bench.tables import Report
from macex.errors import DataError
from series.machines import made_cases


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    monkeypatch.setattr(series, "TREES", 10)


@pytest.fixture
def folder(tmp_path):
    labels = np.array(["calm", "bump", "raised"] * 20)
    names = np.array([f"s{place}" for place in range(6)])
    np.savez(
        tmp_path / "natops.npz",
        X_train=made_cases(),
        y_train=labels,
        X_test=made_cases(12, seed=1),
        y_test=labels[:12],
        channels=names,
    )
    return tmp_path


def test_every_method_answers_every_goal(folder):
    rows = list(series.table(series.read("natops", folder), queries=2, published=True))
    methods = ["Greedy", "Greedy, row by row", "MACE-GLD", "MACE-RL", "default"]
    assert [row.method for row in rows] == methods * 2
    assert all(row.valid == 1 and row.channels >= 1 for row in rows)


def test_the_table_ends_with_means(folder, capsys):
    series.run(Report(), folder, ["natops"], 1, published=False)
    said = capsys.readouterr().out
    assert "natops (6 x 40), 1 queries to each of 6 classes" in said
    assert sum(" all " in line for line in said.splitlines()) == 4


def test_the_command_writes_markdown(folder, tmp_path):
    page = tmp_path / "table.md"
    asked = ["--data", str(folder), "--sets", "natops", "--queries", "1", "--markdown", str(page)]
    assert series.main(asked) == 0
    assert "| method | to class |" in page.read_text(encoding="utf-8")


def test_a_set_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(DataError, match="natops"):
        series.read("natops", tmp_path)
