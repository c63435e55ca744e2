"""The pipeline: a batch of queries from codes to checked answers, in six steps.

offer       nearest training rows that meet the goal -> which columns, which values     stage 1
search      which of them to combine -> a pool of examples that reach the goal          stage 2
fine-tune   numbers moved back toward the query as far as they go                       stage 4
rank        few changes, near, plausible first
select      those to return: they differ in what they change                            stage 3
confirm     scored again by the caller's model; only what holds is kept

The first two are below, with how a batch is opened; the others are in `ranking`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from macex.ask.answers import SLIGHT, Goals, Verdict, compile_goals
from macex.ask.compilation import build_space
from macex.ask.units import unit_codes
from macex.engine.batch import Batch, BatchOf, Outcome, OutcomeT
from macex.engine.options import Preference
from macex.engine.ranking import confirm, fine_tune, nearest_first, rank, select
from macex.errors import OptionError
from macex.models.asker import Asker
from macex.models.judge import Judge
from macex.models.memory import Remembered
from macex.schema import Array
from macex.stages.arrays import counted, distinct
from macex.stages.candidates import Both, Domain, Near, led, remaining
from macex.stages.candidates import offer as offer_values
from macex.stages.draws import Draws, column_keys, row_keys
from macex.stages.relevance import WIDE, screened, telling, wide
from macex.stages.search.nearest_row import NearestRow
from macex.stages.search.protocol import MOST_ROWS, NEAREST_ROW, Search
from macex.stages.search.reduction import stripped
from macex.stages.selection import STABLE, shortlist
from macex.stages.shapes import Candidates, Found, Pool, Prefer, Task
from macex.stages.spread import spread
from macex.stages.thresholds import Thresholds

if TYPE_CHECKING:
    from macex.ask.answers import Answers
    from macex.ask.space import Space
    from macex.ask.units import Unit
    from macex.engine.fitted import Fitted


REMEMBERED_FROM = 32  # queries: fewer ask about few rows twice
SEARCHED: dict[Preference, Prefer] = {"balanced": "fewest", "plausible": "fewest"}
"""Preferences that want stable answers, and what their searches are after."""
PLAUSIBLE_AMONG = 5  # sets of changes among which a plausible answer is sought


Steps = tuple[Callable[[Outcome], Outcome], ...]


def answer(fitted: Fitted, batch: Batch) -> Outcome:
    """From rows to checked answers; the paper prints selection before fine-tuning."""
    steps: Steps = (offer, search, fine_tune, rank, select, confirm)
    if fitted.options.selection.printed:
        steps = (offer, search, nearest_first, rank, select, fine_tune, rank, select, confirm)
    outcome = open_batch(fitted, batch)
    for step in steps:
        outcome = step(outcome)
    return outcome


def run(outcome: OutcomeT, steps: Sequence[Callable[[OutcomeT], OutcomeT]]) -> OutcomeT:
    """What is known of a batch after some steps more."""
    for step in steps:
        outcome = step(outcome)
    return outcome


def remembering(fitted: Fitted, batch: Batch) -> Batch:
    """The same, with room for what the model says: its blocks ask about no row twice."""
    if len(batch.rows) < REMEMBERED_FROM:
        return batch
    return replace(batch, remembered=Remembered.of(len(batch.rows), fitted.outlook.width))


def open_batch(fitted: Fitted, batch: Batch) -> Outcome:
    """Score the queries themselves and lay out what may change in each."""
    asker = Asker(
        fitted.oracle if batch.question.margin else fitted.oracle.by_predict,  # for even scores
        fitted.ground.schema,
        batch.rows,
        deadline=batch.deadline,
        keep=batch.question.keeps,
        places=batch.places,
        remembered=batch.remembered if len(batch.rows) >= REMEMBERED_FROM else None,
    )
    keeping, caused = fitted.binding, fitted.caused
    space = build_space(fitted.ground, batch.rows, batch.constraints, keeping, caused)
    own, verdict, goals = _own(batch, asker)
    judge = Judge(asker, goals, space, _limits(batch, fitted), batch.question.max_rows is not None)
    every = np.arange(len(batch))
    judge.count(every)
    there = verdict.reached & space.holds(space.own, every)
    task = _task(fitted, batch, space.closed(there | np.isneginf(verdict.progress)), judge, verdict)
    return Outcome.begin(
        fitted, batch, task, judge, goals=goals, own=own, verdict=verdict, there=there
    )


def _own(batch: Batch, asker: Asker) -> tuple[Answers, Verdict, Goals]:
    """The model's answers for the queries themselves, and what they mean for the goals."""
    at = np.arange(len(batch.rows))
    own, done = asker.trusted(batch.rows.codes, at)
    goals = compile_goals(batch.goals, own, asker.oracle.outlook, batch.question.margin)
    verdict = goals.judge(own, at)
    progress = np.where(done, verdict.progress, -np.inf)
    return own, Verdict(verdict.reached & done, verdict.score, progress), goals


def _limits(batch: Batch, fitted: Fitted) -> Array:
    """How many rows each query may cost, all but those of the final check."""
    most = fitted.options.method.max_rows
    most += 0 if fitted.grid is None else fitted.grid.rows
    if batch.question.max_rows is None:
        return np.full(len(batch.rows), most)
    left = batch.question.max_rows - batch.set_aside - batch.spent
    return np.maximum(1, np.broadcast_to(left, len(batch.rows)))


def _task(fitted: Fitted, batch: Batch, space: Space, judge: Judge, verdict: Verdict) -> Task:
    prefer = fitted.options.prefer
    count = batch.question.n
    return Task(
        space=space,
        judge=judge,
        measure=measure_of(fitted, space),
        drawn=partial(_draws, fitted, space),
        base=np.where(np.isfinite(verdict.progress), verdict.progress, 0.0),
        bounded=judge.bounded,
        count=max(count, PLAUSIBLE_AMONG) if prefer == "plausible" else count,
        prefer=SEARCHED.get(prefer) or cast("Prefer", prefer),
        rest=partial(remaining, space),
        grid=fitted.grid,
        band=band_of(batch, judge) if prefer in SEARCHED else None,
        plausible=prefer == "plausible",
        additive=not callable(fitted.options.distance) and not space.implied,
    )


def _draws(fitted: Fitted, space: Space) -> Draws:
    """The random numbers of a batch, which only some searches ask for."""
    keys = row_keys(fitted.options.random_state, fitted.ground.schema.names, space.own)
    return Draws(keys, column_keys([unit.name for unit in space.units]))


def band_of(batch: BatchOf[Any, Any], judge: Judge) -> Array | None:
    """The progress from which on answers are stable; none where the caller says how much it is."""
    return np.where(judge.bounded, STABLE, -np.inf) if 0 < batch.question.margin <= SLIGHT else None


def measure_of(fitted: Fitted, space: Space) -> Callable[[Array, Array], Array]:
    """How far rows of codes are from the queries they are made from."""
    custom = fitted.options.distance
    weights = np.where(space.follows, 0.0, space.bounds.weights)
    columns = space.set_columns if space.caused else space.columns  # what follows costs nothing
    even = bool((weights == 1.0).all())

    def built_in(codes: Array, at: Array) -> Array:
        after = columns(codes, at)
        return fitted.scales.total(space.own.take(at, axis=0), after, 1.0 if even else weights[at])

    def given(codes: Array, at: Array) -> Array:
        schema, rows = fitted.ground.schema, space.rows
        before = schema.frame(space.own[at], rows, at)
        after = schema.frame(columns(codes, at), rows, at)
        try:
            steps: Array = np.asarray(custom(before, after)).astype(float)  # type: ignore[operator]
        except Exception as fault:
            raise OptionError(f"the distance function raised {fault!r}") from fault
        return _read_distance(steps, weights[at])

    if callable(custom):
        return given
    return _of_units(fitted, space) if space.identity and even else built_in


def _of_units(fitted: Fitted, space: Space) -> Callable[[Array, Array], Array]:
    """The distance where every unit is a column: rows are compared as they are."""
    scales = fitted.scales.in_order(tuple(unit.members[0] for unit in space.units))
    return lambda codes, at: scales.total(space.queries.take(at, axis=0), codes)


def _read_distance(steps: Array, weights: Array) -> Array:
    if not np.isfinite(steps).all():
        raise OptionError("the distance function returned a number that is not finite")
    if steps.shape == weights.shape:
        total: Array = (steps * weights).sum(axis=1)
        return total
    if steps.shape == weights.shape[:1] and (weights == weights[:, :1]).all():
        return steps
    raise OptionError(
        f"the distance function returned shape {steps.shape} for {len(weights)} rows: "
        "(rows, columns) was expected, or (rows,) where no column has a weight of its own"
    )


def offer(outcome: Outcome) -> Outcome:
    """Stage 1: the nearest training rows that meet each goal, whose values searches combine."""
    task = outcome.task
    return replace(outcome, near=outcome.fitted.near(task.space, outcome.goals, _open(task)))


def search(outcome: Outcome) -> Outcome:
    """Stage 2: a pool of examples, by the search that was asked for or those that follow it."""
    task, options, near = outcome.task, outcome.fitted.options, outcome.near
    if near is None:
        return outcome
    open_, found, answered_by = _open(task), outcome.found, outcome.method.copy()
    kept_back = _kept_back(outcome) if options.fallback and task.judge.capped else 0
    outcome.judge.allow(-kept_back)
    for turn, method in enumerate(options.chain):
        asked = open_ & ~task.judge.finished
        if not asked.any() and (turn or task.judge.late):
            break
        if turn:
            task.judge.renew(asked, MOST_ROWS)
        part = replace(task, space=task.space.closed(~asked))
        tried = method(part, _candidates(outcome.fitted, method, part, near))
        if not method.proves and not options.selection.printed:
            tried = replace(tried, pool=_frugal(part, tried.pool))
        found = _joined(found, tried) if turn else tried
        answered = np.zeros(len(open_), bool)
        answered[tried.pool.at] = True
        answered &= open_
        answered_by[answered] = method.name
        open_ &= ~answered & ~_hopeless(task, found)
    outcome.judge.allow(kept_back)
    if task.judge.capped:
        found = replace(found, pool=_shorter(task, found.pool))
    if options.fallback and open_.any():
        pool = _last_resort(task, near, open_ & ~task.judge.finished, found)
        answered_by[pool.at] = NEAREST_ROW
        found = replace(found, pool=Pool.join([found.pool, pool], task.space.width))
    pool = found.pool.take(distinct(found.pool.at, found.pool.codes))
    return replace(outcome, found=found, method=answered_by, pool=pool)


def _shorter(task: Task, pool: Pool) -> Pool:
    """The pool, with the best example of every query without changes it can do without."""
    best = shortlist(task, pool, sets=task.count, each=1)
    long = counted(task.space.changed(pool.codes[best], pool.at[best])) > 2
    if not long.any():
        return pool
    return Pool.join([pool, stripped(task, pool.take(best[long]))], task.space.width)


def _last_resort(task: Task, near: Near, open_: Array, found: Found) -> Pool:
    """Training rows laid over the queries (Q,) bool that no search has an answer for."""
    if not open_.any():
        return Pool.empty(task.space.width)
    task.judge.renew(open_, MOST_ROWS)
    part = replace(task, space=task.space.closed(~open_))
    gain = np.zeros(task.queries.shape)
    if len(found.candidates.unit):
        units, entry = found.candidates.best(found.weight)
        gain[:, units] = np.take_along_axis(found.weight, entry, axis=1)
    return NearestRow()(part, near.values, near.real & open_[:, None], gain)


def _open(task: Task) -> Array:
    """The queries that may change and can still be asked about, (Q,) bool."""
    changeable: Array = np.asarray(task.space.changeable.any(axis=1))
    return changeable & ~task.judge.finished


def _candidates(fitted: Fitted, search: Search, task: Task, near: Near) -> Candidates:
    """Stage 1. The policy searches learn over fewer values than the exhaustive one tries."""
    choice = fitted.options.candidates
    if isinstance(choice, Thresholds):
        if task.grid is not None and search.proves:
            return task.grid.offer(task.space)
        choice = Both()
    if search.offered == "few":
        choice = Both().domain if choice == Domain() else choice
        choice = choice.for_policy if isinstance(choice, Both) else choice
    space = task.space
    if search.offered == "all" and isinstance(choice, Both):
        space = _narrowed(fitted, task, near, choice.domain)
    found = offer_values(choice, space, near, search.max_rows)
    if search.offered != "all" or not isinstance(choice, Both):
        return found
    dear = task.judge.dear(found.real.sum(axis=1))
    return led(space, near, found, dear) if dear.any() else found


def screens(fitted: Fitted) -> bool:
    """Whether queries keep only the columns that matter, because there are so many changes."""
    choice, columns = fitted.options.candidates, fitted.ground.schema.columns
    if fitted.options.method.offered != "all" or not isinstance(choice, Both):
        return False
    if len(columns) * (1 + 2 * choice.domain.beside) <= WIDE:
        return False
    return bool(choice.domain.singles(columns, len(columns)).sum() > WIDE)


def _narrowed(fitted: Fitted, task: Task, near: Near, domain: Domain) -> Space:
    """The space, of which queries with very many single changes keep the units that matter."""
    space = task.space
    if space.width * (1 + 2 * domain.beside) <= WIDE:
        return space
    counts = np.maximum(1, space.changeable.sum(axis=1))
    singles = {count: domain.singles(space.units, count) for count in np.unique(counts).tolist()}
    wide_ = wide(space, np.stack([singles[count] for count in counts.tolist()]))
    if task.judge.capped or not wide_.any():  # too few rows to look first
        return space
    ends = spread(Domain(categories=2, quantiles=2), space, wide_)
    nearest, told = near.values[:, 0], _telling(fitted, space.units)
    kept = screened(task, ends, nearest, near.real[:, 0], told, wide_)
    return replace(space, changeable=kept, reason=space.reason & (kept | ~wide_[:, None]))


def _telling(fitted: Fitted, units: tuple[Unit, ...]) -> Array:
    """How much each unit tells of the model's scores in training, (U,); kept."""
    if fitted.ground.private:
        return np.zeros(len(units))
    key = tuple(unit.members for unit in units)
    if key not in fitted.ground.telling:
        values = fitted.binned.take([unit.members[0] for unit in units], axis=1).astype(int)
        for place in [at for at, unit in enumerate(units) if unit.joint]:
            values[:, place] = unit_codes((units[place],), fitted.ground.codes)[:, 0]
        fitted.ground.telling[key] = telling(values, fitted.answers.scores)
    return fitted.ground.telling[key]


def _frugal(task: Task, pool: Pool) -> Pool:
    """The nearest examples that a policy found, without changes that they do not need."""
    return stripped(task, pool.take(shortlist(task, pool, sets=task.count + 5, each=3)))


def _kept_back(outcome: Outcome) -> Array:
    """The rows that each query keeps for the last resort, (Q,), if the caller set its limit.

    They pay for a few neighbors and for taking back most of what the nearest of them changes.
    """
    return np.minimum(NearestRow().few + 3 * outcome.task.space.width, outcome.judge.limit // 4)


def _hopeless(task: Task, found: Found) -> Array:
    """Queries that provably have no answer over seen values."""
    most = task.max_changes
    if found.candidates.whole is not None:  # a unit that nothing is offered for cannot help
        most = np.minimum(most, [found.reachable(query) for query in range(len(most))])
    over: Array = np.asarray(found.proved >= most)
    return over


def _joined(first: Found, then: Found) -> Found:
    """What an earlier search proved, with the examples of a later one."""
    pool = Pool.join([first.pool, then.pool], then.pool.codes.shape[1])
    return replace(first, pool=pool)
