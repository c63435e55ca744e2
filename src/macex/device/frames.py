"""Rows in, explanations out: an explainer whose search runs on a device.

The device proposes one counterfactual for each row, and with `prefer="balanced"` a stable one, too.
Everything else is as in the explainer: reading rows, the model's own decision, plausibility,
intervals, and the final check by the caller's model. Rows that the device cannot read or finds no
answer for are searched as usual.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from macex.ask.units import unit_codes
from macex.device.arrays import on_host
from macex.device.explainer import DeviceExplainer, readable
from macex.device.proposals import Borrowed, Proposals, Proposer, lent
from macex.device.torch_scores import TorchScores
from macex.device.tree_scores import TreeScores
from macex.device.verdicts import Score
from macex.engine.batch import Batch, Outcome
from macex.engine.engine import Engine
from macex.engine.fitted import Fitted
from macex.engine.pipeline import answer, offer, open_batch, run, search
from macex.engine.ranking import confirm, fine_tune, rank, select
from macex.errors import OptionError
from macex.explainer import Explainer
from macex.models.kinds.networks import Network
from macex.schema import Array
from macex.stages.arrays import distinct
from macex.stages.shapes import Pool

LEAD = 0.4  # of the wanted class where an answer is stable: 0.7 against 0.3


def on_device(explainer: Explainer, device: str | None = None) -> Explainer:
    """The same explainer with its search on a device: `"cpu"`, `"cuda"` or `"cuda:1"` for torch.

    The model is a `Network` of a torch module, or a classifier of trees that `TreeScores` knows,
    alone or behind the first step of a pipeline. One counterfactual for each row is found. The cost
    of an answer counts the rows that the caller's own model was asked about, and no single actions
    are listed.
    """
    there = Twins.on(explainer.engine, device)
    there.twin(explainer.constraints, 1e-6)  # what it cannot do is said now
    search = DeviceSearch(explainer.engine, there)
    return Explainer.of(replace(explainer.engine, answer=search), explainer.recorder)


@dataclass
class Twins:
    """The explainers on a device of an engine, which propose counterfactuals.

    A copy in another process is made again on its device, or asks this one while it is lent.
    """

    engine: Engine
    score: Score
    device: str | None
    _last: tuple[Any, dict[float, DeviceExplainer]] | None = None
    _borrowed: Borrowed | None = None

    @classmethod
    def on(cls, engine: Engine, device: str | None) -> Twins:
        """Those of an engine's own model."""
        return cls(engine, _scores_of(Explainer.of(engine), device), device)

    def __reduce__(self) -> Any:
        """What travels to a worker: a way to ask this process, or the engine."""
        if self._borrowed is not None:
            return self._borrowed.__reduce__()
        return Twins.on, (self.engine, self.device)

    @property
    def shared(self) -> bool:
        """Whether workers ask this process; on the host each may as well search for itself."""
        return str(getattr(self.score, "device", "cpu")) != "cpu"

    @contextmanager
    def lent(self) -> Iterator[None]:
        """While it lasts copies in other processes ask this one."""
        try:
            with lent(self) as self._borrowed:
                yield
        finally:
            self._borrowed = None

    def twin(self, constraints: Any, margin: float) -> DeviceExplainer:
        """The explainer for some constraints and a margin; those last used are kept."""
        last = self._last
        if last is None or last[0] != constraints:
            last = self._last = constraints, {}
        twins = last[1]
        if margin not in twins:
            twins[margin] = DeviceExplainer(
                Explainer.of(self.engine),
                self.score,
                device=self.device,
                constraints=constraints,
                margin=margin,
                confirm=False,
            )
        return twins[margin]

    def __call__(
        self, codes: Array, goals: Sequence[Any], constraints: Any, margin: float
    ) -> Proposals:
        """A counterfactual for each row of codes (n, d), for its goal."""
        found = self.twin(constraints, margin).explain(codes, goals)
        return Proposals(*map(on_host, (found.codes, found.found, found.changed)))


def _scores_of(explainer: Explainer, device: str | None) -> Score:
    """The explainer's own model as a function of codes."""
    ask = explainer.engine.fitted.oracle.ask
    model = getattr(ask, "__self__", ask)
    if not isinstance(model, Network):
        return TreeScores(explainer, device=device, compiled=False)
    module = model.module
    if device is not None and hasattr(module, "to"):
        module = copy.deepcopy(module).to(device)
    return TorchScores(explainer, module, model.prepare, logits=model.logits)


@dataclass
class DeviceSearch:
    """The pipeline of an engine, with the search on a device."""

    engine: Engine
    propose: Proposer

    @property
    def lent(self) -> Callable[[], AbstractContextManager[None]] | None:
        """What lets workers ask this process for the search; None where each has its own."""
        there = self.propose
        return there.lent if isinstance(there, Twins) and there.shared else None

    def __call__(self, fitted: Fitted, batch: Batch) -> Outcome:
        """From rows to checked answers."""
        if fitted.options.prefer != self.engine.options.prefer:  # a second try for robust answers
            return answer(fitted, batch)
        n = batch.question.n
        if n > 1:
            raise OptionError(f"on a device each row gets one counterfactual, not n={n}")
        if batch.question.max_rows is not None:
            raise OptionError("max_rows= is not known on a device: ask explainer.explain")
        if any(one != batch.constraints[0] for one in batch.constraints):
            raise OptionError("on a device all rows of a call have the same constraints")
        return run(open_batch(fitted, batch), (self._search, rank, select, confirm))

    def _search(self, outcome: Outcome) -> Outcome:
        """Examples from the device; where it has none, from the search of the explainer."""
        task, judge = outcome.task, outcome.judge
        open_ = np.asarray(task.space.changeable.any(axis=1)) & ~judge.finished
        columns, codes = outcome.fitted.ground.schema.columns, outcome.batch.rows.codes
        at = np.flatnonzero(open_ & readable(columns, codes))
        pool = self._examples(outcome, at) if len(at) and not judge.late else outcome.pool
        done = np.zeros(len(open_), bool)
        done[pool.at] = True
        rest = replace(outcome, task=replace(task, space=task.space.closed(done)))
        if (open_ & ~done).any():
            rest = run(rest, (offer, search, fine_tune))
        method = np.where(done, "device", rest.method).astype(object)
        both = Pool.join([pool, rest.pool], task.space.width)
        return replace(rest, task=task, method=method, pool=both)

    def _examples(self, outcome: Outcome, at: Array) -> Pool:
        batch, space = outcome.batch, outcome.task.space
        goals, pools = [batch.goals[query] for query in at], []
        balanced = outcome.task.band is not None
        for margin in (batch.question.margin, LEAD) if balanced else (batch.question.margin,):
            made = self.propose(batch.rows.codes[at], goals, batch.constraints[0], margin)
            kept = np.flatnonzero(made.found & (made.changed > 0))
            codes = unit_codes(space.units, made.codes[kept])
            pools.append(Pool(at[kept], codes, np.zeros(len(kept))))
        pool = Pool.join(pools, space.width)
        pool = pool.take(space.allows(pool.codes, pool.at))  # a device knows no structure
        if not balanced:
            return pool
        pool = pool.take(distinct(pool.at, pool.codes))
        verdict = outcome.judge(pool.codes, pool.at)
        kept = np.flatnonzero(verdict.reached)
        return Pool(pool.at[kept], pool.codes[kept], verdict.progress[kept])
