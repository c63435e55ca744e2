"""`macex bench`: what is asked is run, what is missing is said, what is interrupted goes on."""

from __future__ import annotations

import json

import pytest
import typer
from typer.testing import CliRunner

from macex.bench import methods
from macex.bench.command import bench, planned
from macex.errors import OptionError

PLUGIN = '''
"""Twins: the answer is a training row of the other class; on some queries it stumbles."""
import numpy as np
import pandas as pd
from macex.bench import register
from macex.datasets import Dataset
from macex.datasets import register as register_dataset


class Twins:
    def __init__(self, model, data, seed):
        self.model, self.data = model, data
        self.decisions = model.predict(data)

    def explain(self, rows, n=1):
        if (rows["income"] % 10 == 3).any():
            raise ValueError("no twin earns a 3")
        own = self.model.predict(rows)
        return [self.data[self.decisions != label].head(n) for label in own]


def loans():
    random = np.random.default_rng(0)
    frame = pd.DataFrame({
        "income": random.permutation(np.arange(200)),
        "home": random.choice(["own", "rent"], 200),
    })
    label = (frame["income"] > 100).to_numpy(int)
    return Dataset("my loans", frame, label, ("no", "yes"), ("home",), ("income",), "mine")


register("twins", Twins)
register_dataset("my loans", loans)
'''

app = typer.Typer()
app.command()(bench)


@pytest.fixture(autouse=True)
def forgotten(monkeypatch):
    monkeypatch.setattr(methods, "_registered", {})
    monkeypatch.setattr("macex.datasets.registry._registered", {})


@pytest.fixture
def plugin(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(PLUGIN)
    return path


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_a_method_and_a_dataset_of_ones_own_appear_in_the_report(tmp_path, plugin):
    out = tmp_path / "out"
    asked = ["--tables", "2,3", "--datasets", "my loans", "--models", "MLP"]
    chosen = ["--methods", "twins,default", "--queries", 30, "--plugin", plugin, "--out", out]
    done = run(*asked, *chosen)
    assert done.exit_code == 0, done.output
    report = (out / "report.md").read_text()
    assert "my loans" in report
    assert "| twins" in report
    assert "my loans / MLP / twins" in report  # the queries it stumbled on
    assert "no twin earns a 3" in report
    page = (out / "report.html").read_text()
    assert "twins" in page
    assert "http" not in page


def test_an_interrupted_run_goes_on_and_nothing_is_measured_twice(tmp_path, plugin):
    out = tmp_path / "out"
    asked = ["--tables", "2", "--datasets", "my loans", "--models", "MLP", "--plugin", plugin]
    first = run(*asked, "--methods", "default", "--queries", 5, "--out", out)
    assert first.exit_code == 0
    kept = (out / "results.jsonl").read_text().splitlines()
    again = run(*asked, "--methods", "default,nearest", "--queries", 5, "--out", out)
    assert again.exit_code == 2
    assert "--resume" in again.output
    resumed = run(*asked, "--methods", "default,nearest", "--queries", 5, "--out", out, "--resume")
    assert resumed.exit_code == 0
    lines = (out / "results.jsonl").read_text().splitlines()
    assert lines[: len(kept)] == kept
    tasks = [json.loads(line)["task"] for line in lines if '"task"' in line]
    assert [task["method"] for task in tasks] == ["default", "nearest"]


def test_a_dataset_that_cannot_be_read_is_reported_and_the_rest_goes_on(tmp_path, plugin):
    (tmp_path / "titanic.csv").write_text("nothing of the kind")
    asked = ["--tables", "2,5", "--datasets", "titanic,my loans", "--models", "MLP"]
    chosen = ["--methods", "default", "--queries", 4, "--plugin", plugin, "--data", tmp_path]
    done = run(*asked, *chosen, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "titanic.csv" in done.stdout
    assert "| default" in done.stdout


def test_two_processes_find_what_one_finds(tmp_path, plugin):
    asked = ["--tables", "2", "--datasets", "my loans", "--models", "MLP", "--plugin", plugin]
    chosen = ["--methods", "twins,default", "--queries", 6]
    for jobs in (1, 2):
        run(*asked, *chosen, "--jobs", jobs, "--out", tmp_path / str(jobs))
    found = [
        [
            document["records"]
            for line in (tmp_path / str(jobs) / "results.jsonl").read_text().splitlines()
            if line and "task" in (document := json.loads(line))
        ]
        for jobs in (1, 2)
    ]
    assert found[0] == found[1]
    assert len(found[0]) == 2


def test_the_page_keeps_what_was_written_by_hand(tmp_path, plugin):
    from macex.bench.report.markdown import BEGIN, END

    page = tmp_path / "benchmarks.md"
    page.write_text(f"# Mine\n\n{BEGIN}\nold\n{END}\n\nRead it so.\n")
    asked = ["--tables", "2", "--datasets", "my loans", "--models", "MLP", "--plugin", plugin]
    done = run(
        *asked, "--methods", "default", "--queries", 3, "--markdown", page, "--out", tmp_path
    )
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert text.startswith("# Mine")
    assert text.endswith("Read it so.\n")
    assert "old" not in text
    behind = tmp_path / "benchmarks" / "table-2-one-counterfactual-mlp.md"
    assert "| default" in behind.read_text()


def test_the_table_of_changed_columns_goes_between_its_marks(tmp_path, plugin):
    page = tmp_path / "README.md"
    page.write_text("# Mine\n\n<!-- bench -->\nold\n<!-- /bench -->\n\nMore.\n")
    asked = ["--tables", "quality", "--datasets", "my loans", "--models", "MLP"]
    chosen = ["--plugin", plugin, "--methods", "default", "--queries", 3]
    done = run(*asked, *chosen, "--summary", page, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert text.startswith("# Mine\n\n<!-- bench -->\nChanged columns, 50 queries a cell")
    assert "| my loans / MLP |" in text
    assert text.endswith("<!-- /bench -->\n\nMore.\n")
    assert "old" not in text


def test_a_page_without_a_place_is_refused_before_anything_is_measured(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("by hand")
    done = run("--tables", "4", "--markdown", page, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "no place" in done.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--tables", "8"], "8"),
        (["--datasets", "adlut"], "adult"),
        (["--models", "mlp"], "MLP"),
        (["--methods", "dice"], "dice"),
        (["--queries", "0"], "queries"),
        (["--plugin", "gone.py"], "gone.py"),
    ],
)
def test_a_wrong_argument_is_refused(wrong, said, tmp_path):
    done = run(*wrong, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert said in done.output
    assert not (tmp_path / "out").exists()


def test_groups_of_tables_and_seeds_are_spelt_out(cells):
    plan = planned("paper,cost", "breast", "", "", None, 5, cells)
    assert plan.tables == ["1", "2", "3", "4", "5", "6", "7", "figure2", "cost", "seeds"]
    assert "optimum" not in plan.methods
    with pytest.raises(OptionError, match="quality"):
        planned("qualty", "breast", "", "", None, 1, cells)
