"""An option that counts takes whole numbers, NumPy's too, and refuses what only looks like one."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.errors import require_count
from macex.scale.workers import job_count

STAGES = (
    mx.Exhaustive,
    mx.GradientlessDescent,
    mx.GradientlessSearch,
    mx.NearCases,
    mx.Neighbors,
    mx.Reinforce,
    mx.Section,
    mx.Segments,
    mx.Selection,
    mx.Thresholds,
)
COUNTS = [
    (stage, field.name)
    for stage in STAGES
    for field in fields(stage)
    if str(field.type).startswith("int")
]
DATA = pd.DataFrame({"hours": range(20, 60)})


def model(rows):
    return rows["hours"] / 100


def explainer(**options):
    return mx.Explainer(model, DATA, classes=("no", "yes"), **options)


CALLS = {
    "n": lambda count: explainer().explain(DATA.head(1), n=count),
    "max_rows": lambda count: explainer().explain(DATA.head(1), max_rows=count),
    "sample": lambda count: explainer(sample=count),
    "jobs": job_count,
    "plan(actions=)": lambda count: explainer().plan(DATA.head(3), actions=count),
    "batch": lambda count: mx.Endpoint("http://127.0.0.1", batch=count),
    "most": lambda count: (
        explainer().explain(DATA.head(1))[0].reason_codes({"hours": "H"}, most=count)
    ),
}
call = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
stage_option = pytest.mark.parametrize(
    ("stage", "name"), COUNTS, ids=[f"{stage.__name__}({name}=)" for stage, name in COUNTS]
)
wrong = pytest.mark.parametrize("count", [True, 2.0, np.float64(2), np.True_, "2", 0, -2], ids=repr)


@stage_option
@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8])
def test_a_stage_with_a_count_of_numpy_is_the_same_stage(stage, name, kind):
    made = stage(**{name: kind(2)})
    assert repr(made) == repr(stage(**{name: 2}))
    assert type(getattr(made, name)) is int


@stage_option
@wrong
def test_a_stage_refuses_what_is_no_count(stage, name, count):
    with pytest.raises(mx.OptionError, match="must be a whole number of 1 or more"):
        stage(**{name: count})


@call
def test_a_call_takes_a_count_of_numpy(call):
    call(np.int64(2))


@call
@wrong
def test_a_call_refuses_what_is_no_count(call, count):
    with pytest.raises(mx.OptionError, match="must be a whole number of 1 or more"):
        call(count)


def test_all_cores_may_be_named_by_numpy():
    assert job_count(np.int64(-1)) == job_count(-1)


def test_a_count_may_begin_at_nought():
    assert require_count("retries", np.int64(0), least=0) == 0
