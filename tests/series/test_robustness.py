"""Answers that must hold under noise, or with other models, do so."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.series.drafts import MOST, Draft, laid_out
from macex.series.robustness import between
from macex.stages.selection import STABLE
from series.machines import CLASSES, NAMES, Machine, explainer, made_cases

QUERIES = made_cases(6, seed=1)
model = Machine()


def held(sample, label, seed):
    """The share of samples with fresh noise that the model decides alike."""
    spread = made_cases().std(axis=(0, 2))
    noise = np.random.default_rng(seed).standard_normal((200, *sample.shape))
    noisy = sample + 0.02 * spread[:, None] * noise
    return (model.predict(noisy.astype(np.float32)) == label).mean()


def test_robust_answers_hold_under_noise_that_undoes_others():
    asked = explainer()
    plain = explainer(finetune=mx.Segments(stable=0)).explain(QUERIES[:3], want="bump")
    firm = asked.explain(QUERIES[:3], want="bump", robust=1.0)
    for before, item in zip(plain, firm, strict=True):
        (answer,) = item.counterfactuals
        assert answer.robustness == 1.0 or not answer.changes
        assert held(answer.sample, "bump", 0) > 0.95
        assert answer.sparsity <= before.counterfactuals[0].sparsity
    edge, safe = (
        min(held(item.counterfactuals[0].sample, "bump", 0) for item in one)
        for one in (plain, firm)
    )
    assert edge < safe


def test_robustness_is_measured_without_asking_for_any():
    plain = explainer().explain(QUERIES[:2], want="raised")
    told = explainer().explain(QUERIES[:2], want="raised", robust=0)
    for before, item in zip(plain, told, strict=True):
        assert item.counterfactuals[0].changes == before.counterfactuals[0].changes
        assert 0 <= item.counterfactuals[0].robustness <= 1
    assert '"robustness"' in told.to_json()
    assert '"robustness"' not in plain.to_json()


def test_every_answer_holds_with_the_other_models():
    class Stricter(Machine):
        def predict_proba(self, cases):
            scores = super().predict_proba(cases)
            scores[:, 0] *= 3
            return scores / scores.sum(axis=1, keepdims=True)

    found = explainer().explain(QUERIES[:3], want="bump", also=[Stricter()])
    for item in found:
        decided = Stricter().predict(item.counterfactuals[0].sample[None])
        assert decided.tolist() == ["bump"]


def test_what_no_answer_can_be_is_said():
    class Opposed(Machine):
        def predict_proba(self, cases):
            return np.tile([1.0, 0.0, 0.0], (len(cases), 1))

    (item,) = explainer().explain(QUERIES[:1], want="bump", also=[Opposed()])
    assert item.status == "not_found"
    assert "holds with the other models" in item.reason


def test_another_kind_of_model_is_refused():
    class Other(Machine):
        classes_ = np.array(["a", "b", "c"])

    with pytest.raises(mx.OptionError, match="decides between"):
        explainer().explain(QUERIES[:1], also=[Other()])


@pytest.mark.parametrize("most", [450, 700])
def test_no_query_costs_more_rows_than_allowed(most):
    for item in explainer().explain(QUERIES, max_rows=most, robust=0.9):
        assert item.cost.rows <= most


def test_a_batch_changes_nothing():
    asked = explainer()
    together = asked.explain(QUERIES, robust=0.9)
    alone = asked.explain(QUERIES[4:5], robust=0.9)
    assert alone.to_json(canonical=True) == together[4:5].to_json(canonical=True)


def test_a_model_that_fails_on_noise_is_answered_all_the_same():
    train = np.round(made_cases(), 1).astype(float)

    def tenths(cases):
        if not np.allclose(cases * 10, np.round(cases * 10)):
            raise ValueError("not a tenth")
        return model.predict_proba(cases)

    asked = mx.SeriesExplainer(tenths, train, finetune=mx.Segments(blend=1))
    for item in asked.explain(train[:3], on_error="raise"):
        assert item.status == "found"
    (told,) = asked.explain(train[:1], robust=0)
    assert told.counterfactuals[0].robustness == 0.0
    (none,) = asked.explain(train[:1], robust=0.5)
    assert none.status == "not_found"


def test_whole_numbers_stay_whole():
    train = np.round(made_cases() * 10).astype(np.int32)
    asked = mx.SeriesExplainer(lambda x: model.predict_proba(x / 10), train, channels=NAMES)
    (item,) = asked.explain(train[:1], want=1, robust=0.5)
    assert item.counterfactuals[0].sample.dtype == np.int32


def test_answers_keep_the_score_at_which_answers_are_stable():
    for item in explainer().explain(QUERIES):
        (answer,) = item.counterfactuals
        score = model.predict_proba(answer.sample[None])[0]
        own = CLASSES.index(item.label)
        assert np.log(np.delete(score, own).max() / score[own]) >= STABLE - 1e-6


@pytest.mark.parametrize(
    "options", [{"margin": 0}, {"finetune": mx.Segments(stable=0)}, {"prefer": "nearest"}]
)
def test_a_caller_who_says_how_sure_answers_are_to_be_gets_no_more(options):
    margin = {"margin": options.pop("margin")} if "margin" in options else {}
    (edge,) = explainer(**options).explain(QUERIES[:1], want="bump", **margin)
    (firm,) = explainer().explain(QUERIES[:1], want="bump")
    assert edge.counterfactuals[0].score < firm.counterfactuals[0].score


def test_of_answers_with_as_many_channels_the_one_farther_from_the_edge_comes_first():
    """Two channels decide alone; the one that moves less barely does."""
    train = np.zeros((20, 2, 10))
    train[10:, 0], train[10:, 1] = 1.0, 2.0

    def barely(cases):
        odds = 0.1 * (cases[:, 0].mean(axis=1) > 0.5) + 3 * (cases[:, 1].mean(axis=1) > 1.5)
        return 1 / (1 + np.exp(0.05 - odds))

    asked = mx.SeriesExplainer(barely, train, classes=("no", "yes"), finetune=None)
    (item,) = asked.explain(train[:1])
    assert item.counterfactuals[0].channels == ("channel 1",)


def test_noise_must_not_lead_to_a_third_class():
    """The nearest cases are nearly as much of one class as of another."""
    train = np.zeros((30, 1, 40))
    train[10:20] = 1.0
    train[20:] = 1.5

    def graded(cases):
        level = 20 * cases[:, 0].mean(axis=1)
        scores = np.exp(np.stack([-level, level - 20.0, 2.5 * level - 50.1], axis=1))
        return scores / scores.sum(axis=1, keepdims=True)

    asked = mx.SeriesExplainer(graded, train, classes=("low", "middle", "high"))
    (item,) = asked.explain(train[:1], robust=0)
    (answer,) = item.counterfactuals
    noisy = answer.sample + 0.02 * train.std() * np.random.default_rng(0).normal(size=(200, 1, 40))
    names = np.array(["low", "middle", "high"])
    assert (names[graded(noisy).argmax(axis=1)] == answer.label).mean() > 0.95
    assert answer.robustness == 1.0


def test_a_farther_neighbor_gives_the_channel_where_it_leads_more():
    """The five nearest neighbors barely suffice, whole; the tenth is farther from the edge."""
    train = np.zeros((30, 2, 10))
    train[10:, 0] = np.linspace(1.01, 1.4, 20)[:, None]

    def climbing(cases):
        return 1 / (1 + np.exp(-8 * (cases[:, 0].mean(axis=1) - 1.0)))

    def first(**options):
        asked = mx.SeriesExplainer(climbing, train, classes=("no", "yes"), **options)
        return asked.explain(train[:1])[0].counterfactuals[0]

    assert first(finetune=None).score > 0.85
    assert first(finetune=None, candidates=mx.NearCases(k=5)).score < 0.7


def test_stable_stretches_are_wider_by_a_tenth_at_either_end():
    def drafted(*runs):
        ends = np.zeros((2, 1, 1, MOST), int)
        ends[:, 0, 0, : len(runs)] = np.transpose(runs)
        return Draft(np.zeros(1, int), np.ones((1, 1), int), *ends, np.ones((1, 1)))

    made = between(drafted((20, 40), (43, 53)), drafted((0, 53)), 0, 1, 0.1)
    assert laid_out(made.start[0, 0], made.stop[0, 0]) == [(18, 53)]
    made = between(drafted((20, 40), (44, 53)), drafted((0, 60)), 0, 1, 0.1)
    assert laid_out(made.start[0, 0], made.stop[0, 0]) == [(18, 42), (44, 53)]
