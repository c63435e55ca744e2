"""A real server with a small project, and a browser that may reach nothing else."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fastapi")
httpx = pytest.importorskip("httpx")
uvicorn = pytest.importorskip("uvicorn")
skops = pytest.importorskip("skops.io")

from sklearn.compose import make_column_transformer  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import OneHotEncoder, StandardScaler  # noqa: E402

JOBS = ("clerk", "cook", "doctor", "driver", "nurse", "teacher")
CITIES = [f"city {number:04d}" for number in range(3000)]
NUMBERS = ["age", "hours", "pay"]
TOML = """title = "Loans"
model = "model.skops"
data = "train.parquet"
rows = "rows.parquet"
label = "outcome"

[names]
hours = "hours per week"

[constraints]
fixed = ["age"]
"""


def people(count: int, seed: int) -> pd.DataFrame:
    """Made-up applicants; a city is one of thousands, and some dates are not known."""
    rng = np.random.default_rng(seed)
    since = pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, count), "D")
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, count),
            "hours": rng.integers(5, 70, count),
            "pay": np.round(rng.normal(30, 8, count), 1),
            "job": rng.choice(JOBS, count),
            "city": rng.choice(CITIES, count),
            "since": since.where(rng.random(count) > 0.05),
        }
    )


def granted(rows: pd.DataFrame) -> np.ndarray:
    """The rule that the model learns."""
    well = rows["job"].isin(["doctor", "nurse"]).to_numpy()
    points = rows["hours"] / 10 + rows["pay"] / 10 + 2 * well
    return np.where(points > 7.2, "granted", "refused")


def write_project(folder) -> None:
    """A project as `macex serve --project` takes it."""
    train = people(3000, 0)
    columns = make_column_transformer((StandardScaler(), NUMBERS), (OneHotEncoder(), ["job"]))
    model = make_pipeline(columns, LogisticRegression()).fit(train, granted(train))
    folder.mkdir(parents=True)
    skops.dump(model, folder / "model.skops")
    rows = people(400, 1)
    for name, some in (("train", train), ("rows", rows)):
        some.assign(outcome=granted(some)).to_parquet(folder / f"{name}.parquet")
    (folder / "project.toml").write_text(TOML)


@contextmanager
def served(settings):
    """A server on a free port, until the end."""
    from macex.server import create_app

    config = uvicorn.Config(create_app(settings), port=0, log_level="error", lifespan="on")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(20)


@pytest.fixture(scope="session")
def project_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("projects") / "loans"
    write_project(folder)
    return folder


@pytest.fixture(scope="session")
def site(project_folder, tmp_path_factory):
    from macex.server import Settings

    with served(Settings(state=tmp_path_factory.mktemp("state"), project=project_folder)) as url:
        httpx.get(f"{url}/projects/loans", timeout=120)  # the model is read in a process of its own
        yield url


@contextmanager
def visiting(browser, site, expected=(), **options):
    """A page of the site: other hosts are blocked, and an error on the console is one here.

    `expected` are words of errors that belong to the test.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 900}, **options)
    said = []

    def only_the_site(route):
        if route.request.url.startswith(site):
            route.continue_()
        else:
            said.append(f"asked for {route.request.url}")
            route.abort()

    context.route("**/*", only_the_site)
    page = context.new_page()
    page.set_default_timeout(30_000)
    page.on("console", lambda message: said.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: said.append(str(error)))
    yield page
    context.close()
    assert [one for one in said if not any(word in one for word in expected)] == []


@pytest.fixture
def visit(browser, site):
    with visiting(browser, site) as page:
        yield page
