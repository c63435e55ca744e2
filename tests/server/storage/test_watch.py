"""Whether the database answers is known at once, and said by `/ready`."""

from __future__ import annotations

import time

import httpx
from sqlalchemy import text

from macex.server import Settings
from macex.server.storage.database import Watch, open_database


def test_a_database_that_fails_is_seen_and_seen_to_come_back(engine):
    watch = Watch(engine)
    watch.look()
    assert watch.fault == ""
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE macex_claims RENAME TO away"))
    watch.look()
    assert watch.fault
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE away RENAME TO macex_claims"))
    watch.look()
    assert watch.fault == ""


def test_a_database_that_says_nothing_is_gone(tmp_path, monkeypatch):
    watch = Watch(open_database(f"sqlite:///{tmp_path / 'server.db'}"))
    assert watch.fault == ""
    monkeypatch.setattr("macex.server.storage.database.PATIENCE_S", -1.0)
    assert watch.fault == "no answer"


def test_a_server_without_its_database_is_not_ready(tmp_path, start):
    with start(Settings(state=tmp_path)) as served:
        url = f"{served.url}/api/v1/ready"
        assert httpx.get(url).json() == {"ready": True}
        with served.server.engine.begin() as connection:
            connection.execute(text("DROP TABLE macex_claims"))
        until = time.monotonic() + 30
        while (said := httpx.get(url)).status_code == 200 and time.monotonic() < until:
            time.sleep(0.05)
        assert (said.status_code, said.json()["code"]) == (503, "database")
        assert httpx.get(f"{served.url}/api/v1/health").status_code == 200
