"""A project that takes long to open is seen to be loading, and opened once."""

from __future__ import annotations

import gc
import threading

import httpx
import pytest

from macex.server import Settings

BROWSER = {"Sec-Fetch-Mode": "navigate", "Accept": "text/html"}


@pytest.fixture
def slow(loan_project, tmp_path, start):
    """A server whose project is read when the event is set."""
    with start(Settings(state=tmp_path, project=loan_project)) as served:
        project, go, reads = served.server.projects["loans"], threading.Event(), []
        load = project._load

        def waiting():
            reads.append(1)
            go.wait(60)
            return load()

        project._load = waiting
        yield served, go, reads
        go.set()


def test_who_looks_at_it_sees_that_it_is_loading(slow):
    served, go, reads = slow
    url = f"{served.url}/projects/loans"
    for _ in range(3):
        page = httpx.get(url, headers=BROWSER, timeout=60).text
        assert "is being loaded" in page
        assert 'http-equiv="refresh"' in page
    assert httpx.get(served.url, headers=BROWSER, timeout=60).status_code == 200
    go.set()
    whole = httpx.get(url, timeout=120).text  # a program waits
    assert "300 rows" in whole
    assert "300 rows" in httpx.get(url, headers=BROWSER, timeout=60).text
    assert len(reads) == 1


def test_a_stranger_opens_nothing(loan_project, tmp_path, start):
    with start(Settings(state=tmp_path, project=loan_project, admin_key="k")) as served:
        said = httpx.get(f"{served.url}/projects/loans", headers=BROWSER)
        assert said.status_code == 303
        assert not served.server.projects["loans"].opened


def test_what_cannot_be_opened_says_why(loan_project, tmp_path, start):
    import shutil

    folder = tmp_path / "broken"
    shutil.copytree(loan_project, folder)
    (folder / "train.csv").write_text("")
    with start(Settings(state=tmp_path / "state", project=folder)) as served:
        page = httpx.get(f"{served.url}/projects/loans", timeout=120, headers=BROWSER)
        while "is being loaded" in page.text:
            page = httpx.get(f"{served.url}/projects/loans", timeout=120, headers=BROWSER)
        assert page.status_code == 422
        assert "train.csv" in page.text


def test_the_collector_of_garbage_leaves_alone_what_was_loaded(loan_project, tmp_path, start):
    """A look at all objects stops every thread, and /health with them."""
    gc.unfreeze()
    with start(Settings(state=tmp_path, project=loan_project)) as served:
        assert gc.get_freeze_count() > 50_000
        before = gc.get_freeze_count()
        httpx.get(f"{served.url}/api/v1/projects/loans", timeout=120)
        assert gc.get_freeze_count() > before
