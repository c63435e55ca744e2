"""What a project says of itself."""

from __future__ import annotations

import shutil
from functools import partial

import pytest

from macex.errors import DataError, MacexError
from macex.server.projects.catalogue import Catalogue, UnknownProjectError, slug
from macex.server.projects.parts import FILE, described, read_description, read_parts

LEAST = {"model": "m.onnx", "data": "d.csv"}


def catalogue(folder, single=None):
    return Catalogue(folder, single, lambda _name: None)


def test_a_description_is_read_as_it_was_written(tmp_path):
    given = {"title": "T", "label": "y", "drop": ["id"], "classes": ["no", "yes"]}
    given |= {"schema": {"age": {"kind": "continuous", "step": 5}}, "names": {"age": "Age"}}
    written = described({**LEAST, **given, "constraints": {"fixed": ["age"]}})
    written.write(tmp_path)
    assert read_description(tmp_path) == written


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"modle": "x"}, "did you mean 'model'"),
        ({"model": "../../etc/passwd"}, "name of a file in the folder"),
        ({"data": "/etc/passwd"}, "name of a file in the folder"),
        ({"rows": ".."}, "name of a file in the folder"),
        ({"drop": "id"}, "must be a list"),
        ({"names": ["a"]}, "must be a table"),
        ({"title": 3}, "must be text"),
        ({"schema": {"age": "continuos"}}, "continuous"),
        ({"constraints": {"fixd": []}}, "did you mean 'fixed'"),
    ],
)
def test_what_is_wrong_is_named(wrong, said):
    with pytest.raises(MacexError, match=said):
        described({**LEAST, **wrong})


def test_a_folder_without_a_description_is_no_project(tmp_path):
    with pytest.raises(DataError, match="macex project new"):
        read_description(tmp_path)


def test_a_broken_description_is_said_with_its_file(tmp_path):
    (tmp_path / FILE).write_text("title = ", encoding="utf-8")
    with pytest.raises(DataError, match=r"project\.toml"):
        read_description(tmp_path)


def test_without_a_project_there_is_the_demo(tmp_path):
    assert [project.name for project in catalogue(tmp_path)] == ["adult"]


def test_the_first_upload_does_not_hide_the_demo(loan_files, tmp_path):
    known = catalogue(tmp_path)

    def fill(folder):
        for name in ("model.skops", "train.csv"):
            (folder / name).write_bytes((loan_files / name).read_bytes())
        described({"model": "model.skops", "data": "train.csv"}).write(folder)

    known.add("Mine", fill)
    assert {project.name for project in known} == {"adult", "mine"}
    assert {project.name for project in catalogue(tmp_path)} == {"adult", "mine"}


def test_servers_of_one_folder_see_each_others_projects(loan_files, tmp_path):
    mine, yours = catalogue(tmp_path), catalogue(tmp_path)

    def fill(folder):
        for name in ("model.skops", "train.csv"):
            (folder / name).write_bytes((loan_files / name).read_bytes())
        described({"model": "model.skops", "data": "train.csv"}).write(folder)

    mine.add("Shared", fill)
    assert yours["shared"].name == "shared"
    yours.remove("shared")
    with pytest.raises(UnknownProjectError):
        mine["shared"]


def test_names_are_looked_up_and_never_paths(loan_project, tmp_path):
    known = catalogue(tmp_path / "projects", loan_project)
    assert known["loans"].title == "Loans"
    for name in ("..", "../loans", str(loan_project), "", "LOANS", "loans/"):
        with pytest.raises(UnknownProjectError):
            known[name]


def test_two_projects_of_one_title_have_two_names():
    assert slug("A & B") == "a-b"
    assert slug("A & B", {"a-b"}) == "a-b-2"
    assert slug("../../x") == "x"
    assert slug("日本") == "project"


def test_a_broken_project_keeps_no_other_from_being_served(loan_project, tmp_path):
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / FILE).write_text("title = ", encoding="utf-8")
    shutil.copytree(loan_project, tmp_path / "whole")
    assert [project.name for project in catalogue(tmp_path)] == ["whole", "adult"]


def test_a_folder_left_by_a_crash_is_in_nobody_s_way(loan_project, tmp_path):
    (tmp_path / "loans").mkdir()
    fill = partial(shutil.copytree, loan_project, dirs_exist_ok=True)
    assert catalogue(tmp_path).add("Loans", fill).name == "loans-2"


def test_a_project_is_opened_when_asked_and_once(loan_project, tmp_path):
    project = catalogue(tmp_path, loan_project)["loans"]
    assert not project.opened
    assert project.open().table is project.table
    assert project.explainer() is project.explainer()
    assert project.explainer("reinforce") is not project.explainer()


def test_rows_to_look_at_are_typed_as_in_training(loan_project):
    parts = read_parts(loan_project)
    assert parts.rows.dtypes.astype(str).tolist() == parts.training.dtypes.astype(str).tolist()
    assert "outcome" not in parts.training
