"""What is stored is there again, on every database."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace

import pytest
from sqlalchemy import text

import macex as mx
from macex.audit import read_records
from macex.errors import OptionError
from macex.server.projects.parts import Parts, read_parts
from macex.server.storage.audit import COMMON, StoredAudit, held, records, stored_audit
from macex.server.storage.database import open_database
from macex.server.storage.jobs import Jobs
from macex.server.storage.keys import Keys
from macex.server.storage.tables import now
from macex.server.storage.views import Views


def test_a_key_is_known_by_itself_alone(engine):
    keys = Keys(engine)
    key = keys.make("alice", ("explain",))
    assert keys.find(key).scopes == ("read", "explain")
    for other in (
        key[:-1],
        key + "x",
        key.replace("_", "-"),
        "",
        "mx__",
        keys.make("bob", ("read",)),
    ):
        found = keys.find(other)
        assert found is None or found.name == "bob"


def test_a_key_is_kept_as_a_digest(engine):
    key = Keys(engine).make("alice", ("admin",))
    kept = Keys(engine).all()[0]
    _, identity, secret = key.split("_", 2)  # the secret may hold more of them
    assert identity == kept.id
    assert len(secret) == 32
    assert secret not in str(kept)


def test_a_revoked_key_is_worth_nothing_and_its_name_is_free(engine):
    keys = Keys(engine)
    key = keys.make("alice", ("read",))
    with pytest.raises(OptionError, match="already"):
        keys.make("alice", ("read",))
    keys.revoke("alice")
    assert keys.find(key) is None
    with pytest.raises(OptionError, match="no key 'alice'"):
        keys.revoke("alice")
    assert keys.make("alice", ("read",)) != key


@pytest.mark.parametrize("scopes", [(), ("write",)])
def test_a_key_without_a_known_scope_is_refused(engine, scopes):
    with pytest.raises(OptionError, match="scope"):
        Keys(engine).make("alice", scopes)


def test_views_belong_to_their_project(engine):
    views = Views(engine)
    state = {"where": "age > 40", "größe": [1, None, 2.5]}
    saved = views.save("loans", "alice", "Older", state)
    assert views.of("loans") == [saved]
    assert views.of("other") == []
    assert views.get("other", saved.id) is None
    assert not views.remove("other", saved.id)
    assert views.remove("loans", saved.id)
    assert views.of("loans") == []


def test_a_project_has_room_for_so_many_views_and_they_are_read_in_pages(engine, monkeypatch):
    monkeypatch.setattr("macex.server.storage.views.MOST", 5)
    views = Views(engine)
    saved = [views.save("loans", "alice", f"View {at}", {}) for at in range(5)]
    with pytest.raises(OptionError, match="at most 5 saved views"):
        views.save("loans", "alice", "One more", {})
    assert views.save("other", "alice", "Elsewhere", {}) == views.of("other")[0]
    assert views.count("loans") == 5
    pages = [one for start in (0, 2, 4) for one in views.of("loans", start, 2)]
    assert pages == views.of("loans")
    assert {one.id for one in pages} == {one.id for one in saved}
    views.remove("loans", saved[0].id)
    views.save("loans", "alice", "One more", {})


def test_a_view_is_no_longer_than_an_address(engine):
    with pytest.raises(OptionError, match="at most 50,000 characters"):
        Views(engine).save("loans", "alice", "Long", {"address": "/" + "x" * 50_000})


def job(jobs, total=10):
    return jobs.add("loans", "alice", {"n": 1}, {"places": [1, 2]}, total=total, chunk=4)


def test_a_job_is_read_as_it_was_added(engine):
    jobs = Jobs(engine)
    one = job(jobs)
    assert (one.status, one.done, one.question) == ("queued", 0, {"n": 1})
    assert jobs.source(one.id) == {"places": [1, 2]}
    assert jobs.get(one.id) == one
    assert jobs.all() == jobs.all("loans") == [one]
    assert jobs.all("other") == []
    with pytest.raises(KeyError):
        jobs.get("nothing")


def test_parts_come_back_in_order_and_are_counted(engine):
    jobs = Jobs(engine)
    one = job(jobs)
    jobs.add_part(one.id, 1, b"second\n", {"found": 3, "none": 1})
    jobs.add_part(one.id, 0, b"first\n", {"found": 4})
    assert b"".join(jobs.parts(one.id)) == b"first\nsecond\n"
    assert jobs.get(one.id).done == 8
    assert jobs.statuses(one.id) == {"found": 7, "none": 1}
    assert jobs.finished_parts(one.id) == {0, 1}


def test_a_job_ends_once(engine):
    jobs = Jobs(engine)
    one = job(jobs)
    assert jobs.begin(one.id, "print")
    assert jobs.end(one.id, "cancelled")
    assert not jobs.end(one.id, "done")
    assert not jobs.begin(one.id, "print")
    assert jobs.get(one.id).status == "cancelled"
    assert jobs.waiting() == []
    with jobs.claimed(one.project) as identity:
        assert identity is None


def test_jobs_wait_in_the_order_in_which_they_came(engine):
    jobs = Jobs(engine)
    made = []
    for _ in range(3):
        made.append(job(jobs).id)
        time.sleep(0.002)  # the clock of the table counts milliseconds
    jobs.end(made[1], "done")
    jobs.begin(made[0], "print")
    for expected in (made[0], made[2]):
        with jobs.claimed("loans") as identity:
            assert identity == expected
        jobs.end(expected, "done")


def test_a_removed_job_leaves_no_parts(engine):
    jobs = Jobs(engine)
    one = job(jobs)
    jobs.add_part(one.id, 0, b"x", {"found": 1})
    jobs.remove(one.id)
    assert jobs.finished_parts(one.id) == set()


def test_many_threads_write_at_once_and_nothing_is_lost(engine):
    jobs = Jobs(engine)
    one = job(jobs, total=80)
    threads = [
        threading.Thread(target=jobs.add_part, args=(one.id, n, b"x", {"found": 1}))
        for n in range(40)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(jobs.finished_parts(one.id)) == 40
    assert b"".join(jobs.parts(one.id)) == b"x" * 40


def test_audit_records_are_those_of_an_audit_file(engine, loan_project, tmp_path):
    parts: Parts = read_parts(loan_project)
    file = tmp_path / "audit.jsonl"
    own = mx.Audit(file, model=parts.model_file, data=parts.data_file)
    for audit in (own, stored_audit(engine, "loans", parts)):
        explainer = mx.Explainer(parts.model, parts.training, audit=audit)
        explainer.explain(parts.rows.head(3), n=2)
    written = list(read_records(file))
    stored = list(records(engine, "loans"))
    assert list(records(engine, "other")) == []
    changing = ("id", "time", "cost")
    plain = [{k: v for k, v in one.items() if k not in changing} for one in written]
    kept = [{k: v for k, v in one.items() if k not in changing} for one in stored]
    assert sorted(kept, key=lambda one: one["row"]) == plain


def test_a_stored_record_can_be_replayed(engine, loan_project, tmp_path):
    parts = read_parts(loan_project)
    explainer = mx.Explainer(
        parts.model, parts.training, audit=stored_audit(engine, "loans", parts)
    )
    explainer.explain(parts.rows.head(1))
    file = tmp_path / "export.jsonl"
    lines = [json.dumps(record) + "\n" for record in records(engine)]
    file.write_text("".join(lines))
    again = mx.replay(json.loads(lines[0])["id"], file, model=parts.model, data=parts.training)
    assert again.agrees


def test_a_record_with_other_models_is_made_again_from_their_files(engine, loan_project, tmp_path):
    parts = read_parts(loan_project)
    audit = stored_audit(engine, "loans", parts)
    explainer = mx.Explainer(parts.model, parts.training, audit=audit)
    other = tmp_path / "other.skops"
    other.write_bytes((loan_project / "model.skops").read_bytes())
    explainer.explain(parts.rows.head(1), also=[mx.load_model(other)])
    (record,) = records(engine)
    file = tmp_path / "export.jsonl"
    file.write_text(json.dumps(record) + "\n")
    given = {"model": parts.model, "data": parts.training}
    assert record["call"]["also"][0]["path"] == str(other)
    again = mx.replay(record["id"], file, **given)
    assert (again.agrees, again.notes) == (True, ())
    other.write_bytes(other.read_bytes() + b" ")
    noted = mx.replay(record["id"], file, also=[parts.model], **given)
    assert "model 0 of also=" in noted.notes[0]


@pytest.mark.parametrize(
    "url", ["nonsense", "nosuch://x", "postgresql+psycopg://nobody@127.0.0.1:1/x"]
)
def test_a_database_that_cannot_be_opened_is_said_in_one_line(url):
    with pytest.raises(OptionError, match="database") as caught:
        open_database(url)
    assert "\n" not in str(caught.value)


def test_a_database_of_an_earlier_version_gets_the_columns_that_came_later(tmp_path):
    url = f"sqlite:///{tmp_path / 'old.db'}"
    engine = open_database(url)
    made = Keys(engine).make("old", ("read",))
    with engine.begin() as connection:
        connection.execute(text("ALTER TABLE macex_keys DROP COLUMN projects"))
        connection.execute(text("ALTER TABLE macex_jobs DROP COLUMN key"))
    again = open_database(url)
    assert Keys(again).find(made).projects is None
    assert Jobs(again).all() == []


def audited(engine):
    """The records of one row, as they are stored."""
    record = dict.fromkeys(COMMON) | {"row": 0, "id": "r", "time": now(), "status": "found"}
    with held() as gathered:
        StoredAudit("", engine=engine, project="loans").write([record])
    assert list(records(engine)) == []
    return gathered


def test_records_are_stored_with_their_part_and_once(engine):
    """A server that is killed before, or after, the part is stored leaves nothing twice."""
    jobs = Jobs(engine)
    one = job(jobs)
    again = [replace(lines, lines=[{**lines.lines[0], "id": "s"}]) for lines in audited(engine)]
    jobs.add_part(one.id, 0, b"x", {"found": 1}, audited(engine))
    jobs.add_part(one.id, 0, b"x", {"found": 1}, again)
    assert [record["id"] for record in records(engine)] == ["r"]


def test_records_of_a_part_that_was_not_stored_are_not_stored_either(engine):
    jobs = Jobs(engine)
    one = job(jobs)
    jobs.remove(one.id)
    jobs.add_part(one.id, 0, b"x", {"found": 1}, audited(engine))
    assert list(records(engine)) == []
