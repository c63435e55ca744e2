"""An explainer in memory has a page of its own, for whoever opens its address first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import macex as mx

httpx = pytest.importorskip("httpx")
pytest.importorskip("fastapi")

DATA = pd.DataFrame({"hours": range(20, 60), "job": ["clerk", "guard"] * 20})


def model(rows):
    return 1 / (1 + np.exp(44.5 - rows["hours"]))


@pytest.fixture(scope="module")
def shown():
    explainer = mx.Explainer(model, DATA, classes=("no", "yes"), names={"hours": "hours a week"})
    page = explainer.show(DATA.head(25), browser=False)
    yield page
    page.close()
    assert not page._thread.is_alive()


def test_the_page_shows_rows_and_answers_of_the_model_in_memory(shown):
    with httpx.Client(follow_redirects=True, timeout=30) as client:
        assert client.get(shown.address.partition("/login")[0]).url.path == "/login"
        assert client.get(shown.address).status_code == 200
        base = shown.address.partition("/login")[0]
        rows = client.get(f"{base}/projects/explainer").text
        assert "hours a week" in rows
        row = client.get(f"{base}/projects/explainer/rows/20").text
        assert "45" in row
        assert "decided yes" in row
        other = client.get(f"{base}/projects/explainer/rows/20?method=reinforce&prefer=nearest")
        assert other.status_code == 200
        assert client.get(f"{base}/api/v1/projects/explainer").json()["training_rows"] == 40
    with httpx.Client(follow_redirects=True, timeout=30) as stranger:
        assert stranger.get(shown.address).status_code == 401


def test_it_says_where_it_is(shown):
    assert shown.address.startswith("http://127.0.0.1:")
    assert shown.address in repr(shown)
    assert shown.address in shown._repr_html_()


@pytest.mark.parametrize("library", ["polars", "numpy"])
def test_explainers_of_other_libraries_are_shown_too(library):
    if library == "polars":
        frames = pytest.importorskip("polars").DataFrame(DATA.to_dict("list"))
        explainer = mx.Explainer(
            lambda rows: (rows["hours"] > 44).to_numpy() * 1.0, frames, classes=("no", "yes")
        )
    else:
        explainer = mx.Explainer(
            lambda rows: (rows[:, 0] > 44) * 1.0, DATA[["hours"]].to_numpy(), classes=("no", "yes")
        )
    page = explainer.show(browser=False)
    try:
        base = page.address.partition("/login")[0]
        with httpx.Client(follow_redirects=True, timeout=30) as client:
            client.get(page.address)
            text = client.get(f"{base}/projects/explainer/rows/3").text
            assert "decided yes" in text
    finally:
        page.close()


def test_nothing_of_it_stays():
    explainer = mx.Explainer(model, DATA, classes=("no", "yes"))
    page = explainer.show(browser=False)
    folder = Path(page._state.name)
    assert folder.is_dir()
    page.close()
    assert not folder.exists()


ENDING = """
import pandas as pd
import macex as mx

data = pd.DataFrame({"hours": range(20, 60)})
explainer = mx.Explainer(lambda rows: (rows["hours"] > 44) * 1.0, data, classes=("no", "yes"))
page = explainer.show(browser=False)
print(page._state.name)
"""


def test_it_ends_with_the_process():
    done = subprocess.run(
        [sys.executable, "-c", ENDING], capture_output=True, text=True, check=True, timeout=120
    )
    assert not Path(done.stdout.strip()).exists()
