"""A learned mask opens where a network looks."""

from __future__ import annotations

import pytest

import macex as mx
from macex.baselines.series_mask import SeriesMask
from series.machines import Machine, made_cases

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.usefixtures("one_thread")
TRAIN, QUERIES = made_cases(), made_cases(6, seed=1)
LABELS = ["calm", "bump", "raised"] * 20


def logits(cases):
    bump, level = cases[:, 2, 10:20].mean(dim=1), cases[:, 4].mean(dim=1)
    return 4 * torch.stack([torch.ones(len(cases)), bump, level], dim=1)


def test_the_mask_is_open_where_the_network_looks():
    search = SeriesMask(Machine(), TRAIN, LABELS, logits=logits, rounds=100)
    (item,) = search.explain(QUERIES[:1], want="bump")
    (answer,) = item.counterfactuals
    assert Machine().predict(answer.sample[None])[0] == "bump"
    assert answer.channels == ("channel 2",)
    assert all(10 <= change.start < change.stop <= 20 for change in answer.changes)
    assert item.cost.rows >= 100


def test_a_score_goal_is_refused():
    search = SeriesMask(Machine(), TRAIN, LABELS, logits=logits, rounds=5)
    with pytest.raises(mx.OptionError, match="classes, not for scores"):
        search.explain(QUERIES[:1], want=mx.at_least(0.9, label="bump"))


def test_wrong_options_are_named():
    with pytest.raises(mx.OptionError, match="logits="):
        SeriesMask(Machine(), TRAIN, logits=3)
    with pytest.raises(mx.OptionError, match="rounds"):
        SeriesMask(Machine(), TRAIN, logits=logits, rounds=0)
