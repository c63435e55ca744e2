"""An explanation of a case is recorded, and made again from the record."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.audit import read_records
from series.machines import NAMES, Machine, explainer, made_cases

QUERIES = made_cases(3, seed=1)
QUERIES[0, 5, 3] = np.nan


def records(path):
    return list(read_records(path))


def test_a_record_holds_the_case_and_replays_to_the_byte(tmp_path):
    path = tmp_path / "audit.jsonl"
    asked = explainer(audit=path, constraints={"fixed": ["sensor 0"]})
    asked.explain(QUERIES, n=2, want="bump", constraints={"fixed_times": [(0, 3)]})
    kept = records(path)
    assert [one["status"] for one in kept] == ["found"] * 3
    assert np.array_equal(
        np.array(kept[0]["input"]["values"], dtype=float), QUERIES[0], equal_nan=True
    )
    for one in kept:
        again = mx.replay(one["id"], path, model=Machine(), data=made_cases())
        assert again.agrees, again
        assert again.notes == ()


def test_a_saved_explainer_is_where_a_replay_begins(tmp_path):
    saved, path = tmp_path / "e.macex", tmp_path / "audit.jsonl"
    explainer(constraints={"fixed": ["sensor 1"]}).save(saved)
    mx.load(saved, Machine(), audit=path).explain(QUERIES[:1])
    (one,) = records(path)
    assert mx.replay(one["id"], path, model=Machine()).agrees


def test_other_data_is_noticed(tmp_path):
    path = tmp_path / "audit.jsonl"
    explainer(audit=path).explain(QUERIES[1:2])
    (one,) = records(path)
    again = mx.replay(one["id"], path, model=Machine(), data=made_cases(seed=5))
    assert "another one" in again.notes[0]
    assert not again.agrees
    with pytest.raises(mx.OptionError, match="pass data="):
        mx.replay(one["id"], path, model=Machine())


def test_a_layout_is_kept(tmp_path):
    path = tmp_path / "audit.jsonl"

    class Turned(Machine):
        def predict_proba(self, cases):
            return super().predict_proba(cases.transpose(0, 2, 1))

    train = made_cases().transpose(0, 2, 1)
    asked = mx.SeriesExplainer(Turned(), train, layout="channels_last", channels=NAMES, audit=path)
    asked.explain(QUERIES[1:2].transpose(0, 2, 1))
    (one,) = records(path)
    assert mx.replay(one["id"], path, model=Turned(), data=train).agrees
