"""Whatever is wrong: one line that says what to do, exit code 2, nothing under the final name."""

from __future__ import annotations

import os
import resource
import subprocess
from pathlib import Path

import joblib
import pandas as pd
import pytest


class Picky:
    """A model that takes four columns and says so only when asked."""

    def predict_proba(self, rows):
        if rows.shape[1] != 4:
            raise ValueError("give me 4 columns")
        return [[0.5, 0.5]] * len(rows)


ASK = "explain {common} --rows {files}/rows.csv --out result.csv"


def refused(said: tuple[int, str, str], *words: str) -> None:
    code, out, error = said
    assert (code, out) == (2, "")
    assert error.startswith("macex: ")
    assert error.count("\n") == 1
    assert [word for word in words if word not in error] == []
    assert not Path("result.csv").exists()


def test_a_label_left_in_the_training_rows(macex):
    unlabelled = ASK.replace("{common}", "--model {files}/model --data {files}/train.csv")
    refused(macex(unlabelled + " --allow-pickle"), "'outcome'", "drop it or pass --label outcome")


def test_a_label_left_in_where_the_model_knows_no_columns(macex):
    """As above for a model that only fails when it is asked."""
    joblib.dump(Picky(), "picky")
    line = "explain --model picky --data {files}/train.csv --rows {files}/rows.csv --out result.csv"
    refused(macex(line + " --allow-pickle"), "4 columns", "pass --label")


def test_a_label_that_is_not_there(macex):
    wrong = ASK.replace("{common}", "--model {files}/model --data {files}/train.csv --label otcome")
    refused(macex(wrong + " --allow-pickle"), "'otcome'", "did you mean 'outcome'?")


def test_a_label_left_in_the_rows_is_dropped_with_label(macex, files):
    rows = pd.read_csv(files / "rows.csv").assign(outcome="refused")
    rows.to_csv("labelled.csv", index=False)
    assert macex("explain {common} --rows labelled.csv --out result.csv")[0] == 0


def test_a_column_is_missing_from_the_rows(macex, files):
    pd.read_csv(files / "rows.csv").drop(columns="debt").to_csv("rows.csv", index=False)
    refused(macex("explain {common} --rows rows.csv --out result.csv"), "rows.csv", "'debt'")


def test_a_column_too_many_in_the_rows(macex, files):
    pd.read_csv(files / "rows.csv").assign(note=1).to_csv("rows.csv", index=False)
    said = macex("explain {common} --rows rows.csv --out result.csv")
    refused(said, "rows.csv", "'note'", "--drop note", "--id note")


def test_a_column_twice(macex, files):
    text = (files / "rows.csv").read_text().replace("debt", "age", 1)
    Path("rows.csv").write_text(text)
    refused(macex("explain {common} --rows rows.csv --out result.csv"), "two columns 'age'")


def test_a_file_that_is_not_there(macex):
    refused(macex("explain {common} --rows nowhere.csv --out result.csv"), "nowhere.csv: No such")


def test_an_empty_file(macex):
    Path("rows.csv").touch()
    refused(macex("explain {common} --rows rows.csv --out result.csv"), "rows.csv is empty")


def test_a_csv_cut_off_in_the_middle_of_a_line(macex, files):
    whole = (files / "rows.csv").read_text().rstrip("\n")
    Path("rows.csv").write_text(whole[: whole.rindex(",")])
    refused(macex("explain {common} --rows rows.csv --out result.csv"), "line 41", "cut off")


def test_a_line_with_too_many_cells(macex, files):
    Path("rows.csv").write_text((files / "rows.csv").read_text() + "1,2,3,none,5\n")
    refused(macex("explain {common} --rows rows.csv --out result.csv"), "line 42 has 5 cells")


@pytest.mark.parametrize("form", ["parquet", "feather"])
def test_a_binary_file_cut_off(macex, files, form):
    pytest.importorskip("pyarrow")
    rows = pd.read_csv(files / "rows.csv")
    getattr(rows, f"to_{form}")("whole")
    Path("rows").write_bytes(Path("whole").read_bytes()[:-20])
    refused(macex("explain {common} --rows rows --out result.csv"), "rows is not a whole")


def test_json_lines_cut_off(macex, files):
    rows = pd.read_csv(files / "rows.csv")
    text = rows.to_json(orient="records", lines=True)
    Path("rows").write_text(text.rstrip()[:-5])
    said = macex("explain {common} --rows rows --out result.csv")
    refused(said, "rows line 40 is not whole JSON")


def test_a_gzip_file_cut_off(macex, files):
    pd.read_csv(files / "rows.csv").to_csv("whole.csv.gz", index=False)
    Path("rows.gz").write_bytes(Path("whole.csv.gz").read_bytes()[:-30])
    refused(macex("explain {common} --rows rows.gz --out result.csv"), "not a whole gzip file")


def test_bytes_that_are_no_table(macex):
    Path("rows").write_bytes(bytes(range(128, 256)) * 10)
    refused(macex("explain {common} --rows rows --out result.csv"), "neither UTF-8 text")


def test_a_cell_that_is_no_number_is_named_with_its_line(macex, files):
    lines = (files / "rows.csv").read_text().splitlines()
    lines[17] = "much,1.0,30,none"
    Path("rows.csv").write_text("\n".join(lines))
    code, _, error = macex("explain {common} --rows rows.csv --chunk 5 --out result.csv")
    assert code == 1
    assert "macex: rows.csv line 18: column 'income' holds 'much'" in error
    assert "macex: 1 rows could not be read" in error
    made = pd.read_csv("result.csv")
    assert made["cf.row"].tolist() == list(range(40))
    assert made.loc[16, ["income", "cf.status"]].tolist() == ["much", "not_found"]


def test_a_model_that_needs_pickle(macex):
    line = ASK.replace("{common}", "--model {files}/model --data {files}/train.csv --label outcome")
    refused(macex(line), "--allow-pickle")


def test_a_model_file_cut_off(macex, files):
    Path("model").write_bytes((files / "model").read_bytes()[:500])
    line = ASK.replace("{common}", "--model model --data {files}/train.csv --label outcome")
    refused(macex(line + " --allow-pickle"), "model")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('fixed = ["age"]\nincrese = ["debt"]\n', ["line 2", "`increse =", "'increase'"]),
        ('fixed = [\n  "age",\n  "dept",\n]\n', ["line 3", '`"dept",`', "'debt'"]),
        ("[ranges]\nage = [18, 80]\nincme = [0, 1]\n", ["line 3", "`incme", "'income'"]),
        ('rules = ["debt <= incme"]\n', ["line 1", "`rules", "'incme'"]),
        ('[allowed]\njob = ["fulltime"]\n', ["line 2", "'full-time'"]),
        ('fixed = ["age"\n', ["line"]),
        ("max_changes = 1.5\n", ["line 1", "max_changes"]),
    ],
)
def test_a_typo_in_the_constraints_is_quoted_with_its_line(macex, text, words):
    Path("rules.toml").write_text(text)
    refused(macex(ASK + " --constraints rules.toml"), "rules.toml", *words)
    check = "constraints check rules.toml --data {files}/train.csv --label outcome"
    refused(macex(check), "rules.toml", *words)


def test_a_typo_in_the_schema_is_quoted_with_its_line(macex):
    Path("schema.toml").write_text('[age]\nkind = "continous"\n')
    refused(macex(ASK + " --schema schema.toml"), "schema.toml line 1", "'continuous'")


def test_an_output_that_exists_is_kept_without_force(macex):
    Path("result.csv").write_text("dear")
    code, _, error = macex(ASK)
    assert code == 2
    assert "result.csv exists: pass --force" in error
    assert Path("result.csv").read_text() == "dear"
    assert macex(ASK + " --force")[0] == 0
    assert Path("result.csv").read_text() != "dear"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("explain", ["--model"]),
        ("explian", ["explian"]),
        (ASK + " --wnt x", ["--wnt"]),
        (ASK + " -n none", ["-n"]),
        (ASK + " --want grantd", ["'grantd'", "'granted'"]),
        (ASK + " --want at_lest(1)", ["'at_lest'", "'at_least'"]),
        (ASK + " --want at_least(a)", ["at_least(NUMBER)"]),
        (ASK + " --method exhausting", ["'exhausting'", "'exhaustive'"]),
        (ASK.replace("csv", "xls"), ["'xls'", ".parquet"]),
        (ASK.replace("result.csv", "nowhere/result.csv"), ["no folder nowhere"]),
        (ASK + " --chunk 0", ["chunk"]),
    ],
)
def test_a_wrong_option_is_named(macex, line, words):
    refused(macex(line), *words)


@pytest.mark.parametrize("form", ["csv", "json", "parquet", "html"])
def test_a_full_disk_leaves_nothing_under_the_final_name(program, tmp_path, form):
    limit = 3000

    def little_room() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    line = program(f"explain {{common}} --rows {{files}}/rows.csv --out result.{form}")
    done = subprocess.run(
        line,
        cwd=tmp_path,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        preexec_fn=little_room,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith("macex: ")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / f"result.{form}").exists()
    assert [path for path in tmp_path.iterdir() if path.suffix == ".part"] == []


def test_a_full_stream_is_said(program, tmp_path):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            program("explain {common} --rows {files}/rows.csv --out -"),
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "No space left" in done.stderr
