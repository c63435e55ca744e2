"""Only answers are accepted that come true with the probability that is asked for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import macex as mx
from causes.beside import EVERY, over_samples
from causes.worlds import WORLDS, actions_of
from macex.audit import read_records

LINEAR = WORLDS["linear"]


def asked(name: str = "linear", rows: int = 40, prefer: str = "nearest", causes=None, **options):
    world = WORLDS[name]
    train, _ = world.draw(1000)
    every, noise = world.draw(300, seed=1)
    refused = np.flatnonzero(world.model(every) < 0.5)[:rows]
    explainer = mx.Explainer(
        world.model,
        train,
        classes=("no", "yes"),
        causes=world.edges if causes is None else causes,
        plausibility="distance",
        prefer=prefer,
        **options,
    )
    return explainer, every.iloc[refused], noise.iloc[refused]


@pytest.mark.parametrize("prefer", ["balanced", "nearest"])
@pytest.mark.parametrize("name", list(WORLDS))
def test_every_answer_has_the_reach_that_is_asked_for(name, prefer):
    explainer, rows, _ = asked(name, 12, prefer)
    found = explainer.explain(rows, want="yes", reach=0.9)
    assert [e.status for e in found] == ["found"] * len(rows)
    assert min(e.counterfactuals[0].reach for e in found) >= 0.9
    if prefer == "nearest":
        free = explainer.explain(rows, want="yes")
        assert min(e.counterfactuals[0].reach for e in free) < 0.9


def test_accepted_answers_come_true():
    explainer, rows, noise = asked(rows=30)
    for reach, least, most in ((None, 0.0, 0.6), (0.9, 0.95, 1.0)):
        found = explainer.explain(rows, want="yes", reach=reach)
        acted = LINEAR.acted(noise, actions_of(found, len(rows)))
        assert least <= (LINEAR.model(acted) >= 0.5).mean() <= most


@pytest.mark.slow
@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize(
    ("prefer", "reach", "least"),
    [("balanced", 0.9, 0.95), ("nearest", 0.9, 0.9), ("nearest", 0.95, 0.95)],
)
def test_over_samples_of_training_rows_a_reach_is_what_it_says(name, prefer, reach, least):
    assert np.mean(over_samples(name, prefer, reach)) >= least


def test_a_row_is_answered_alike_alone_and_among_others():
    explainer, rows, _ = asked(rows=12)
    together = explainer.explain(rows, want="yes", reach=0.9, n=2)
    alone = [explainer.explain(rows.iloc[[at]], want="yes", reach=0.9, n=2)[0] for at in range(12)]
    assert [e.to_json(canonical=True) for e in alone] == [
        e.to_json(canonical=True) for e in together
    ]


def test_draws_are_paid_for_out_of_the_rows_that_a_query_may_cost():
    explainer, rows, _ = asked(rows=12)
    found = explainer.explain(rows, want="yes", reach=0.9, max_rows=200)
    assert max(e.cost.rows for e in found) <= 200
    answers = [e.counterfactuals[0] for e in found if e.counterfactuals]
    assert answers
    assert min(answer.reach for answer in answers) >= 0.9


def test_a_row_without_a_sure_answer_says_so():
    random = np.random.default_rng(0)
    school = random.integers(0, 20, 100)
    pay = (2 * school + random.normal(0, 10, 100)).round(1)
    rows = pd.DataFrame({"school": school, "pay": pay})
    even = mx.Explainer(
        lambda r: np.where((np.asarray(r["pay"]) * 10).round() % 2 == 0, 0.9, 0.1),
        rows,
        classes=("no", "yes"),
        causes={"pay": ["school"]},
        plausibility="distance",
        constraints=mx.Constraints(only=["school"]),
    )
    odd = rows[(rows["pay"] * 10).round() % 2 == 1].head(5)
    assert all(e.counterfactuals for e in even.explain(odd, want="yes"))
    for explanation in even.explain(odd, want="yes", reach=1.0):
        assert not explanation.counterfactuals
        assert "is met with a probability of at least 1" in explanation.reason


def test_stated_mechanisms_are_taken_at_their_word():
    stated = mx.Causes(LINEAR.edges, LINEAR.mechanisms)
    explainer, rows, _ = asked(rows=8, causes=stated)
    plain, sure = (explainer.explain(rows, want="yes", reach=reach) for reach in (None, 0.9))
    assert plain.to_json(canonical=True) == sure.to_json(canonical=True)


def test_without_causes_there_is_nothing_to_reach():
    train, _ = LINEAR.draw(100)
    plain = mx.Explainer(LINEAR.model, train, classes=("no", "yes"))
    with pytest.raises(mx.OptionError, match="needs causes"):
        plain.explain(train.head(2), reach=0.9)
    for wrong in (1.5, -0.1, "0.9", True):
        with pytest.raises(mx.OptionError, match="reach must be a probability"):
            plain.explain(train.head(2), reach=wrong)


def test_a_recorded_answer_with_a_reach_is_made_again(tmp_path):
    path = tmp_path / "audit.jsonl"
    explainer, rows, _ = asked(rows=2, audit=path)
    explainer.explain(rows, want="yes", reach=0.9)
    record = next(read_records(path))
    assert record["call"]["reach"] == 0.9
    train, _ = LINEAR.draw(1000)
    assert mx.replay(record["id"], path, model=LINEAR.model, data=train).difference is None
