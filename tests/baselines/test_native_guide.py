"""Native Guide takes one stretch of the nearest unlike case in all channels."""

from __future__ import annotations

import numpy as np

from macex.baselines.native_guide import LENGTHS, PLACES, NativeGuide
from series.machines import NAMES, Machine, made_cases

TRAIN, QUERIES = made_cases(), made_cases(6, seed=1)
LABELS = ["calm", "bump", "raised"] * 20


def test_every_answer_is_one_stretch_of_one_case_and_holds():
    for item in NativeGuide(Machine(), TRAIN, LABELS, channels=NAMES).explain(QUERIES):
        answer = item.counterfactuals[0]
        assert Machine().predict(answer.sample[None])[0] == answer.label != item.label
        (case,) = {change.case for change in answer.changes}
        start = min(change.start for change in answer.changes)
        stop = max(change.stop for change in answer.changes)
        assert np.array_equal(answer.sample[:, start:stop], TRAIN[case][:, start:stop])
        assert item.cost.rows <= 1 + LENGTHS * PLACES
        assert item.cost.calls <= 1 + LENGTHS


def test_a_goal_that_no_case_meets_is_not_found():
    (item,) = NativeGuide(Machine(), TRAIN[:1]).explain(QUERIES[:1], want="raised")
    assert item.status == "not_found"
