"""The explainer for time series: a model and its training cases, ready to be asked."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from macex.ask.compiling import check as check_constraints
from macex.ask.goals import AboveRow, Goal, resolve
from macex.ask.question import Question
from macex.engine.blocks import Tempo
from macex.engine.diagnosis import diagnosed
from macex.engine.options import check_classes
from macex.engine.progress import Progress, reporter, silent
from macex.errors import ConstraintError, GoalError, ModelError
from macex.series.assemble import assemble, unreached
from macex.series.cases import channel_names, read_cases
from macex.series.constraints import SeriesConstraints, read_constraints
from macex.series.fitted import Fitted, fit
from macex.series.options import read_options
from macex.series.pipeline import CaseBatch, answer
from macex.series.values import SeriesExplanation, SeriesExplanations
from macex.version import __version__

BLOCK_CELLS = 4_000_000
MOST_CASES = 256


class SeriesExplainer:
    """Answers which channels of a case, and which part of them, would change the model's answer.

    Parameters
    ----------
    model : has `predict_proba` or `predict`, or is a function of cases that returns scores. It is
        called with arrays in the layout of `X`, or with lists of arrays if `X` is a list.
    X : the cases the model was trained on: an array (cases, channels, time), or a list of arrays
        (channels, time) of unequal lengths.
    channels : the names of the channels.
    layout : `"channels_first"`, or `"channels_last"` for (cases, time, channels).
    constraints : what may change, for every call; see `SeriesConstraints`.
    candidates : a `NearCases` object: how many neighbours, and how they are sought.
    method : `"exhaustive"`, `"reinforce"`, `"gradientless"`, or a stage object.
    selection : `"diverse"`, `"printed"` (Algorithm 3 to the letter), or a `Selection`.
    finetune : `"segments"`, a `Segments` object, or None to take whole channels.
    prefer : `"fewest"` channels, the `"nearest"` sample, or the `"surest"` (highest score).
    fallback : whether other searches are tried where one finds nothing.
    classes : names of the model's outputs where it does not say them itself.
    random_state : the seed; the same seed, case and question give the same answer, always.

    Examples
    --------
    >>> import numpy as np
    >>> level = np.arange(20.0)[:, None, None] + np.zeros((20, 2, 30))
    >>> model = lambda cases: (cases[:, 1].max(axis=1) > 9.5).astype(float)
    >>> explainer = SeriesExplainer(model, level, classes=("low", "high"))
    >>> change = explainer.explain(level[5:6])[0].counterfactuals[0].changes[0]
    >>> change.channel, change.stop - change.start, float(change.after.max())
    ('channel 1', 1, 9.53125)
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        *,
        channels: Sequence[str] | None = None,
        layout: str = "channels_first",
        constraints: SeriesConstraints | Mapping[str, Any] | None = None,
        candidates: Any = "neighbors",
        method: Any = "exhaustive",
        selection: Any = "diverse",
        finetune: Any = "segments",
        prefer: str = "fewest",
        fallback: bool = True,
        classes: Sequence[object] | None = None,
        random_state: int = 0,
    ) -> None:
        options = read_options(
            candidates=candidates,
            method=method,
            selection=selection,
            finetune=finetune,
            prefer=prefer,
            fallback=fallback,
            random_state=random_state,
        )
        check_classes(classes)
        train = read_cases(X, layout)
        names = channel_names(channels, train.width)
        given = read_constraints(constraints, names)
        self.fitted: Fitted = fit(model, train, names, classes, options)
        self.constraints = self._checked(given)

    @property
    def channels(self) -> list[str]:
        """The names of the channels."""
        return list(self.fitted.names)

    @property
    def classes(self) -> tuple[object, ...] | None:
        """The labels the model decides between; None for a bare score."""
        return self.fitted.outlook.classes

    def explain(
        self,
        X: Any,
        *,
        n: int = 1,
        want: Any = None,
        constraints: Any = None,
        max_rows: int | None = None,
        timeout_s: float | None = None,
        margin: float = 1e-6,
        diagnose: bool = False,
        on_error: str = "raise",
        progress: Any = None,
    ) -> SeriesExplanations:
        """Counterfactuals for every case.

        Parameters
        ----------
        X : the cases to explain, in the layout of the training cases.
        n : how many counterfactuals to give each case.
        want : None for any other class; a label; a goal such as `below(0.5)`; or one per case.
        constraints : further constraints for this call, or one per case.
        max_rows : the most samples the model may score for a case.
        timeout_s : the most seconds the call may take.
        margin : by how much the wanted class must lead.
        diagnose : say of cases without an answer which constraint, if dropped, would give one.
        on_error : `"raise"`, or `"keep"` to give a case the model fails on a reason instead.
        progress : True for a progress bar, or a function of (done, total).
        """
        question = Question(
            n=n,
            want=want,
            constraints=constraints,
            max_rows=max_rows,
            timeout_s=timeout_s,
            margin=margin,
            diagnose=diagnose,
            on_error=on_error,
        )
        return self.ask(X, question, progress)

    def ask(self, X: Any, question: Question, progress: Any = None) -> SeriesExplanations:
        """`explain`, with its arguments in one value."""
        batch = self.batch(X, question)
        with reporter(progress, len(batch)) as report:
            try:
                items = self._explained(batch, report)
            except ModelError as error:
                error.partial = self._explanations(error.partial or [], batch)
                raise
        if question.diagnose:
            items = diagnosed(batch, items, self._explained)
        return self._explanations(items, batch)

    def _explanations(self, items: list[SeriesExplanation], batch: CaseBatch) -> SeriesExplanations:
        options = self.fitted.options
        meta = {
            "version": __version__,
            "method": options.method_name,
            "prefer": options.prefer,
            "seed": options.random_state,
            "n": batch.count,
        }
        return SeriesExplanations(items, meta=meta, rows=self.fitted.names)

    def batch(self, X: Any, question: Question) -> CaseBatch:
        """Cases as a caller gives them, read and ready to be answered."""
        deadline, train = question.deadline, self.fitted.train
        cases = read_cases(X, train.layout, train)
        return CaseBatch(
            rows=cases,
            goals=_goals(question.want, len(cases)),
            constraints=self._wished(question.constraints, len(cases)),
            question=question,
            deadline=deadline,
        )

    def _explained(self, batch: CaseBatch, report: Progress = silent) -> list[SeriesExplanation]:
        done: dict[int, SeriesExplanation] = {}
        tempo = None if batch.deadline is None else Tempo()
        for places, part in self._blocks(batch, tempo):
            try:
                made = self._block(part, tempo)
            except ModelError as error:
                whole = next(place for place in range(len(batch)) if place not in done)
                error.partial = [done[place] for place in range(whole)]
                raise
            done.update(zip(places, made, strict=True))
            report(len(done))
        return [done[place] for place in range(len(batch))]

    def _block(self, batch: CaseBatch, tempo: Tempo | None) -> list[SeriesExplanation]:
        """The explanations of one block; those that the time does not suffice for say so."""
        if tempo is not None and batch.late:
            tempo.most = MOST_CASES
            return unreached(self.fitted, batch)
        began = time.perf_counter()
        answered = answer(self.fitted, batch)
        made = assemble(self.fitted, answered, time.perf_counter() - began)
        if tempo is not None:
            asking = answered.outcome.judge.asker.cost.seconds
            tempo.after(len(batch), time.perf_counter() - began - asking)
        return made

    def _blocks(
        self, batch: CaseBatch, tempo: Tempo | None
    ) -> Iterator[tuple[list[int], CaseBatch]]:
        """Cases that move the same groups together, few enough for their arrays to stay small."""
        width, near = len(self.fitted.names), self.fitted.neighbors
        most = max(1, min(MOST_CASES, BLOCK_CELLS // (width * width * near)))
        alike: dict[Any, list[int]] = {}
        for place, one in enumerate(batch.constraints):
            alike.setdefault(one.groups, []).append(place)
        for places in alike.values():
            start = 0
            while start < len(places):
                size = most if tempo is None else min(most, tempo.most)
                part = places[start : start + size]
                yield part, batch.take(np.array(part))
                start += size

    def _wished(self, given: Any, count: int) -> list[SeriesConstraints]:
        """The constraints of every case: the explainer's and the call's."""
        if given is None or isinstance(given, (SeriesConstraints, Mapping)):
            return [self._merged(given)] * count
        if isinstance(given, str) or not isinstance(given, Sequence):
            raise ConstraintError(
                f"constraints= takes SeriesConstraints or one per case, not {given!r}"
            )
        if len(given) != count:
            raise ConstraintError(
                f"constraints= has {len(given)} entries for {count} cases: give one per case"
            )
        return [self._merged(one) for one in given]

    def _merged(self, given: Any) -> SeriesConstraints:
        if given is None:
            return self.constraints
        return self._checked(self.constraints.merge(read_constraints(given, self.fitted.names)))

    def _checked(self, constraints: SeriesConstraints) -> SeriesConstraints:
        check_constraints(constraints.of_channels(), self.fitted.ground)
        last = self.fitted.train.longest
        for stretches in constraints.fixed_times.values():
            for start, stop in stretches:
                if stop > last:
                    raise ConstraintError(
                        f"the fixed stretch ({start}, {stop}) ends after the last of {last} time "
                        "points"
                    )
        return constraints

    def __repr__(self) -> str:
        fitted = self.fitted
        what = "a score" if self.classes is None else f"classes {', '.join(map(str, self.classes))}"
        train = f"{len(self.channels)} channels, {len(fitted.train)} training cases"
        return f"SeriesExplainer({train}, {what}, method={fitted.options.method_name!r})"


def _goals(want: Any, count: int) -> list[Goal]:
    goals = resolve(want, count)
    if any(isinstance(goal, AboveRow) for goal in goals):
        raise GoalError("above_row(...) is for tables; ask for a score with mx.above(...)")
    return goals
