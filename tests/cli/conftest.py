"""A small world of loans in files: training rows with their label, rows to explain, a model."""

from __future__ import annotations

import sys
from pathlib import Path

import joblib
import pytest

from lending import lender, loans, outcomes
from macex.cli import main

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> Path:
    """A folder with model.joblib, train.csv (with `outcome`), rows.csv, rules.toml."""
    folder = tmp_path_factory.mktemp("loans")
    rows = loans(300, seed=1)
    joblib.dump(lender(rows), folder / "model")
    rows.assign(outcome=outcomes(rows)).to_csv(folder / "train.csv", index=False)
    loans(40, seed=2).to_csv(folder / "rows.csv", index=False)
    (folder / "rules.toml").write_text('fixed = ["age"]\n\n[ranges]\nincome = [0, 110]\n')
    return folder


@pytest.fixture
def macex(files, tmp_path, monkeypatch, capsys):
    """`macex` in an empty folder: a function of the arguments to (exit code, stdout, stderr).

    `{files}` in an argument is the folder of files, `{common}` stands for model, data and label.
    """
    monkeypatch.chdir(tmp_path)

    def run(line: str, *more: str) -> tuple[int, str, str]:
        code = main([*arguments(line, files), *more])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def arguments(line: str, files: Path) -> list[str]:
    common = "--model {files}/model --data {files}/train.csv --label outcome --allow-pickle"
    filled = line.replace("{common}", common).replace("{files}", str(files))
    return filled.split()


@pytest.fixture
def program(files):
    """The command line of `macex` as a process of its own."""
    return lambda line: [sys.executable, "-m", "macex.cli", *arguments(line, files)]
