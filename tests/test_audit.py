"""An audit keeps every explanation in a form from which it can be made again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import macex as mx
from checks.loans import chance, loans
from macex.audit import append, read_records
from macex.engine.recorder import fingerprint

CLASSES = ("refused", "granted")


def audited(path, **options):
    return mx.Explainer(chance, loans(), classes=CLASSES, audit=path, **options)


def replayed(record, path, **given):
    return mx.replay(record["id"], path, model=chance, data=loans(), **given)


GOALS = [None, "granted", mx.at_least(0.7), mx.rise_by(0.05), mx.between(0.2, 0.9)]


@pytest.mark.parametrize("want", GOALS, ids=str)
def test_every_record_can_be_made_again(tmp_path, want):
    path = tmp_path / "audit.jsonl"
    constraints = mx.Constraints(
        fixed=["age"], ranges={"amount": (1, 10)}, weights={"income": 2}, rules=["income >= 0"]
    )
    explainer = audited(path, constraints=constraints, random_state=7)
    explainer.explain(loans().iloc[3:9], n=2, want=want)
    records = list(read_records(path))
    assert len(records) == 6
    for record in records:
        again = replayed(record, path)
        assert (again.difference, again.notes) == (None, ())


@pytest.mark.parametrize("method", ["reinforce", "gradientless"])
def test_random_searches_are_made_again_too(tmp_path, method):
    path = tmp_path / "audit.jsonl"
    audited(path, method=method, finetune=None).explain(loans().iloc[:2], max_rows=400)
    for record in read_records(path):
        assert replayed(record, path).agrees


def test_rows_come_back_with_missing_cells_and_odd_types(tmp_path):
    path = tmp_path / "audit.jsonl"
    rows = loans().iloc[:3].copy()
    rows["age"] = rows["age"].astype(float)
    rows.loc[rows.index[0], "income"] = np.nan
    rows["marital"] = ["single", "unheard of", "married"]
    audited(path).explain(rows, diagnose=True)
    for record in read_records(path):
        assert replayed(record, path).difference is None


def test_a_record_says_what_was_asked_and_answered(tmp_path):
    path = tmp_path / "audit.jsonl"
    found = audited(path).explain(loans().iloc[[5]], n=2, constraints={"fixed": ["age"]})
    (record,) = read_records(path)
    assert record["status"] == found[0].status
    assert record["constraints"] == {"fixed": ["age"]}
    assert record["options"]["random_state"] == 0
    assert record["versions"]["macex"] == found.meta["version"]
    assert record["files"]["model"] == {"path": None, "sha256": None}
    assert record["output"] == json.loads(found[0].to_json(canonical=True))
    assert record["cost"]["rows"] == found[0].cost.rows


def test_another_model_is_noticed_and_the_first_difference_named(tmp_path):
    path = tmp_path / "audit.jsonl"
    audited(path).explain(loans().iloc[[5]])
    (record,) = read_records(path)
    again = mx.replay(record["id"], path, model=lambda rows: chance(rows) ** 2, data=loans())
    assert not again.agrees
    assert " then, " in again.difference
    assert any("explainer is another one" in note for note in again.notes)


def test_files_are_hashed_and_a_changed_one_is_noticed(tmp_path):
    data = tmp_path / "train.csv"
    numbers = loans()[["age", "amount"]]
    numbers.to_csv(data, index=False)

    def model(rows):
        return 1 / (1 + np.exp(rows["amount"] - 6))

    audit = mx.Audit(tmp_path / "audit.jsonl", data=data)
    mx.Explainer(model, numbers, classes=CLASSES, audit=audit).explain(numbers.iloc[[0]])
    (record,) = read_records(audit.path)
    assert record["files"]["data"]["path"] == str(data)
    again = mx.replay(record["id"], audit.path, model=model)
    assert (again.agrees, again.notes) == (True, ())
    pd.concat([numbers, numbers.tail(1)]).to_csv(data, index=False)
    noted = mx.replay(record["id"], audit.path, model=model).notes
    assert any(f"the file of the data has changed: {data}" in note for note in noted)


@pytest.mark.parametrize("stated", [[], [{"kind": "order", "columns": ["a", "t"]}]])
def test_relations_that_were_stated_are_recorded_and_kept_again(tmp_path, stated):
    """They cannot be found in the training rows, where another one holds."""
    rows = pd.DataFrame({"a": np.arange(200) % 50, "b": np.arange(200) * 7 % 50})
    rows = rows.assign(t=rows["a"] + rows["b"])
    options = {"classes": (0, 1), "structure": stated}

    def model(given):
        return 1 / (1 + np.exp(50.5 - given["t"]))

    path = tmp_path / "audit.jsonl"
    explainer = mx.Explainer(model, rows, audit=path, **options)
    explainer.explain(rows.head(3))
    for record in read_records(path):
        again = mx.replay(record["id"], path, model=model, data=rows)
        assert (again.difference, again.notes) == (None, ())
    explainer.save(tmp_path / "kept.macex")
    loaded = mx.load(tmp_path / "kept.macex", model)
    assert fingerprint(loaded.engine) == fingerprint(explainer.engine)
    other = mx.Explainer(model, rows, classes=(0, 1))
    assert fingerprint(other.engine) != fingerprint(explainer.engine)


def test_a_saved_explainer_is_where_a_replay_begins(tmp_path):
    saved, path = tmp_path / "explainer.macex", tmp_path / "audit.jsonl"
    constraints = mx.Constraints(weights={"income": 3})
    mx.Explainer(chance, loans(), classes=CLASSES, constraints=constraints).save(saved)
    mx.load(saved, chance, audit=path).explain(loans().iloc[[4]])
    (record,) = read_records(path)
    assert record["files"]["explainer"]["path"] == str(saved)
    assert mx.replay(record["id"], path, model=chance).agrees


def test_a_live_model_and_data_are_asked_for(tmp_path):
    path = tmp_path / "audit.jsonl"
    audited(path).explain(loans().iloc[[5]])
    (record,) = read_records(path)
    with pytest.raises(mx.OptionError, match="pass model="):
        mx.replay(record["id"], path)
    with pytest.raises(mx.OptionError, match="pass data="):
        mx.replay(record["id"], path, model=chance)


def test_what_cannot_be_written_down_cannot_be_audited(tmp_path):
    path = tmp_path / "audit.jsonl"
    with pytest.raises(mx.OptionError, match="distance function"):
        audited(path, distance=lambda a, b: 0)
    with pytest.raises(mx.ConstraintError, match="cannot be written down"):
        audited(path).explain(
            loans().iloc[[0]], constraints=mx.Constraints(rules=[lambda rows: rows["age"] > 0])
        )
    assert not path.exists()


def test_an_unwritable_audit_is_an_error_with_its_path(tmp_path):
    explainer = audited(tmp_path / "nowhere" / "audit.jsonl")
    with pytest.raises(OSError, match=r"nowhere/audit\.jsonl"):
        explainer.explain(loans().iloc[[0]])


def test_what_records_have_in_common_is_written_once(tmp_path):
    path = tmp_path / "audit.jsonl"
    explainer = audited(path)
    explainer.explain(loans().iloc[:4])
    explainer.explain(loans().iloc[[5]])
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert ["parts" in line for line in lines] == [True, False, False, False, False, False]
    assert not {"columns", "options", "versions"} & set(lines[1])
    assert max(len(json.dumps(line)) for line in lines[1:5]) < len(json.dumps(lines[5]))
    records = list(read_records(path))
    assert [set(record) for record in records] == [set(lines[5])] * 5
    assert all(replayed(record, path).agrees for record in records)


def test_explainers_that_share_a_file_keep_their_own_parts(tmp_path):
    path = tmp_path / "audit.jsonl"
    for seed in (1, 2, 1):
        audited(path, random_state=seed).explain(loans().iloc[:2])
    seeds = [record["options"]["random_state"] for record in read_records(path)]
    assert seeds == [1, 1, 2, 2, 1, 1]


def test_a_torn_line_costs_that_line_only(tmp_path):
    path = tmp_path / "audit.jsonl"
    append(path, [{"id": "a"}, {"id": "b"}])
    path.write_bytes(path.read_bytes()[:-5])
    append(path, [{"id": "c"}])
    assert [record["id"] for record in read_records(path)] == ["a", "c"]


def test_several_processes_write_whole_lines(tmp_path):
    path = tmp_path / "audit.jsonl"
    script = (
        "import sys; from macex.audit import append\n"
        "for at in range(40): append(sys.argv[1], [{'id': f'{sys.argv[2]}-{at}', 'x': 'y' * 9000}])"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, path, str(w)]) for w in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    ids = [record["id"] for record in read_records(path)]
    assert sorted(ids) == sorted(f"{w}-{at}" for w in range(3) for at in range(40))
    assert len(path.read_text().splitlines()) == 120


def test_a_full_disk_leaves_no_half_line(tmp_path):
    path = tmp_path / "audit.jsonl"
    script = (
        "import resource, sys; from macex.audit import append\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "append(sys.argv[1], [{'id': str(at), 'x': 'y' * 150} for at in range(20)])"
    )
    env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", script, path], env=env, check=False)
    assert done.returncode == 1
    text = Path(path).read_text()
    assert text.endswith("\n")
    assert all(json.loads(line) for line in text.splitlines())
