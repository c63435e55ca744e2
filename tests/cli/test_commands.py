"""The other commands: schema, constraints, whatif, replay, doctor, bench, help."""

from __future__ import annotations

import copy
import json
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

import joblib
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import macex as mx
from lending import lender, loans, outcomes
from macex.cli.toml import read_kinds, read_structure
from macex.structure import Structure

DATA = "--data {files}/train.csv --label outcome"
COMMANDS = ["demo", "explain", "schema", "constraints check", "whatif", "replay", "doctor"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_says_what_a_command_does(macex, command):
    code, said, _ = macex(f"{command} --help")
    assert code == 0
    assert "Usage" in said


@pytest.mark.parametrize("command", ["explain", "schema", "constraints check", "whatif", "replay"])
def test_help_teaches_by_example(macex, command):
    _, said, _ = macex(f"{command} --help")
    assert f"macex {command}" in said.split("Options")[0].replace("Usage: macex", "")


def test_the_benchmarks_read_their_own_options(program):
    done = subprocess.run(program("bench --help"), capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "--data" in done.stdout


def test_a_schema_that_is_written_and_read_is_the_same(macex, files):
    code, said, _ = macex(f"schema {DATA} --out schema.toml")
    assert code == 0
    assert "income" in said
    data = pd.read_csv(files / "train.csv").drop(columns="outcome")
    again = mx.Schema.infer(data, read_kinds(Path("schema.toml")))
    assert again.to_dict() == mx.Schema.infer(data).to_dict()


def test_what_holds_between_columns_is_written_and_kept(macex, files):
    data = pd.read_csv(files / "train.csv")
    data["twice"] = 2 * data["debt"]
    data.to_csv("train.csv", index=False)
    code, said, _ = macex("schema --data train.csv --label outcome --structure rules.toml")
    assert code == 0
    assert "twice = 2 * debt" in said
    found = read_structure(Path("rules.toml"))
    assert isinstance(found, Structure)
    assert "twice = 2 * debt" in [relation.text for relation in found]
    code, said, _ = macex("constraints check rules.toml --data train.csv --label outcome")
    assert code == 0
    assert read_structure(None) is None


def test_a_wrong_relation_is_told_with_its_line(tmp_path):
    file = tmp_path / "rules.toml"
    file.write_text('fixed = ["age"]\n[[structure]]\nkind = "oder"\n')
    with pytest.raises(mx.ConstraintError, match=r"line 2.*did you mean 'order'"):
        read_structure(file)


def test_a_corrected_schema_is_used(macex, files):
    Path("schema.toml").write_text(
        '[age]\nkind = "categorical"\n[debt]\nkind = "continuous"\nstep = 5\n'
    )
    _, said, _ = macex(f"schema {DATA} --schema schema.toml --json")
    told = json.loads(said)
    assert told["age"] == {"kind": "categorical"}
    assert told["debt"]["step"] == 5
    ask = "explain {common} --rows {files}/rows.csv --schema schema.toml -n 3 --changes"
    assert macex(f"{ask} --out result.csv")[0] == 0
    changes = pd.read_csv("result.csv")
    debts = pd.to_numeric(changes.loc[changes["column"] == "debt", "after"])
    seen = debts.isin(pd.read_csv(files / "train.csv")["debt"])
    assert (~seen).any()  # values between those of training are on the grid that was stated
    assert (debts[~seen] % 5 == 0).all()


def test_dates_are_dates_where_the_schema_says_so(macex):
    Path("train.csv").write_text("since,debt\n2024-01-01,1\n2024-03-01,2\n2024-02-01,\n")
    Path("schema.toml").write_text('since = "datetime"\n')
    _, said, _ = macex("schema --data train.csv --schema schema.toml --json")
    assert json.loads(said)["since"] == {"kind": "datetime"}
    Path("train.csv").write_text("since\n2024-01-01\nyesterday\n")
    _, _, error = macex("schema --data train.csv --schema schema.toml")
    assert "train.csv line 3" in error
    assert "'yesterday'" in error


def test_right_constraints_are_told_back(macex):
    code, said, _ = macex(f"constraints check {{files}}/rules.toml {DATA}")
    assert code == 0
    assert "fixed 'age'" in said
    _, said, _ = macex(f"constraints check {{files}}/rules.toml {DATA} --json")
    assert json.loads(said) == {"fixed": ["age"], "ranges": {"income": [0, 110]}}


def test_constraints_bind_the_answers(macex):
    ask = "explain {common} --rows {files}/rows.csv --constraints {files}/rules.toml --changes"
    assert macex(ask + " --out result.csv")[0] == 0
    assert "age" not in set(pd.read_csv("result.csv")["column"])


def test_whatif_shows_what_a_change_does(macex):
    ask = "whatif {common} --rows {files}/rows.csv --row 3 --set income=119 --set job=full-time"
    code, said, _ = macex(ask)
    assert code == 0
    assert re.search(r"income +\d+ +119", said)
    told = json.loads(macex(ask + " --json")[1])
    assert told["after"]["scores"]["granted"] > told["before"]["scores"]["granted"]
    assert {change["column"] for change in told["changes"]} == {"income", "job"}


def test_whatif_asks_about_nothing_that_the_dtype_cannot_hold(macex, files):
    train = pd.read_csv(files / "train.csv").astype({"income": "uint8"})
    train.to_parquet("train.parquet")
    ask = "whatif --model {files}/model --allow-pickle --data train.parquet --label outcome"
    code, _, said = macex(f"{ask} --row 3 --set income=300")
    assert code != 0
    assert "'income' cannot hold '300': it was trained as uint8" in said


def test_whatif_refuses_what_cannot_follow(macex, files):
    train = pd.read_csv(files / "train.csv").astype({"debt": "uint8"})
    train.to_parquet("train.parquet")
    mechanism = '[causes.mechanisms]\ndebt = "300 * income + u"\n'
    Path("steep.toml").write_text(f'[causes.edges]\ndebt = ["income"]\n{mechanism}', "utf-8")
    ask = "whatif --model {files}/model --allow-pickle --data train.parquet --label outcome"
    ask += " --constraints steep.toml --row 3"
    code, _, said = macex(f"{ask} --set income=119")
    assert code == 2
    assert "'debt' would follow as" in said
    assert macex(f"{ask} --set income=119 --set debt=7")[0] == 0


def test_whatif_tells_what_follows_apart(macex, files):
    Path("caused.toml").write_text(CAUSED, encoding="utf-8")
    data = pd.read_csv(files / "train.csv").drop(columns="outcome")
    model = joblib.load(files / "model")
    row = pd.read_csv(files / "rows.csv").iloc[[3]]
    found = mx.Explainer(model, data, causes={"debt": ["income"]}).what_if(row, income=119)
    ask = (
        "whatif {common} --rows {files}/rows.csv --row 3 --constraints caused.toml --set income=119"
    )
    told = json.loads(macex(f"{ask} --json")[1])
    assert [tuple(one.values()) for one in told["changes"]] == [c[:3] for c in found.changes]
    assert [tuple(one.values()) for one in told["consequences"]] == [
        change[:3] for change in found.consequences
    ]
    assert [one["column"] for one in told["consequences"]] == ["debt"]
    assert list(told["after"]["scores"].values()) == [after for _, _, after in found.scores]
    assert re.search(r"debt +[\d.]+ +[\d.]+ \(follows\)", macex(ask)[1])
    held = json.loads(macex(f"{ask} --set debt={row['debt'].item() + 1} --json")[1])
    assert {change["column"] for change in held["changes"]} == {"income", "debt"}
    assert held["consequences"] == []


WRONG_CAUSES = [
    ('debt = ["incme"]', "did you mean 'income'"),
    ('debt = ["income"]\nincome = ["debt"]', "in a circle"),
    ('debt = ["income"]\n[derived]\ndebt = "2 * income"', "is derived and has causes"),
]


@pytest.mark.parametrize("command", ["whatif {common}", f"constraints check wrong.toml {DATA}"])
@pytest.mark.parametrize(("edges", "words"), WRONG_CAUSES)
def test_wrong_causes_are_told_with_their_line(macex, command, edges, words):
    Path("wrong.toml").write_text(f"[causes.edges]\n{edges}\n", encoding="utf-8")
    asked = command if "check" in command else f"{command} --constraints wrong.toml"
    code, _, error = macex(asked)
    assert code == 2
    assert "wrong.toml line 1" in error
    assert words in error


def test_causes_are_told_back_with_right_constraints(macex):
    Path("caused.toml").write_text(CAUSED, encoding="utf-8")
    code, said, _ = macex(f"constraints check caused.toml {DATA}")
    assert code == 0
    assert "debt <- income: auto" in said


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("--set incme=1", "'income'"),
        ("--set job=chef", "'chef'"),
        ("--set income=much", "'much'"),
        ("--set income", "column=value"),
        ("--row 1000 --set income=1", "rows 0 to 299"),
    ],
)
def test_whatif_refuses_what_cannot_be(macex, wrong, words):
    code, _, error = macex("whatif {common} " + wrong)
    assert code == 2
    assert words in error


def test_whatif_asks_line_by_line(program, tmp_path):
    lines = "income=119\nnonsense\nreset\n\n"
    done = subprocess.run(
        program("whatif {common}"), input=lines, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert re.search(r"income +\d+ +119", done.stdout)
    assert "write column=value" in done.stdout
    assert done.stdout.count("decision") == 3


def test_a_pipe_goes_through(program, files):
    done = subprocess.run(
        program("explain {common} --rows - --out - --format jsonl"),
        stdin=(files / "rows.csv").open("rb"),
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    assert [json.loads(line)["status"] for line in lines] == ["found"] * 40


def test_the_version_is_that_of_the_installed_package(macex):
    assert macex("--version") == (0, version("macex") + "\n", "")
    assert version("macex") == mx.__version__


def test_doctor_names_what_is_installed(macex):
    code, said, _ = macex("doctor --json")
    assert code == 0
    found = {entry["library"]: entry for entry in json.loads(said)["libraries"]}
    assert found["pandas"]["version"] == pd.__version__
    assert found["macex"]["trouble"] is None


def test_replay_agrees_and_says_where_not(macex, files):
    ask = "explain {common} --rows {files}/rows.csv -n 2 --audit audit.jsonl --out result.csv"
    assert macex(ask)[0] == 0
    listed = macex("replay --audit audit.jsonl")[1].splitlines()
    assert len(listed) == 20
    name = listed[-1].split()[0]
    code, said, _ = macex(f"replay {name[:8]} --audit audit.jsonl --allow-pickle")
    assert (code, said.strip()) == (0, f"{name}: every byte agrees")

    text = Path("audit.jsonl").read_text()
    Path("audit.jsonl").write_text(text.replace('"rank": 2', '"rank": 3'))
    code, said, _ = macex(f"replay {name} --audit audit.jsonl --allow-pickle --json")
    assert code == 1
    assert json.loads(said)["difference"] == "counterfactuals[1].rank: 3 then, 2 now"


def test_replay_of_nothing(macex):
    Path("audit.jsonl").write_text("")
    code, _, error = macex("replay abc --audit audit.jsonl")
    assert code == 2
    assert "no record 'abc'" in error


def test_types_of_a_skops_file_are_trusted_by_name(macex, files, tmp_path):
    skops = pytest.importorskip("skops.io")
    rows = loans(300, seed=1)
    model = make_pipeline(FunctionTransformer(copy.copy), lender(rows)).fit(rows, outcomes(rows))
    skops.dump(model, tmp_path / "model.skops")
    asked = "--model model.skops --data {files}/train.csv --label outcome"
    code, _, said = macex(f"whatif {asked} --set income=100")
    assert code == 2
    assert "not trusted: copy.copy; if you know them, --trusted copy.copy" in said
    for command in (
        f"whatif {asked} --set income=100",
        f"explain {asked} --rows {{files}}/rows.csv",
    ):
        assert macex(f"{command} --trusted copy.copy")[0] == 0


def test_the_last_records_can_be_had_as_json(macex):
    assert macex("explain {common} --rows {files}/rows.csv --audit audit.jsonl --quiet")[0] == 0
    records = json.loads(macex("replay --audit audit.jsonl --json")[1])
    assert len(records) == 20
    assert set(records[0]) == {"id", "time", "row", "name", "status"}


CAUSED = """only = ["income", "job"]

[causes.edges]
debt = ["income"]

[costs]
income = "2 years"
job = 500
"""


def test_steps_tell_the_order_and_what_it_takes(macex, tmp_path):
    (tmp_path / "caused.toml").write_text(CAUSED, encoding="utf-8")
    ask = "steps {common} --rows {files}/rows.csv --want granted --constraints caused.toml --row "
    rows = [row for row in range(12) if macex(f"{ask}{row}")[0] == 0]
    said = [json.loads(macex(f"{ask}{row} --json")[1]) for row in rows]
    moved = [{line["column"] for line in one["lines"] if not line["follows"]} for one in said]
    assert set().union(*moved) <= {"income", "job"}
    place = next(at for at, one in enumerate(moved) if "income" in one)
    assert "2 years" in macex(f"{ask}{rows[place]} --out way.html")[1]
    assert Path("way.html").exists()
    assert any(line["column"] == "debt" for line in said[place]["lines"] if line["follows"])


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("--row 1000", "rows 0 to 39"),
        ("--row 0 --rank 30", "row 0 has"),
        ("--constraints wrong.toml", "costs are a table"),
        ("--constraints odd.toml", "did you mean 'income'"),
    ],
)
def test_steps_refuse_what_cannot_be(macex, tmp_path, wrong, words):
    (tmp_path / "wrong.toml").write_text("costs = 3\n", encoding="utf-8")
    (tmp_path / "odd.toml").write_text("[costs]\nincme = 3\n", encoding="utf-8")
    code, _, error = macex("steps {common} --rows {files}/rows.csv --want granted " + wrong)
    assert code == 2
    assert words in error
