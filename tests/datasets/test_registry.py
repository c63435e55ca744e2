"""A dataset of one's own, by name."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint

import numpy as np
import pandas as pd
import pytest

from macex import datasets
from macex.datasets import Dataset, load, names, register, registry
from macex.errors import DataError


def coins() -> Dataset:
    frame = pd.DataFrame({"side": ["head", "tail"]})
    return Dataset("coins", frame, np.array([0, 1]), ("no", "yes"), ("side",), (), "mine")


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    monkeypatch.setattr(registry, "_registered", {})


def test_a_registered_dataset_is_loaded_by_its_name():
    register("coins", coins)
    assert load("coins").label.tolist() == [0, 1]
    assert names()[-1] == "coins"


@pytest.mark.parametrize("name", ["adult", "natops"])
def test_a_name_of_macexs_own_is_taken(name):
    with pytest.raises(DataError, match="register yours by another name"):
        register(name, coins)


def test_a_loader_is_a_function_that_returns_a_dataset():
    with pytest.raises(DataError, match="needs a function"):
        register("coins", coins())
    register("coins", pd.DataFrame)
    with pytest.raises(DataError, match="returned DataFrame, not a Dataset"):
        load("coins")


def test_a_loader_that_raises_is_named():
    register("coins", lambda: 1 / 0)
    with pytest.raises(DataError, match="the loader of dataset 'coins' raised ZeroDivisionError"):
        load("coins")


def test_a_dataset_of_ones_own_has_no_variants():
    register("coins", coins)
    with pytest.raises(DataError, match="'coins' has no variant 'paper'"):
        load("coins", variant="paper")


def test_an_entry_point_that_cannot_be_imported_is_named(monkeypatch):
    broken = EntryPoint("coins", "no.such.module:coins", registry.GROUP)
    monkeypatch.setattr(registry, "_entry_points", lambda: {"coins": broken})
    with pytest.raises(DataError, match=r"'coins' \(no\.such\.module:coins\) cannot be loaded"):
        load("coins")


def test_another_package_adds_a_dataset_by_an_entry_point(tmp_path):
    about = tmp_path / "mine-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[macex.datasets]\ncoins = mine:coins\n")
    (tmp_path / "mine.py").write_text(
        "import numpy as np, pandas as pd\n"
        "from macex.datasets import Dataset\n"
        "def coins():\n"
        "    frame = pd.DataFrame({'side': ['head', 'tail']})\n"
        "    return Dataset('coins', frame, np.array([0, 1]), ('no', 'yes'), ('side',), (), '')\n"
    )
    script = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "from macex.datasets import load, names\n"
        "print(names()[-1], load('coins'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "coins Dataset('coins', 2 rows, 1 columns)"


def test_an_unknown_name_gets_the_nearest_one():
    register("coins", coins)
    with pytest.raises(DataError, match="did you mean 'coins'"):
        load("coin")
    with pytest.raises(DataError, match="did you mean 'titanic'"):
        load("titanik")


def test_a_set_of_series_is_loaded_by_its_own_function():
    with pytest.raises(DataError, match=r"use load_series\('natops'\)"):
        load("natops")


def test_everything_that_is_public_can_be_had():
    assert all(hasattr(datasets, name) for name in datasets.__all__)
