"""Laws of every answer about series."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from series.machines import CLASSES, NAMES, Machine, bump_and_level, explainer, made_cases

METHODS = ("exhaustive", "reinforce", "gradientless")
QUERIES = made_cases(12, seed=1)
model = Machine()


def best(found):
    return [item.counterfactuals[0] for item in found]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("want", [None, *CLASSES])
def test_every_answer_reaches_its_goal_with_the_callers_own_model(method, want):
    found = explainer(method=method).explain(QUERIES, want=want)
    assert [item.status for item in found] == ["found"] * len(QUERIES)
    for case, item in zip(QUERIES, found, strict=True):
        decided = model.predict(item.counterfactuals[0].sample[None])[0]
        assert decided == item.counterfactuals[0].label
        assert decided == want if want else decided != model.predict(case[None])[0]


@pytest.mark.parametrize("finetune", ["segments", None])
def test_only_the_stretches_named_differ_and_the_rest_is_kept_bit_for_bit(finetune):
    for case, answer in zip(
        QUERIES, best(explainer(finetune=finetune).explain(QUERIES)), strict=True
    ):
        untouched = answer.sample.copy()
        for change in answer.changes:
            place = NAMES.index(change.channel)
            assert np.array_equal(change.after, answer.sample[place, change.start : change.stop])
            assert np.array_equal(change.before, case[place, change.start : change.stop])
            untouched[place, change.start : change.stop] = change.before
        assert untouched.tobytes() == case.tobytes()
        assert answer.sample.dtype == case.dtype


def test_whole_channels_are_those_of_the_case_that_is_named():
    train = made_cases()
    for answer in best(explainer(finetune=None).explain(QUERIES)):
        for change in answer.changes:
            place = NAMES.index(change.channel)
            assert np.array_equal(answer.sample[place], train[change.case, place])
            assert change.label == model.predict(train[change.case][None])[0]


def test_the_channel_and_the_time_that_decide_are_found():
    answer = best(explainer().explain(QUERIES[:1], want="bump"))[0]
    (change,) = answer.changes
    assert change.channel == "sensor 2"
    assert 10 <= change.start < change.stop <= 20


def steep(channel):
    """The step that 99.9 % of the steps of a channel in training do not exceed."""
    return np.quantile(np.abs(np.diff(made_cases()[:, channel], axis=1)), 0.999)


def test_a_stretch_on_the_edge_is_cut_as_far_as_goal_and_seams_allow():
    unblended = explainer(finetune=mx.Segments(blend=1, stable=0))
    for case, answer in zip(QUERIES, best(unblended.explain(QUERIES)), strict=True):
        for change in answer.changes:
            place = NAMES.index(change.channel)
            for cut in (change.start, change.stop - 1):
                shorter = answer.sample.copy()
                shorter[place, cut] = case[place, cut]
                jumps = np.abs(np.diff(shorter[place])).max() > steep(place)
                assert jumps or model.predict(shorter[None])[0] != answer.label


def test_a_bump_is_blended_no_further_than_needed():
    case = QUERIES[:1]
    edge = explainer(finetune=mx.Segments(stable=0))
    (change,) = best(edge.explain(case, want="bump"))[0].changes
    assert change.blend < 1
    lower = case.copy()
    part = slice(change.start, change.stop)
    donor = made_cases()[change.case, 2, part].astype(float)
    lower[0, 2, part] += (change.blend - 2 / 64) * (donor - case[0, 2, part])
    assert model.predict(lower)[0] == "calm"


@pytest.mark.parametrize("method", METHODS)
def test_a_batch_changes_nothing(method):
    asked = explainer(method=method)
    together = asked.explain(QUERIES, n=2)
    for place in (0, 5, 11):
        alone = asked.explain(QUERIES[place : place + 1], n=2)
        assert alone.to_json(canonical=True) == together[place : place + 1].to_json(canonical=True)


def test_the_same_seed_gives_the_same_bytes():
    answers = [explainer(method="reinforce").explain(QUERIES) for _ in range(2)]
    assert answers[0].to_json(canonical=True) == answers[1].to_json(canonical=True)


def test_layouts_answer_alike():
    train, first = made_cases(), explainer().explain(QUERIES[:4])

    def turned(cases):
        return bump_and_level(cases.transpose(0, 2, 1))

    last = mx.SeriesExplainer(
        turned, train.transpose(0, 2, 1), layout="channels_last", channels=NAMES, classes=CLASSES
    ).explain(QUERIES[:4].transpose(0, 2, 1))
    assert first.to_json(canonical=True) == last.to_json(canonical=True)
    assert last[0].counterfactuals[0].sample.shape == last[0].query.shape == (40, 6)


def test_the_model_gets_the_callers_dtype_and_whole_samples():
    machine = Machine()
    mx.SeriesExplainer(machine, made_cases()).explain(QUERIES[:2])
    assert {shape[1:] for shape in machine.shapes} == {(6, 40)}
    assert machine.dtypes == {np.dtype(np.float32)}


def test_several_answers_change_different_channels():
    for item in explainer().explain(QUERIES[:6], n=2):
        sets = [frozenset(answer.channels) for answer in item.counterfactuals]
        assert len(sets) == len(set(sets))


def test_one_channel_is_minimal_and_said_to_be():
    for item in explainer().explain(QUERIES):
        assert item.counterfactuals[0].sparsity == 1
        assert item.minimal


def test_a_cut_search_claims_no_minimality():
    rng = np.random.default_rng(3)
    train = rng.normal(size=(80, 40, 5)).astype(np.float32)

    def summed(cases):
        return 1 / (1 + np.exp(-4 * cases.mean(axis=2).sum(axis=1)))

    found = mx.SeriesExplainer(summed, train, classes=("low", "high")).explain(
        train[:4] - 0.3, want="high"
    )
    assert all(item.status == "found" for item in found)
    large = [item for item in found if item.counterfactuals[0].sparsity > 3]
    assert large
    assert not any(item.minimal for item in large)


def test_a_case_that_is_there_already_needs_no_change():
    (item,) = explainer().explain(QUERIES[1:2], want="bump")
    assert item.counterfactuals[0].changes == ()
    assert item.counterfactuals[0].sample.tobytes() == QUERIES[1].tobytes()


def test_a_score_can_be_wanted_below_a_threshold():
    def alarm(cases):
        return np.abs(cases).max(axis=(1, 2))

    train = made_cases()
    detector = mx.SeriesExplainer(alarm, train, channels=NAMES)
    odd = train[:2].copy()
    odd[:, 3, 25] = 9.0
    for item in detector.explain(odd, want=mx.below(5.0)):
        (change,) = item.counterfactuals[0].changes
        assert (change.channel, change.start, change.stop) == ("sensor 3", 25, 26)
        assert alarm(item.counterfactuals[0].sample[None])[0] < 5.0
        assert item.label is None


def test_series_of_one_channel_are_explained_by_a_stretch():
    rng = np.random.default_rng(0)
    train = rng.normal(0, 0.1, (40, 1, 100))
    train[::2, 0, 30:40] += 2

    def spiked(cases):
        return 1 / (1 + np.exp(-8 * (cases[:, 0, 30:40].mean(axis=1) - 1)))

    found = mx.SeriesExplainer(spiked, train, classes=("flat", "spike")).explain(train[:4])
    for item in found:
        (change,) = item.counterfactuals[0].changes
        assert 30 <= change.start < change.stop <= 40


def test_cost_is_what_the_model_was_asked():
    machine = Machine()
    asked = mx.SeriesExplainer(machine, made_cases())
    machine.shapes.clear()
    (item,) = asked.explain(QUERIES[:1])
    scored = sum(shape[0] for shape in machine.shapes)
    assert 2 * item.cost.rows == scored  # each for its scores and for its decision


def test_repr_says_what_is_explained():
    assert repr(explainer()) == (
        "SeriesExplainer(6 channels, 60 training cases, classes calm, bump, raised, "
        "method='exhaustive')"
    )


def test_a_score_reads_toward_the_goal_as_in_explanations():
    asked = explainer()
    for want in (None, "bump", mx.at_least(0.4, label="raised")):
        said = asked.score(QUERIES[:4], want)
        assert said.tolist() == [item.score for item in asked.explain(QUERIES[:4], want=want)]
    assert asked.score(QUERIES[:0]).shape == (0,)
