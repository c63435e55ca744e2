"""REINFORCE over which columns to change and to which values (the paper's Algorithm 2).

The policy has two parts (eqs. 2 and 3): mu_c ~ Bernoulli(p_c) chooses columns, nu_c ~ softmax(q_c)
their values, and the value's probability counts only where the column is chosen. All queries learn
in lock-step: one model call an epoch. The gradients are written out, see `gradients`.

Where the paper and its authors' library differ, the defaults are the library's: the penalty of
eq. 5 is averaged over columns, and the greedy path of step 5 chooses among scored changes.
`Reinforce(weigh="batch", path="printed", singles=False)` is Algorithm 2 as printed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from macex.errors import OptionError, require_counts, require_number
from macex.schema import Array
from macex.stages.arrays import distinct, rank_within
from macex.stages.search.options import UnitValues, options_of
from macex.stages.search.protocol import MOST_ROWS, REINFORCE
from macex.stages.shapes import Candidates, Found, Pool, Task

ALONE = 3  # values of a column that are tried by themselves, the likeliest first
BRANCHES = 2  # values of a column that a step of the scored path chooses from


class Policy(NamedTuple):
    """theta of eq. 3: p as a sigmoid of a free logit, q as the logits of a softmax."""

    logit: Array  # (Q, U)
    q: Array  # (Q, U, M)


class PolicyPlan(NamedTuple):
    """What a learnt policy says to do."""

    p: Array  # (Q, U)
    values: Array  # (Q, U, M) softmax(q)
    place: Array  # (Q, U) rank of every column by p
    top: Array  # (Q, U) bool: C*, the w columns with the highest p
    best: Array  # (Q, U) int: v*_c
    most: Array  # (Q,) how many columns may be changed


@dataclass(frozen=True, slots=True)
class Reinforce:
    """The paper's MACE-RL.

    `epochs` and `batch` of REINFORCE, Adam's `rate`, the weights `l1` and `entropy` of eq. 5,
    `max_columns` (w) and `samples` (B) of Algorithm 2. `weigh` says what the weights of eq. 5 are
    held against: the reward summed over the batch, as printed (`"batch"`), the mean reward
    (`"mean"`), or the mean reward with the penalty averaged over columns (`"columns"`, as in the
    authors' library). `path` is step 5: columns in the order of p, each with its likeliest value,
    as printed (`"printed"`), or at each step the one change that scores highest, of the two
    likeliest values of each column (`"scored"`, as in the authors' library). With `singles` the
    single changes that are scored for `actions` join E where they reach the goal.
    """

    name: ClassVar[str] = REINFORCE
    proves: ClassVar[bool] = False
    offered: ClassVar[Literal["all", "few"]] = "few"
    max_rows: ClassVar[int] = MOST_ROWS

    epochs: int = 15
    batch: int = 40
    rate: float = 0.1
    l1: float = 2
    entropy: float = 2
    max_columns: int = 8
    samples: int = 80
    weigh: Literal["batch", "mean", "columns"] = "columns"
    path: Literal["scored", "printed"] = "scored"
    singles: bool = True

    def __post_init__(self) -> None:
        require_counts(self, "epochs", "batch", "max_columns", "samples")
        for name in ("rate", "l1", "entropy"):
            require_number(f"Reinforce({name}=)", getattr(self, name))
        if str(self.weigh) not in ("batch", "mean", "columns"):
            raise OptionError(
                f"Reinforce(weigh=) is 'batch', 'mean' or 'columns', not {self.weigh!r}"
            )
        if str(self.path) not in ("scored", "printed"):
            raise OptionError(f"Reinforce(path=) is 'scored' or 'printed', not {self.path!r}")
        if not isinstance(self.singles, bool):
            raise OptionError(f"Reinforce(singles=) is True or False, not {self.singles!r}")

    def __call__(self, task: Task, candidates: Candidates) -> Found:
        """Learn a policy per query, then follow it greedily and by samples."""
        options = options_of(task, candidates)
        policy = self._learn(task, options)
        return self._follow(task, candidates, options, policy)

    def _learn(self, task: Task, options: UnitValues) -> Policy:
        """Step 1: minimise eq. 5 with Adam."""
        policy = Policy(np.zeros(options.real.shape[:2]), np.zeros(options.real.shape))
        adam = _Adam(self.rate, policy)
        penalty = self._penalty(options)
        for epoch in range(self.epochs):
            if task.judge.late:
                break
            p, values = probabilities(policy, options)
            uniform = task.draws.uniform("policy", epoch * self.batch, self.batch)
            mu, nu = sample(p, values, uniform)  # (Q, T, U)
            reward = self._reward(task, options, mu, nu)  # (Q, T)
            advantage = reward - np.median(reward, axis=1, keepdims=True)  # b = batch median
            policy = adam.step(policy, gradients(p, values, mu, nu, advantage, penalty))
        return policy

    def _penalty(self, options: UnitValues) -> tuple[Array, Array]:
        """lambda_1 and lambda_2 of eq. 5 against the mean reward, (Q, 1) each."""
        columns = np.maximum(options.open.sum(axis=1, keepdims=True), 1)
        share = {"batch": 1 / self.batch, "mean": 1.0, "columns": 1 / columns}[self.weigh]
        return self.l1 * share * np.ones(columns.shape), self.entropy * share * np.ones(
            columns.shape
        )

    def _reward(self, task: Task, options: UnitValues, mu: Array, nu: Array) -> Array:
        """The progress of every action; one that changes nothing is known without asking."""
        queries, batch, width = mu.shape
        base = task.reward(task.base, np.arange(queries))
        reward = np.repeat(base, batch)
        flat = mu.reshape(-1, width)
        acting = np.flatnonzero(flat.any(axis=1))
        at = acting // batch
        rows = options.rows(task, at, flat[acting], nu.reshape(-1, width)[acting])
        progress = task.judge(rows, at).progress
        reward[acting] = np.where(np.isfinite(progress), task.reward(progress, at), base[at])
        return reward.reshape(queries, batch)

    def _follow(
        self, task: Task, candidates: Candidates, options: UnitValues, policy: Policy
    ) -> Found:
        """Steps 2-7: the greedy path, B samples, and what single changes do alone."""
        plan = self._plan(task, options, policy)
        sampled = self._samples(task, options, plan)
        alone, alone_at, unit, option = _alone(task, options, plan)
        codes, at = np.concatenate([sampled[0], alone]), np.concatenate([sampled[1], alone_at])
        greedy = _printed_path if self.path == "printed" else _scored_path
        path, verdict = greedy(task, options, plan), task.judge(codes, at)
        single = np.arange(len(at)) >= len(sampled[0])
        good = verdict.reached & (self.singles | ~single)
        flips = np.zeros(options.real.shape, bool)
        flips[alone_at, unit, option] = verdict.reached[single]
        weight, flipping = _actions(task, candidates, options, plan, flips)
        nothing = np.zeros(len(plan.p), int)
        pool = Pool.join(
            [path, Pool(at[good], codes[good], verdict.progress[good])], task.space.width
        )
        return Found(pool, nothing, nothing, candidates, weight, flipping)

    def _plan(self, task: Task, options: UnitValues, policy: Policy) -> PolicyPlan:
        """Steps 2-4: the columns in order, and the best value of each."""
        p, values = probabilities(policy, options)
        order = np.argsort(-p, axis=1, kind="stable")  # ties by column name
        place = np.argsort(order, axis=1)
        top = (place < self.max_columns) & options.open
        most = np.minimum(self.max_columns, task.max_changes)
        return PolicyPlan(p, values, place, top, values.argmax(axis=2), most)

    def _samples(self, task: Task, options: UnitValues, plan: PolicyPlan) -> tuple[Array, Array]:
        """Step 6: B actions from the policy, never more than w or `max_changes` columns.

        Twice as many are drawn, so that few of the B are repeats.
        """
        queries, width = plan.p.shape
        draws = 2 * self.samples
        mu, nu = sample(plan.p, plan.values, task.draws.uniform("samples", 0, draws))
        mu &= plan.top[:, None, :]
        ranked = np.where(mu, plan.place[:, None, :], width)
        turn = np.argsort(np.argsort(ranked, axis=2, kind="stable"), axis=2)
        mu &= turn < plan.most[:, None, None]
        at = np.repeat(np.arange(queries), draws)
        flat = mu.reshape(-1, width)
        rows = options.rows(task, at, flat, nu.reshape(-1, width))
        some = np.flatnonzero(flat.any(axis=1))
        some = some[distinct(at[some], rows[some])]
        some = some[rank_within(at[some], some) < self.samples]
        return rows[some], at[some]


def _printed_path(task: Task, options: UnitValues, plan: PolicyPlan) -> Pool:
    """Step 5: the first prefix that reaches the goal; all prefixes are scored in one call."""
    steps = np.arange(1, int(plan.most.max(initial=0)) + 1)
    chosen = plan.top[:, None, :] & (plan.place[:, None, :] < steps[None, :, None])  # (Q, w, U)
    keep = (chosen.sum(axis=2) == steps) & (steps <= plan.most[:, None])
    at, step = np.nonzero(keep)
    rows = options.rows(task, at, chosen[at, step], plan.best[at])
    verdict = task.judge(rows, at)
    good = np.flatnonzero(verdict.reached)
    good = good[rank_within(at[good], step[good]) == 0]
    return Pool(at[good], rows[good], verdict.progress[good])


def _scored_path(task: Task, options: UnitValues, plan: PolicyPlan) -> Pool:
    """Step 5 as the authors' library takes it: at each step the change that scores highest.

    A step is one call for all queries that have not arrived. Ties go to the column of the higher
    p, then to the likelier value.
    """
    rows, pools = task.queries.copy(), [Pool.empty(task.space.width)]
    offered = options.real & plan.top[:, :, None] & (_turns(plan) < BRANCHES)  # (Q, U, M)
    for step in range(int(plan.most.max(initial=0))):
        at, unit, option = np.nonzero(offered & (step < plan.most)[:, None, None])
        if not len(at):
            break
        codes = rows[at]
        codes[np.arange(len(at)), unit] = options.value[at, unit, option]
        verdict = task.judge(codes, at)
        likely = (plan.place[at, unit], -plan.values[at, unit, option])
        best = np.flatnonzero(rank_within(at, -verdict.progress, *likely) == 0)
        rows[at[best]] = codes[best]
        offered[at[best], unit[best]] = False
        done = best[verdict.reached[best]]
        offered[at[done]] = False
        pools.append(Pool(at[done], codes[done], verdict.progress[done]))
    return Pool.join(pools, task.space.width)


def _turns(plan: PolicyPlan) -> Array:
    """The place of every value among those of its column, the likeliest first, (Q, U, M)."""
    order = np.argsort(-plan.values, axis=2, kind="stable")
    return np.argsort(order, axis=2)


def _alone(task: Task, options: UnitValues, plan: PolicyPlan) -> tuple[Array, Array, Array, Array]:
    """The likeliest values of each of the w columns, each by itself."""
    offered = options.real & plan.top[:, :, None] & (_turns(plan) < ALONE)
    at, unit, option = np.nonzero(offered)
    rows = task.queries[at]
    rows[np.arange(len(at)), unit] = options.value[at, unit, option]
    return rows, at, unit, option


def _actions(
    task: Task, candidates: Candidates, options: UnitValues, plan: PolicyPlan, flips: Array
) -> tuple[Array, Array]:
    """F* of step 3 by candidate: p of each of the w columns at its best value, and what flips."""
    hot = (np.arange(options.real.shape[2]) == plan.best[:, :, None]) & plan.top[:, :, None]
    width = candidates.value.shape[1]
    weight = options.spread(np.where(hot, plan.p[:, :, None], 0.0), 0.0, width)
    flipping = options.spread(hot & flips, 0.0, width).astype(bool)
    _add_reasons(task, candidates, weight, flipping)
    return weight, flipping


def _add_reasons(task: Task, candidates: Candidates, weight: Array, flips: Array) -> None:
    """What changes that may not be made would do: no part of the policy, but reasons."""
    codes, at, entry = candidates.rows(task.queries, candidates.real & ~candidates.allowed)
    if len(at):
        verdict = task.judge(codes, at, probe=True)
        gain = task.reward(verdict.progress, at) - task.reward(task.base[at], at)
        weight[at, entry] = np.clip(gain, 0.0, 1.0)
        flips[at, entry] = verdict.reached


def probabilities(policy: Policy, options: UnitValues) -> tuple[Array, Array]:
    """p (Q, U) and softmax(q) (Q, U, M); both 0 where nothing is on offer."""
    p = np.where(options.open, 1 / (1 + np.exp(-policy.logit)), 0.0)
    raised = np.where(options.real, np.exp(policy.q - policy.q.max(axis=2, keepdims=True)), 0.0)
    return p, raised / np.maximum(raised.sum(axis=2, keepdims=True), 1e-300)


def sample(p: Array, values: Array, uniform: Array) -> tuple[Array, Array]:
    """mu (Q, T, U) bool and nu (Q, T, U) int, both from one uniform number each."""
    mu = uniform < p[:, None, :]
    within = np.where(mu, uniform / np.maximum(p[:, None, :], 1e-300), 0.0)
    edges = np.cumsum(values, axis=2)[:, None, :, :]
    nu = (within[:, :, :, None] >= edges).sum(axis=3)
    last = np.maximum((values > 0).sum(axis=2) - 1, 0)
    offered = np.argsort(~(values > 0), axis=2, kind="stable")
    return mu, np.where(
        nu < values.shape[2],
        nu,
        np.take_along_axis(offered, last[:, :, None], axis=2)[:, None, :, 0],
    )


def gradients(
    p: Array, values: Array, mu: Array, nu: Array, advantage: Array, penalty: tuple[Array, Array]
) -> Policy:
    """The gradient of eq. 5, by hand.

    d log pi / d logit_c = mu_c - p_c and d log pi / d q_ci = mu_c (1[nu_c = i] - Q_ci), from eq. 2;
    the penalty is l1 ||p||_1 + l2 sum p log p, and dp / dlogit = p (1 - p).
    """
    l1, l2 = penalty
    inside = np.clip(p, 1e-12, 1)
    batch = advantage.shape[1]
    grad_logit = -np.einsum("qt,qtu->qu", advantage, mu - p[:, None, :]) / batch
    grad_logit = grad_logit + p * (1 - p) * (l1 + l2 * (np.log(inside) + 1))
    weighted = advantage[:, :, None] * mu  # (Q, T, U)
    picked = np.stack(
        [np.where(nu == i, weighted, 0.0).sum(axis=1) for i in range(values.shape[2])], axis=2
    )
    grad_q = -(picked - values * weighted.sum(axis=1)[:, :, None]) / batch
    return Policy(grad_logit, grad_q)


class _Adam:
    """Adam (Kingma and Ba) over both parts of the policy."""

    def __init__(self, rate: float, like: Policy) -> None:
        self.rate, self.time = rate, 0
        self.mean = [np.zeros_like(part) for part in like]
        self.square = [np.zeros_like(part) for part in like]

    def step(self, policy: Policy, gradient: Policy) -> Policy:
        """One step down the gradient."""
        self.time += 1
        moved = []
        for place, (part, grad) in enumerate(zip(policy, gradient, strict=True)):
            self.mean[place] = 0.9 * self.mean[place] + 0.1 * grad
            self.square[place] = 0.999 * self.square[place] + 0.001 * grad**2
            mean = self.mean[place] / (1 - 0.9**self.time)
            square = self.square[place] / (1 - 0.999**self.time)
            moved.append(part - self.rate * mean / (np.sqrt(square) + 1e-8))
        return Policy(*moved)
