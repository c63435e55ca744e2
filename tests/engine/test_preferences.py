"""What is preferred among answers: few changes first, then plausible and stable before near."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from cohort.town import YES, explainer, refused
from macex.stages.selection import COMMON, PLAUSIBLE

STABLE_SCORE = 0.7


def first(prefer: str, rows=None, **asked) -> list:
    found = explainer(prefer=prefer).explain(refused(150) if rows is None else rows, **asked)
    return [item.counterfactuals[0] for item in found if item.counterfactuals]


def unusual(found) -> float:
    return float(np.mean([one.plausibility < PLAUSIBLE for one in found]))


def stable(found) -> float:
    return float(np.mean([one.score >= STABLE_SCORE for one in found]))


def test_balanced_answers_change_as_few_columns_and_stand_off_the_edge():
    few, balanced = first("fewest", want=YES), first("balanced", want=YES)
    assert [a.sparsity for a in balanced] == [a.sparsity for a in few]
    assert [a.minimal for a in balanced] == [a.minimal for a in few]
    assert unusual(balanced) <= unusual(few)
    assert stable(few) < 0.2
    assert stable(balanced) > 0.5
    common = [one for one in balanced if one.plausibility >= COMMON]
    assert stable(common) > 0.8


def test_a_balanced_answer_is_moved_back_as_far_as_the_band():
    scores = [a.score for a in first("balanced", want=YES)]
    assert np.median(scores) < STABLE_SCORE + 0.03


@pytest.mark.parametrize("margin", [0, 0.3])
def test_a_stated_margin_is_all_that_is_asked_for(margin):
    few, balanced = (
        explainer(prefer=prefer).explain(refused(60), want=YES, margin=margin, n=2)
        for prefer in ("fewest", "balanced")
    )
    for one, other in zip(few, balanced, strict=True):
        assert one.counterfactuals == other.counterfactuals


def test_a_score_that_is_asked_for_is_the_threshold_itself():
    few, balanced = (first(prefer, want=mx.at_least(0.6)) for prefer in ("fewest", "balanced"))
    said = [[(c.label, c.score, [change[:3] for change in c.changes]) for c in few]]
    said += [[(c.label, c.score, [change[:3] for change in c.changes]) for c in balanced]]
    assert said[0] == said[1]  # but for their intervals: more is tried where answers hold back


def test_plausible_answers_change_more_where_that_makes_them_usual():
    balanced, plausible = first("balanced", want=YES), first("plausible", want=YES)
    assert unusual(plausible) <= unusual(balanced)
    for one, other in zip(balanced, plausible, strict=True):
        assert other.sparsity == one.sparsity or one.plausibility < PLAUSIBLE
        assert other.sparsity >= one.sparsity


@pytest.mark.parametrize("prefer", ["balanced", "plausible"])
def test_as_many_answers_come_as_were_asked_for_and_alone_as_in_a_batch(prefer):
    chooser, rows = explainer(prefer=prefer), refused(30)
    together = chooser.explain(rows, want=YES, n=3)
    assert max(len(item.counterfactuals) for item in together) == 3
    for place, item in enumerate(together):
        alone = chooser.explain(rows.iloc[[place]], want=YES, n=3)[0]
        assert alone.to_json(canonical=True) == item.to_json(canonical=True)


def test_constraints_and_the_certificate_of_none_are_the_same():
    wish = mx.Constraints(only=["age", "gender"])
    for prefer in ("balanced", "plausible"):
        found = explainer(prefer=prefer).explain(refused(40), want=YES, constraints=wish)
        few = explainer(prefer="fewest").explain(refused(40), want=YES, constraints=wish)
        assert [item.status for item in found] == [item.status for item in few]
