"""A small world of loans in files: training rows with their label, rows to explain, a model."""

from __future__ import annotations

import sys
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from macex.cli import main

ROOT = Path(__file__).parents[2]
NUMBERS = ["income", "debt", "age"]


def loans(count: int, seed: int) -> pd.DataFrame:
    draw = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "income": draw.integers(20, 120, count),
            "debt": np.round(draw.uniform(0, 60, count), 1),
            "age": draw.integers(18, 80, count),
            "job": draw.choice(["none", "part-time", "full-time"], count),
        }
    )


@pytest.fixture(scope="session")
def files(tmp_path_factory) -> Path:
    """A folder with model.joblib, train.csv (with `outcome`), rows.csv, rules.toml."""
    folder = tmp_path_factory.mktemp("loans")
    rows = loans(300, seed=1)
    merit = 0.1 * rows["income"] - 0.1 * rows["debt"] + 2.0 * (rows["job"] == "full-time") - 4
    outcome = np.where(merit > 0, "granted", "refused")
    columns = make_column_transformer(
        (StandardScaler(), NUMBERS), (OneHotEncoder(handle_unknown="ignore"), ["job"])
    )
    joblib.dump(make_pipeline(columns, LogisticRegression()).fit(rows, outcome), folder / "model")
    rows.assign(outcome=outcome).to_csv(folder / "train.csv", index=False)
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
