"""Once the time of a call is over, no further stage begins its work; what was found is kept.

The clock is ours: the time is over from a certain look at it on. So nothing here takes time.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
import pytest

import macex as mx
from macex.engine import pipeline as table_steps
from macex.engine.batch import BLOCK_S, FIRST_QUERIES, Tempo
from macex.series import pipeline, segments
from macex.stages.finetune.section import Section
from macex.stages.plausibility.distance import Reference
from macex.stages.search import exhaustive

RNG = np.random.default_rng(1)
X = pd.DataFrame(RNG.normal(size=(120, 4)).round(2), columns=list("abcd"))
ROWS = X.head(40)
OWN = 1 / (1 + np.exp(-X.sum(axis=1).to_numpy()))


class Clock:
    """A clock on which the time is over from the look `last` on."""

    def __init__(self, last: float) -> None:
        self.last, self.looks, self.begun, self.asked = last, 0, [], 0

    def __call__(self) -> float:
        self.looks += 1
        return 1e6 if self.over else 0.0

    @property
    def over(self) -> bool:
        return self.looks > self.last

    def watch(self, patch, owner, name: str) -> None:
        """Take note of each call of a function that begins when the time is over."""
        real = getattr(owner, name)

        def watched(*args, **kwargs):
            if self.over:
                self.begun.append(name)
            return real(*args, **kwargs)

        patch.setattr(owner, name, watched)

    def model(self, rows):
        self.asked += len(rows) * self.over
        return 1 / (1 + np.exp(-np.asarray(rows).sum(axis=1)))


def explained(patch, last: float, *, options=None, **call) -> tuple[mx.Explanations, Clock]:
    clock = Clock(np.inf)
    explainer = mx.Explainer(clock.model, X, classes=("no", "yes"), **(options or {}))
    clock.last, clock.looks = last, 0
    patch.setattr(time, "monotonic", clock)
    patch.setattr(Tempo, "after", lambda *_: None)  # blocks of eight, whatever they take
    for owner, name in (
        (table_steps, "offer_values"),
        (exhaustive, "brood"),
        (exhaustive, "all_of"),
        (Section, "_trials"),
        (Reference, "share"),
    ):
        clock.watch(patch, owner, name)
    found = explainer.explain(ROWS, timeout_s=1.0, **call)
    patch.undo()
    return found, clock


CALLS = {
    "one answer": {},
    "several": {"n": 4},
    "a goal for each row": {"n": 3, "want": [mx.at_least(0.5 + p / 3) for p in OWN[:40]]},
    "a rule": {"n": 2, "constraints": mx.Constraints(rules=["a <= b + 9"])},
}


@pytest.mark.parametrize("last", [1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144])
@pytest.mark.parametrize("call", CALLS)
def test_no_stage_begins_after_the_time_is_over(monkeypatch, call, last):
    found, clock = explained(monkeypatch, last, **CALLS[call])
    assert clock.begun == []
    given = [one for item in found for one in item.counterfactuals]
    assert clock.asked <= len(given)  # only what is returned is checked
    assert {item.status for item in found} <= {"found", "none", "budget"}
    late = [item for item in found if item.status == "budget"]
    assert clock.over or not late
    assert late or last > 21
    assert all(item.reason.startswith("The time ran out") for item in late)


@pytest.mark.parametrize("method", ["reinforce", "gradientless"])
@pytest.mark.parametrize("last", [3, 21, 89])
def test_other_searches_stop_as_well(monkeypatch, method, last):
    found, clock = explained(monkeypatch, last, options={"method": method})
    assert clock.begun == []
    assert len(found) == len(ROWS)


def test_answers_already_found_are_kept_and_are_those_of_a_call_without_a_limit(monkeypatch):
    whole, _ = explained(monkeypatch, np.inf)
    part, _ = explained(monkeypatch, 40)
    met = [item.status for item in part].index("budget") // FIRST_QUERIES  # blocks
    done = (met - 1) * FIRST_QUERIES  # in the last of them the time ended
    assert done >= FIRST_QUERIES
    assert part[:done].to_json(canonical=True) == whole[:done].to_json(canonical=True)
    last = part[-1]
    assert last.status == "budget"
    assert (last.label, last.cost, last.query.equals(ROWS.tail(1))) == (None, (0, 0, 0.0), True)
    assert np.isnan(last.score)


def test_a_limit_that_is_not_reached_changes_nothing(monkeypatch):
    limited, _ = explained(monkeypatch, np.inf, n=3)
    free = mx.Explainer(Clock(np.inf).model, X, classes=("no", "yes")).explain(ROWS, n=3)
    assert limited.to_json(canonical=True) == free.to_json(canonical=True)


def test_a_wrong_goal_is_an_error_however_short_the_time(monkeypatch):
    with pytest.raises(mx.GoalError, match="maybe"):
        explained(monkeypatch, 1, want="maybe")


def test_rows_are_answered_together_as_far_as_their_work_is_short():
    tempo = Tempo()
    tempo.after(8, BLOCK_S / 4)
    assert tempo.most == 32
    tempo.after(32, BLOCK_S / 100)
    assert tempo.most == 128  # no leap beyond what was tried
    tempo.after(128, 2 * BLOCK_S)
    assert tempo.most == 64
    tempo.after(64, 1000.0)
    assert tempo.most == 1


CASES = RNG.normal(size=(30, 3, 20)).cumsum(axis=2)


@pytest.mark.parametrize("last", [1, 2, 3, 4, 6, 8, 12, 16, 20])
def test_series_keep_the_same_law(monkeypatch, last):
    clock = Clock(np.inf)

    def model(cases):
        clock.asked += len(cases) * clock.over
        return (np.asarray(cases)[:, 0].max(axis=1) > 2).astype(float)

    explainer = mx.SeriesExplainer(model, CASES, classes=("low", "high"))
    clock.last = last
    monkeypatch.setattr(time, "monotonic", clock)
    monkeypatch.setattr(Tempo, "after", lambda *_: None)
    for owner, name in ((segments, "_windows"), (exhaustive, "brood"), (exhaustive, "all_of")):
        clock.watch(monkeypatch, owner, name)
    clock.watch(monkeypatch, pipeline.FittedSeries, "near")
    found = explainer.explain(CASES[:20], n=2, timeout_s=1.0)
    assert clock.begun == []
    given = [one for item in found for one in item.counterfactuals]
    assert clock.asked <= 2 * len(given)  # whole channels, and the stretches made of them
    assert {item.status for item in found} <= {"found", "none", "budget"}
    late = [item for item in found if item.status == "budget"]
    assert late
    assert all(item.reason.startswith("The time ran out") for item in late)
