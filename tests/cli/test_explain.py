"""`macex explain` writes what the library answers, in every form, from every form."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import jsonschema
import pandas as pd
import pytest

import macex as mx
from macex.explanation.json import schema


@pytest.fixture
def found(files):
    """What the library answers for the same rows."""
    data = pd.read_csv(files / "train.csv").drop(columns="outcome")
    explainer = mx.Explainer(joblib.load(files / "model"), data)
    return explainer.explain(pd.read_csv(files / "rows.csv"), n=2)


def test_a_csv_holds_the_frame_of_the_library(macex, found):
    code, said, _ = macex("explain {common} --rows {files}/rows.csv -n 2 --out result.csv")
    assert code == 0
    assert "40 rows" in said
    pd.testing.assert_frame_equal(
        pd.read_csv("result.csv"), found.to_frame().reset_index(drop=True), check_dtype=False
    )


def test_chunks_change_no_answer(macex):
    macex("explain {common} --rows {files}/rows.csv -n 2 --out whole.jsonl")
    macex("explain {common} --rows {files}/rows.csv -n 2 --chunk 7 --out parts.jsonl")
    assert Path("whole.jsonl").read_bytes() == Path("parts.jsonl").read_bytes()


@pytest.mark.parametrize("chunk", ["7", "4096"])
def test_json_is_the_documented_form(macex, found, chunk):
    macex("explain {common} --rows {files}/rows.csv -n 2 --out result.json --chunk", chunk)
    document = json.loads(Path("result.json").read_text())
    jsonschema.validate(document, schema())
    canonical = json.loads(found.to_json(canonical=True))
    assert document["explanations"] == canonical["explanations"]


def test_parquet_holds_what_csv_holds(macex):
    pytest.importorskip("pyarrow")
    macex("explain {common} --rows {files}/rows.csv --out result.csv")
    macex("explain {common} --rows {files}/rows.csv --chunk 7 --out result.parquet")
    pd.testing.assert_frame_equal(
        pd.read_csv("result.csv"), pd.read_parquet("result.parquet"), check_dtype=False
    )


def test_a_report_is_one_page(macex):
    code, *_ = macex("explain {common} --rows {files}/rows.csv --out result.html -q")
    assert code == 0
    assert Path("result.html").read_text().count("<section") >= 40


def test_changes_are_one_line_each(macex, found):
    macex("explain {common} --rows {files}/rows.csv -n 2 --changes --chunk 9 --out result.csv")
    changes = pd.read_csv("result.csv")
    assert changes["cf.row"].tolist() == found.to_changes()["cf.row"].tolist()
    assert changes["column"].tolist() == found.to_changes()["column"].tolist()


@pytest.mark.parametrize("form", ["parquet", "feather", "jsonl", "csv.gz"])
def test_rows_in_any_form_get_the_same_answers(macex, files, tmp_path, form):
    pytest.importorskip("pyarrow")
    rows, path = pd.read_csv(files / "rows.csv"), f"rows.{form}"
    writers = {
        "parquet": rows.to_parquet,
        "feather": rows.to_feather,
        "jsonl": lambda to: rows.to_json(to, orient="records", lines=True),
        "csv.gz": lambda to: rows.to_csv(to, index=False),
    }
    writers[form](path)
    macex("explain {common} --rows {files}/rows.csv --out expected.csv")
    code, *_ = macex(f"explain {{common}} --rows {path} --out result.csv")
    assert code == 0
    assert Path("result.csv").read_text() == Path("expected.csv").read_text()


def test_the_name_of_a_row_is_kept_and_not_shown_to_the_model(macex, files):
    rows = pd.read_csv(files / "rows.csv", dtype=str)
    rows.insert(2, "customer", [f"00{at}" for at in range(len(rows))])
    rows.to_csv("named.csv", index=False)
    code, *_ = macex("explain {common} --rows named.csv --id customer --chunk 7 --out result.csv")
    assert code == 0
    result = pd.read_csv("result.csv", dtype=str)
    assert result["customer"].tolist() == rows["customer"].tolist()
    macex("explain {common} --rows named.csv --id customer --out result.jsonl")
    assert json.loads(Path("result.jsonl").read_text().splitlines()[0])["id"] == "000"


def test_a_row_the_model_has_no_answer_for_is_a_line_not_a_failure(macex):
    only_debt_below = 'only = ["debt"]\n[ranges]\ndebt = [59, 60]\n'
    Path("strict.toml").write_text(only_debt_below)
    code, said, _ = macex(
        "explain {common} --rows {files}/rows.csv --want granted --constraints strict.toml "
        "--out result.csv --json"
    )
    assert code == 0
    statuses = json.loads(said)["statuses"]
    assert statuses["none"] > 0
    assert sum(statuses.values()) == 40


@pytest.mark.parametrize(
    ("want", "lowest"), [("at_least(0.7,label=granted)", 0.7), ("between(0.3,0.4)", 0.3)]
)
def test_goals_are_written_as_in_the_library(macex, want, lowest):
    macex("explain {common} --rows {files}/rows.csv --out result.csv --want", want)
    result = pd.read_csv("result.csv")
    reached = result[result["cf.rank"] > 0]
    assert len(reached) == 40
    assert (reached["cf.score"] >= lowest).all()


def test_without_out_the_rows_are_shown(macex):
    code, said, _ = macex("explain {common} --rows {files}/rows.csv")
    assert code == 0
    assert "20 explanations" in said
    assert json.loads(macex("explain {common} --rows {files}/rows.csv --json")[1])["explanations"]


def test_no_rows_give_a_header(macex):
    Path("none.csv").write_text("income,debt,age,job\n")
    code, *_ = macex("explain {common} --rows none.csv --out result.csv")
    assert code == 0
    assert Path("result.csv").read_text().startswith("income,debt,age,job,cf.row")
    macex("explain {common} --rows none.csv --out result.json")
    assert json.loads(Path("result.json").read_text())["explanations"] == []


def test_reason_codes_are_read_from_a_file_and_written(macex, tmp_path):
    (tmp_path / "codes.toml").write_text('income = ["R1", "Income too low"]\ndebt = "R2"\n')
    line = "explain {common} --rows {files}/rows.csv --want granted --reason-codes codes.toml"
    code, _, err = macex(f"{line} --out result.csv --quiet")
    assert (code, err) == (0, "")
    head, *lines = (tmp_path / "result.csv").read_text().splitlines()
    assert head.endswith(",cf.reasons")
    assert {one.rpartition(",")[2] for one in lines} <= {"", "R1", "R2", "R1;R2", "R2;R1"}
    assert any(one.endswith("R1;R2") for one in lines)
    (tmp_path / "codes.toml").write_text('age = "R1"\nincme = "R2"\n')
    code, _, err = macex(f"{line} --out other.csv")
    assert code == 2
    assert "codes.toml line 2" in err
    assert "did you mean 'income'" in err


def test_a_saved_explainer_stands_for_the_training_rows(macex, files, tmp_path):
    import joblib
    import pandas as pd

    import macex as mx

    train = pd.read_csv(files / "train.csv").drop(columns="outcome")
    mx.Explainer(joblib.load(files / "model"), train).save(tmp_path / "loans.macex")
    rest = "--rows {files}/rows.csv --quiet --constraints {files}/rules.toml"
    code, _, err = macex(f"explain {{common}} {rest} --out trained.csv")
    assert (code, err) == (0, "")
    line = f"explain --model {{files}}/model --allow-pickle --explainer loans.macex {rest}"
    code, _, err = macex(f"{line} --out saved.csv")
    assert (code, err) == (0, "")
    assert (tmp_path / "saved.csv").read_bytes() == (tmp_path / "trained.csv").read_bytes()
    for more, said in (
        ("--data {files}/train.csv", "--data stands beside --explainer"),
        ("--seed 3", "--seed stands beside --explainer"),
    ):
        code, _, err = macex(f"{line} {more} --out other.csv")
        assert code == 2
        assert said in err
    code, _, err = macex(f"explain --model {{files}}/model --allow-pickle {rest} --out other.csv")
    assert code == 2
    assert "--data, or a saved explainer" in err


def test_a_sample_is_shown_as_it_is_written(macex, found):
    macex("explain {common} --rows {files}/rows.csv -n 2 --sample 6 --out result.csv")
    made = pd.read_csv("result.csv")
    told = found.to_frame()
    assert made["cf.row"].nunique() == 6
    wanted = told[told["cf.row"].isin(made["cf.row"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(made, wanted, check_dtype=False)
    code, said, _ = macex("explain {common} --rows {files}/rows.csv -n 2 --sample 6 --json")
    queries = [one["query"] for one in json.loads(found.to_json())["explanations"]]
    assert code == 0
    shown = [one["query"] for one in json.loads(said)["explanations"]]
    assert shown == [queries[row] for row in made["cf.row"].unique()]
