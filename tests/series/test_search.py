"""A search of one's own is treated by what it says of itself, not by its class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

import macex as mx
from macex.series.options import SEARCHES

OWN = replace(SEARCHES["exhaustive"], depth=1, deepest=1, max_rows=4000)
HIGH = np.r_[2:14]  # most of these channels must be high


@dataclass(frozen=True)
class Levels:
    """The exhaustive search under another name, and no class of macex."""

    deepest: int = 1
    levels: bool = True
    offered: str = "all"
    seen: ClassVar[list[int]] = []
    name: ClassVar[str] = "levels"
    proves: ClassVar[bool] = True
    max_rows: ClassVar[int] = 4000

    def __call__(self, task, candidates):
        self.seen.append(int(candidates.real.any(axis=0).sum()))
        return replace(OWN, deepest=self.deepest)(task, candidates)


def many_high(cases):
    return 1 / (1 + np.exp(0.8 * (10.5 - (cases[:, HIGH].mean(axis=2) > 0.5).sum(axis=1))))


def answers(method, **options):
    cases = np.random.default_rng(0).normal(0, 0.2, (40, 30, 8))
    cases[1::2, HIGH] += 1
    options |= {"method": method, "fallback": False, "finetune": None}
    asked = mx.SeriesExplainer(many_high, cases, classes=("low", "high"), **options)
    return asked.explain(cases[:4:2])


def test_a_search_by_levels_goes_on_from_misses_as_the_default_does():
    ours, theirs = answers(OWN), answers(Levels())
    assert [item.status for item in theirs] == ["found", "found"]
    for one, other in zip(ours, theirs, strict=True):
        assert one.cost.rows == other.cost.rows
        assert one.counterfactuals[0].channels == other.counterfactuals[0].channels
    assert {item.method for item in theirs} == {"levels"}


def test_another_is_asked_once():
    found = answers(Levels(levels=False))
    assert [item.status for item in found] == ["not_found", "not_found"]


def test_it_is_offered_what_it_asks_for():
    near, most = mx.NearCases(k=2, columns=5), {}
    for offered in ("all", "few"):
        Levels.seen.clear()
        answers(Levels(levels=False, offered=offered), candidates=near)
        most[offered] = max(Levels.seen)
    assert most["few"] <= 2 * 2 * 5 < most["all"] == 2 * 30
