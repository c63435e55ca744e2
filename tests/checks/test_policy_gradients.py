"""REINFORCE's gradients, written out by hand, are the derivatives of the loss of eq. 5."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from macex.stages.search.options import UnitValues
from macex.stages.search.reinforce import Policy, gradients, probabilities, sample


def log_policy(p: np.ndarray, values: np.ndarray, mu: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """log pi of every action (eq. 2): the value counts only where the column is chosen."""
    total = np.zeros(mu.shape[:2])
    for query, turn, unit in np.ndindex(mu.shape):
        if mu[query, turn, unit]:
            chosen = values[query, unit, nu[query, turn, unit]]
            total[query, turn] += np.log(p[query, unit]) + np.log(chosen)
        else:
            total[query, turn] += np.log(1 - p[query, unit])
    return total


def loss(policy: Policy, options: UnitValues, mu, nu, advantage, penalty) -> float:
    """Eq. 5 as a surrogate whose gradient is that of REINFORCE, against the mean reward."""
    p, values = probabilities(policy, options)
    l1, l2 = penalty
    reward = -(advantage * log_policy(p, values, mu, nu)).mean(axis=1)
    return float((reward + (l1 * p).sum(axis=1) + (l2 * p * np.log(p)).sum(axis=1)).sum())


def numerical(part: str, policy: Policy, *rest) -> np.ndarray:
    """Central differences."""
    values, step = getattr(policy, part), 1e-5
    found = np.zeros(values.shape)
    for place in np.ndindex(values.shape):
        ends = []
        for sign in (1, -1):
            moved = values.copy()
            moved[place] += sign * step
            ends.append(loss(policy._replace(**{part: moved}), *rest))
        found[place] = (ends[0] - ends[1]) / (2 * step)
    return found


@settings(max_examples=10)
@given(
    seed=st.integers(0, 10_000),
    l1=st.floats(0, 3),
    l2=st.floats(0, 3),
    offered=st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
def test_the_gradients_are_the_derivatives_of_the_loss(seed, l1, l2, offered):
    rng = np.random.default_rng(seed)
    queries, units, most, batch = 2, 4, 3, 6
    real = np.broadcast_to(np.arange(most) < np.array(offered)[:, None], (queries, units, most))
    options = UnitValues(np.zeros(real.shape), real, np.zeros((units, most), int))
    policy = Policy(rng.normal(size=(queries, units)), rng.normal(size=(queries, units, most)))
    p, values = probabilities(policy, options)
    mu, nu = sample(p, values, rng.random((queries, batch, units)))
    advantage = rng.normal(size=(queries, batch))
    penalty = np.full((queries, 1), l1), np.full((queries, 1), l2)
    found = gradients(p, values, mu, nu, advantage, penalty)
    rest = (options, mu, nu, advantage, penalty)
    np.testing.assert_allclose(found.logit, numerical("logit", policy, *rest), atol=1e-5)
    np.testing.assert_allclose(
        np.where(real, found.q, 0), np.where(real, numerical("q", policy, *rest), 0), atol=1e-5
    )


def test_actions_are_drawn_as_often_as_the_policy_says():
    real = np.array([[[True, True, False], [True, False, False]]])
    options = UnitValues(np.zeros(real.shape), real, np.zeros((2, 3), int))
    policy = Policy(np.array([[0.5, -1.0]]), np.array([[[0.3, -0.4, 9.0], [0.0, 0.0, 0.0]]]))
    p, values = probabilities(policy, options)
    mu, nu = sample(p, values, np.random.default_rng(0).random((1, 40_000, 2)))
    np.testing.assert_allclose(mu[0].mean(axis=0), p[0], atol=0.01)
    np.testing.assert_allclose((nu[0, :, 0] == 0)[mu[0, :, 0]].mean(), values[0, 0, 0], atol=0.015)
    assert real[0, [0, 1], nu[0]].all()
