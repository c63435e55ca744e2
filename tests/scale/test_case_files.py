"""Files of cases of time series, explained into files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import macex as mx
from series.machines import NAMES, explainer, made_cases

CASES = made_cases(5, seed=1)


@pytest.fixture(scope="module")
def asked():
    return explainer(finetune=None)


def long_frame(cases=CASES):
    place = np.indices(cases.shape).reshape(3, -1)
    return pd.DataFrame(
        {
            "case": place[0],
            "time": place[2],
            "channel": np.array(NAMES)[place[1]],
            "value": cases.reshape(-1),
        }
    )


def wide_frame():
    lines = long_frame().set_index(["case", "time", "channel"])["value"].unstack("channel")  # noqa: PD010 - no table
    return lines.reset_index()


WRITERS = {
    "cases.npy": lambda path: np.save(path, CASES),
    "cases.npz": lambda path: np.savez(path, X=CASES, y=np.arange(5)),
    "cases.parquet": lambda path: long_frame().to_parquet(path),
    "cases.csv.gz": lambda path: wide_frame().to_csv(path, index=False),
    "cases.jsonl": lambda path: long_frame().to_json(path, orient="records", lines=True),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_answered_as_its_cases_are(asked, tmp_path, name):
    WRITERS[name](tmp_path / name)
    run = mx.explain_file(asked, tmp_path / name, tmp_path / "out.jsonl", chunk=2)
    assert (run.rows, run.statuses) == (5, {"found": 5})
    answers = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    expected = [json.loads(one.to_json(canonical=True)) for one in asked.explain(CASES)]
    channels = [[one["changes"][0]["channel"] for one in a["counterfactuals"]] for a in answers]
    assert channels == [
        [c["changes"][0]["channel"] for c in e["counterfactuals"]] for e in expected
    ]
    if name.startswith("cases.np"):
        assert answers == expected


@pytest.mark.parametrize("changes", [False, True])
@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_rows_are_counted_through_the_whole_file(asked, tmp_path, form, changes):
    np.save(tmp_path / "cases.npy", CASES)
    out = tmp_path / f"out.{form}"
    mx.explain_file(asked, tmp_path / "cases.npy", out, chunk=2, changes=changes)
    lines = pd.read_csv(out) if form == "csv" else pd.read_parquet(out)
    assert lines["cf.row"].unique().tolist() == [0, 1, 2, 3, 4]


def test_pages_and_documents_hold_all_cases(asked, tmp_path):
    np.save(tmp_path / "cases.npy", CASES)
    for form in ("html", "json"):
        mx.explain_file(asked, tmp_path / "cases.npy", tmp_path / f"out.{form}", chunk=2)
    assert len(json.loads((tmp_path / "out.json").read_text())["explanations"]) == 5
    page = (tmp_path / "out.html").read_text()
    assert all(f"Case {place}" in page for place in range(5))


@pytest.mark.parametrize(
    ("source", "out", "options", "error", "said"),
    [
        ("none.npy", "out.csv", {}, mx.DataError, "there is no file"),
        ("two.npz", "out.csv", {}, mx.DataError, "holds a, b: call the array of the cases 'X'"),
        ("text.npy", "out.csv", {}, mx.DataError, "cannot be read"),
        ("cases.txt", "out.csv", {}, mx.DataError, "is not a file of cases: .npy"),
        ("cases.npy", "out.txt", {}, mx.OptionError, "no output form 'txt'"),
        ("cases.npy", "old.csv", {}, mx.OptionError, "exists"),
        ("cases.npy", "out.csv", {"drop": "y"}, mx.OptionError, "drop= is for rows of tables"),
        ("cases.npy", "out.csv", {"resume": True}, mx.OptionError, "resume= is for rows of tables"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_written(
    asked, tmp_path, source, out, options, error, said
):
    np.save(tmp_path / "cases.npy", CASES)
    np.savez(tmp_path / "two.npz", a=CASES, b=CASES)
    for name in ("text.npy", "cases.txt", "old.csv"):
        (tmp_path / name).write_text("words")
    with pytest.raises(error, match=said):
        mx.explain_file(asked, tmp_path / source, tmp_path / out, **options)
    assert not (tmp_path / "out.csv").exists()


def test_frames_of_cases_are_counted_by_case(asked):
    lines = long_frame()
    parts = [lines[lines["case"] < 2], lines[lines["case"] >= 2]]
    tables = mx.explain_frames(asked, parts, constraints=mx.SeriesConstraints(fixed=[NAMES[0]]))
    assert [table["cf.row"].tolist() for table in tables] == [[0, 1], [2, 3, 4]]


def test_frames_with_other_channels_are_refused(asked):
    with pytest.raises(mx.SchemaError, match="have 2 channels"):
        list(mx.explain_frames(asked, [CASES[:, :2]]))
