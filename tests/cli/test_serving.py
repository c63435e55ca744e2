"""`macex project new`, `macex key` and what `macex serve` refuses."""

from __future__ import annotations

import json

import pytest

from macex.causes import Causes
from macex.server.projects.parts import read_parts
from macex.server.storage.database import open_database
from macex.server.storage.keys import Keys

skops = pytest.importorskip("skops.io")


@pytest.fixture
def project(files, tmp_path):
    """The options of a project in a safe format."""
    import joblib

    skops.dump(joblib.load(files / "model"), tmp_path / "model.skops")
    return "project new loans --model model.skops --data {files}/train.csv --label outcome"


def test_a_project_is_made_of_files_and_can_be_opened(macex, project, tmp_path):
    more = "--rows {files}/rows.csv --constraints {files}/rules.toml --title Loans"
    code, out, err = macex(f"{project} {more}")
    assert (code, err) == (0, "")
    assert "macex serve --project loans" in out
    parts = read_parts(tmp_path / "loans")
    assert (len(parts.training), len(parts.rows)) == (300, 40)
    assert parts.constraints.fixed == ("age",)


def test_a_project_keeps_what_a_file_says_of_structure_and_causes(macex, project, tmp_path):
    rules = 'fixed = ["age"]\nstructure = "warn"\n[causes.edges]\ndebt = ["income"]\n'
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    code, _, err = macex(f"{project} --constraints rules.toml")
    assert (code, err) == (0, "")
    parts = read_parts(tmp_path / "loans")
    assert (parts.structure, parts.causes) == ("warn", Causes({"debt": ["income"]}))
    assert parts.constraints.fixed == ("age",)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("--model {files}/model", "pickle"),
        ("--label outcom", "did you mean 'outcome'"),
        ("--rows {files}/nothing.csv", "nothing.csv"),
        ("--constraints {files}/train.csv", "line 1"),
    ],
)
def test_a_project_that_would_not_work_is_not_made(macex, project, tmp_path, more, said):
    code, _, err = macex(f"{project} {more}")
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert not (tmp_path / "loans").exists()


def test_a_folder_that_exists_is_kept(macex, project, tmp_path):
    (tmp_path / "loans").mkdir()
    code, _, err = macex(project)
    assert (code, "exists" in err) == (2, True)


def test_keys_are_made_listed_and_revoked(macex, tmp_path):
    code, out, _ = macex("key new alice --scope read --state state")
    assert code == 0
    keys = Keys(open_database(f"sqlite:///{tmp_path / 'state' / 'server.db'}"))
    assert keys.find(out.strip()).name == "alice"
    assert "alice  read" in macex("key list --state state")[1]
    (alice,) = json.loads(macex("key list --state state --json")[1])
    assert (alice["name"], alice["scopes"], alice["projects"]) == ("alice", ["read"], None)
    assert macex("key revoke alice --state state")[0] == 0
    assert keys.find(out.strip()) is None
    code, _, err = macex("key revoke alice --state state")
    assert (code, "no key 'alice'" in err) == (2, True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--host 0.0.0.0", "macex key new"),
        ("--port 99999", "MACEX_PORT"),
        ("--project nothing", "macex project new"),
        ("--database nonsense", "database"),
    ],
)
def test_a_server_that_cannot_run_says_why_in_one_line(macex, options, said):
    code, _, err = macex(f"serve --state state {options}")
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
