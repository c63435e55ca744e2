"""Two events of a channel that are far apart are two stretches, not one from first to last."""

from __future__ import annotations

import numpy as np
import pytest

import macex as mx
from macex.series.drafts import MOST, Draft, left_out, parts_of
from macex.series.exchanges import PRICE, Exchange, least_taken, taken

LENGTH = 100


def two_bumps(count=60):
    cases = np.random.default_rng(0).normal(0, 0.3, (count, 4, LENGTH))
    cases[1::2, 1, 10:16] += 3
    cases[1::2, 1, 80:86] += 3
    return cases


def both(samples):
    first, second = samples[:, 1, 10:16].mean(axis=1), samples[:, 1, 80:86].mean(axis=1)
    return 1 / (1 + np.exp(-4 * (np.minimum(first, second) - 1.5)))


@pytest.fixture(scope="module")
def explainer():
    return mx.SeriesExplainer(both, two_bumps(), classes=("fine", "fault"))


def test_what_lies_between_two_bumps_is_left_alone(explainer):
    for found in explainer.explain(two_bumps()[:6:2]):
        answer = found.counterfactuals[0]
        assert answer.channels == ("channel 1",)
        assert answer.sparsity == 1
        first, second = answer.changes
        assert 8 <= first.start < first.stop <= 18
        assert 78 <= second.start < second.stop <= 88
        sample, own = answer.sample, found.query
        assert np.array_equal(sample[:, 18:78], own[:, 18:78])
        assert both(sample[None])[0] > 0.5


def test_one_event_stays_one_stretch(explainer):
    for found in explainer.explain(two_bumps()[1:6:2]):
        assert len(found.counterfactuals[0].changes) == 1


def test_stretches_are_the_same_alone_and_together(explainer):
    cases = two_bumps()[:4]
    together = explainer.explain(cases)
    for at, found in enumerate(together):
        alone = explainer.explain(cases[at : at + 1])[0]
        assert alone.to_json(canonical=True) == found.to_json(canonical=True)
        assert alone.cost[:2] == found.cost[:2]


def test_two_stretches_of_a_channel_are_told(explainer):
    found = explainer.explain(two_bumps()[:1])
    changes = found.to_changes()
    assert changes["channel"].tolist() == ["channel 1"] * 2
    assert found[0].sentences()[0].count("channel 1 between") == 2
    assert found[0].to_html().count('class="mx-stretch"') == 2


def test_each_part_is_offered_once_and_lies_within():
    runs = [(0, 7), (20, 64)]
    offered = parts_of(runs)
    assert len(offered) == len(set(offered))
    taken = {time for a, b in runs for time in range(a, b)}
    for start, stop in offered:
        rest = {time for a, b in left_out(runs, (start, stop)) for time in range(a, b)}
        assert rest == taken - set(range(start, stop))


def test_on_the_edge_the_neighbor_that_needs_the_fewest_cells_is_taken():
    """The nearest neighbors reach the goal with all ten points, farther ones with three."""
    train = np.zeros((30, 1, 40))
    train[10:20, :, 10:20], train[20:, :, 10:20] = 1.05, 4.0

    def level(samples):
        return 1 / (1 + np.exp(-8 * (samples[:, 0, 10:20].mean(axis=1) - 1.0)))

    edge = mx.Segments(stable=0, blend=1)
    asked = mx.SeriesExplainer(level, train, classes=("low", "high"), finetune=edge)
    (found,) = asked.explain(train[:1])
    (change,) = found.counterfactuals[0].changes
    assert change.stop - change.start == 3
    assert change.case >= 20


def drafts(*ends):
    """Examples of one channel, each with its query and the runs that it takes."""
    start, stop = np.zeros((2, len(ends), 1, MOST), int)
    for line, (_, runs) in enumerate(ends):
        for place, (first, last) in enumerate(runs):
            start[line, 0, place], stop[line, 0, place] = first, last
    at = np.array([query for query, _ in ends])
    return Draft(at, np.ones((len(ends), 1), int), start, stop, np.ones((len(ends), 1)))


def test_rivals_replace_the_answers_of_their_own_query():
    draft = drafts((2, [(0, 9)]), (0, [(0, 4)]), (0, [(0, 5)]), (2, [(0, 3)]), (0, [(0, 6)]))
    assert least_taken(draft, 2, np.full(3, 40)).size.ravel().tolist() == [3, 4]
    assert least_taken(draft, 5, np.full(3, 40)) is draft


def test_a_stretch_more_has_to_spare_more_than_a_cell():
    one, two = drafts((0, [(0, 9)])), drafts((0, [(0, 4), (7, 11)]))
    saved = int(one.size.sum() - two.size.sum())
    for length in (10, 100):
        less = taken(two, np.array([length])) < taken(one, np.array([length]))
        assert less[0] == (saved > PRICE * length)


def test_stretches_elsewhere_and_of_other_neighbors_are_found():
    """The first neighbor has a long event, which no end can give way of; the second a short one."""

    def ask(trial):
        start, stop, code = trial.start[:, 0, 0], trial.stop[:, 0, 0], trial.code[:, 0]
        early = (code == 1) & (start <= 10) & (stop >= 50)
        holds = early | (code == 2) & (start <= 80) & (stop >= 84)
        return holds, np.where(holds, 1.0, -1.0)

    def gentle(_at, trials):
        return np.ones(len(trials.unit), bool)

    neighbors, length = np.ones((1, 1, 2), bool), np.array([LENGTH])
    exchange = Exchange(ask, gentle, length, neighbors, lambda: False)
    made = exchange(drafts((0, [(10, 50)])), drafts((0, [(0, LENGTH)])))
    assert made.code[0, 0] == 2
    assert made.size[0, 0] <= 6
    assert ask(made)[0].all()


def test_the_edge_is_the_same_alone_and_together():
    edge = mx.SeriesExplainer(
        both, two_bumps(), classes=("fine", "fault"), finetune=mx.Segments(stable=0)
    )
    cases = two_bumps()[:4]
    for at, found in enumerate(edge.explain(cases)):
        alone = edge.explain(cases[at : at + 1])[0]
        assert alone.to_json(canonical=True) == found.to_json(canonical=True)
        assert alone.cost[:2] == found.cost[:2]
