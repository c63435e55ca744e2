"""`macex plan` and `macex bias`."""

from __future__ import annotations

import json
import re
from functools import partial

import pytest

from macex.scale.run import lines

LINE = "{common} --rows {files}/rows.csv --want granted"


def test_a_plan_is_printed_and_written(macex, tmp_path):
    code, out, err = macex(
        f"plan {LINE} --actions 2 --constraints {{files}}/rules.toml --out plan.html"
    )
    assert (code, err) == (0, "")
    assert "flip" in out
    page = (tmp_path / "plan.html").read_text()
    assert page.startswith("<!DOCTYPE html>")
    assert "<table" in page
    code, _, err = macex(f"plan {LINE} --out plan.html")
    assert code == 2
    assert "plan.html" in err


def test_a_plan_as_json_has_its_actions(macex):
    code, out, _ = macex(f"plan {LINE} --actions 1 --max-changes 1 --json")
    document = json.loads(out)
    assert code == 0
    assert document["asked"] >= document["flipped"] > 0
    assert len(document["actions"]) == 1


def test_plans_by_group(macex):
    code, out, _ = macex(f"plan {LINE} --by job")
    assert code == 0
    assert "none: " in out


def test_groups_are_those_of_several_columns(macex):
    for command in ("plan", "recourse"):
        code, out, _ = macex(f"{command} {LINE} --by job --by age --sample 20 --json")
        document = json.loads(out)
        lines = document["actions"] if command == "plan" else document["groups"]
        assert code == 0
        assert any(line["group"].startswith("none, ") for line in lines)
    code, out, _ = macex(f"plan {LINE} --by age --bands age=40 --support 0.1")
    assert code == 0
    assert "up to 40: " in out


def test_bias_is_printed_written_and_json(macex, tmp_path):
    code, out, err = macex(f"bias {LINE} --protected age --explained 20 --out bias.csv")
    assert (code, err) == (0, "")
    assert "Changing age alone changes" in out
    assert (tmp_path / "bias.csv").read_text().startswith("what,column")
    code, out, _ = macex(f"bias {LINE} --protected age --bands age=30,50 --max-values 3 --quiet")
    assert (code, out) == (0, "")
    code, out, _ = macex(f"bias {LINE} --protected job --explained 20 --json")
    assert json.loads(out)["reading"][0].startswith("Changing job alone")


def test_wrong_use_is_told_in_one_line(macex):
    for line, said in (
        (f"bias {LINE} --protected gendr", "there is no column 'gendr'"),
        (f"bias {LINE} --protected age --bands age=old", "give a column and its edges"),
        (f"plan {LINE} --actions 0", "actions must be a whole number"),
        (f"plan {LINE} --by jb", "did you mean 'job'"),
        (f"plan {LINE} --out plan.pdf", ".csv or .html"),
    ):
        code, _, err = macex(line)
        assert code == 2
        assert said in err
        assert len(err.splitlines()) == 1


def test_recourse_is_printed_by_group_written_and_json(macex, tmp_path):
    rules = "--constraints {files}/rules.toml"
    code, out, err = macex(f"recourse {LINE} {rules} --by job --out recourse.csv")
    assert (code, err) == (0, "")
    assert "have an answer" in out
    assert (tmp_path / "recourse.csv").read_text().startswith("group,there")
    code, out, _ = macex(f"recourse {LINE} {rules} --no-diagnose --json")
    document = json.loads(out)
    assert code == 0
    assert document["rows"] == len(document["standing"]) == 40
    assert document["blocked"] == {}


def test_the_picture_is_printed_written_and_json(macex, tmp_path):
    code, out, err = macex(f"picture {LINE} --parts 2 --out picture.html")
    assert (code, err) == (0, "")
    assert "One action for each part" in out
    assert "<table" in (tmp_path / "picture.html").read_text()
    code, out, _ = macex(f"picture {LINE} --parts 1 --explained 10 --json")
    document = json.loads(out)
    assert code == 0
    assert document["rules"][0]["rows with"] == "any values"
    assert sum(line["changed"] for line in document["columns"]) >= document["rows"] > 0


def test_a_finding_that_cannot_be_written_is_told_before_anything_is_read(macex):
    code, _, err = macex("picture --model no --data no --rows no --out picture.pdf")
    assert code == 2
    assert ".csv or .html" in err


def test_answers_hold_with_another_model(macex, tmp_path):
    line = f"explain {LINE} --robust 0.9 --also {{files}}/model"
    code, _, err = macex(f"{line} --out sturdy.json")
    assert (code, err) == (0, "")
    explanations = json.loads((tmp_path / "sturdy.json").read_text())["explanations"]
    found = [cf for e in explanations for cf in e["counterfactuals"] if cf["changes"]]
    assert found
    assert all(cf["robustness"] >= 0.9 for cf in found)
    code, _, err = macex(f"explain {LINE} --robust 2")
    assert (code, "from 0 to 1" in err) == (2, True)
    code, _, err = macex(f"explain {LINE} --also {{files}}/nothing")
    assert (code, "nothing" in err) == (2, True)


def test_a_file_is_read_in_chunks_and_gives_the_same(macex, monkeypatch):
    lines = [f"{command} {LINE} --json" for command in ("plan", "recourse", "picture")]
    lines += [f"plan {LINE} --by job --json", f"bias {LINE} --protected age --explained 50 --json"]
    whole = [macex(line)[1] for line in lines]
    monkeypatch.setattr("macex.cli.populations.CHUNK", 7)
    parts = [macex(line)[1] for line in lines]
    assert parts == whole
    assert json.loads(whole[0])["flipped"] > 0


def test_a_sample_is_drawn_from_the_file(macex):
    code, out, _ = macex(f"bias {LINE} --protected age --explained 5 --sample 15 --json")
    assert (code, json.loads(out)["rows"]) == (0, 15)
    code, _, _ = macex(f"picture {LINE} --sample 15 --quiet")
    assert code == 0
    code, _, err = macex(f"picture {LINE} --sample 0")
    assert code == 2
    assert "--sample must be a whole number" in err


COMMANDS = ("plan", "recourse", "bias --protected age", "picture")


@pytest.mark.parametrize("command", COMMANDS)
def test_pages_and_json_say_what_was_asked_of_which_model(command, macex, tmp_path):
    rules = "--constraints {files}/rules.toml"
    code, out, _ = macex(f"{command} {LINE} {rules} --sample 15 --json --out page.html")
    assert code == 0
    told = json.loads(out)["meta"]
    assert told["want"] == "granted"
    assert told["constraints"] == "fixed 'age'; ranges of 'income'"
    page = (tmp_path / "page.html").read_text()
    assert "Wanted</dt><dd>granted<" in page
    assert f"Model</dt><dd>{told['model']}<" in page
    assert re.fullmatch("[0-9a-f]{12}", told["model"])


@pytest.mark.parametrize("command", COMMANDS)
def test_a_log_says_how_far_a_command_has_come(command, macex, monkeypatch):
    often = partial(lines, every=-1.0)
    monkeypatch.setattr("macex.cli.populations.lines", often)
    monkeypatch.setattr("macex.cli.populations.CHUNK", 16)
    code, _, err = macex(f"{command} {LINE} --json")
    assert code == 0
    said = err.splitlines()
    assert said[0].startswith("macex: reading rows")
    assert ": 16 of 40 rows, " in said[0]
    assert said[0].endswith(" s left")
    assert any(": 40 of 40 rows, " in line for line in said)
    assert macex(f"{command} {LINE} --quiet") == (0, "", "")
