"""The explainer: a model and its training rows, ready to be asked."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from macex.ask.compiling import check as check_constraints
from macex.ask.constraints import Constraints
from macex.ask.goals import AboveRow, Band, Goal, compile_goals, resolve
from macex.audit import Audit
from macex.errors import ConstraintError, GoalError, ModelError, OptionError
from macex.explainer.assemble import assemble
from macex.explainer.blocks import blocks, part_of
from macex.explainer.call import check_call, deadline_after
from macex.explainer.fitted import Fitted, fit
from macex.explainer.options import read_options
from macex.explainer.pipeline import Asked, Outcome, answer, remembering
from macex.explainer.populations import Populations
from macex.explainer.progress import Progress, reporter
from macex.explainer.recording import Recorder
from macex.explainer.repeats import answered_once
from macex.explainer.retrying import retried
from macex.explainer.sturdy import sturdiness
from macex.explanation import Explanation, Explanations
from macex.models.asking import Asker
from macex.render.names import Name
from macex.schema import Array, Rows, Schema
from macex.version import __version__


class Explainer(Populations):
    """Answers what the least is that would have to be different for the model to decide otherwise.

    Parameters
    ----------
    model : has `predict_proba` or `predict`, or is a function of a frame that returns scores.
    data : the rows the model was trained on, without the label: a pandas or polars frame or a
        2-D array. The model is called with frames of exactly these columns, order and dtypes.
    schema : corrections to what is inferred, e.g. `{"pclass": "categorical"}`.
    constraints : what may change, for every call; see `Constraints`.
    candidates : `"both"`, `"neighbors"`, `"domain"`, `"thresholds"` (exact answers for trees), or
        a stage object.
    method : `"exhaustive"`, `"reinforce"`, `"gradientless"`, or a stage object.
    selection : `"diverse"`, `"printed"` (Algorithm 3 to the letter), or a `Selection`.
    finetune : `"section"`, `"gradientless"` (Algorithm 4), a stage object, or None for no stage 4.
    prefer : `"fewest"` changes, the `"nearest"` row, or the `"surest"` (highest score).
    distance : `"median"` (the paper's scale), `"mad"`, `"percentile"`, or a function of two frames.
    fallback : whether other searches are tried where one finds nothing.
    classes : names of the model's outputs where it does not say them itself.
    names : how columns are called in front of people, `{"hours_per_week": "hours per week"}`; with
        a unit or a format for the values, `{"income": Name("income", format="{:,.0f} €")}`.
    audit : a file to which every explanation is recorded, or an `Audit` that names the files of
        model and data, too; see `replay`.
    sample : the most training rows to keep; labels and categories that are rare are kept.
    random_state : the seed; the same seed, row and question give the same answer, always.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
    >>> explainer = Explainer(model, data, classes=("no", "yes"))
    >>> explainer.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 45)
    """

    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        candidates: Any = "both",
        method: Any = "exhaustive",
        selection: Any = "diverse",
        finetune: Any = "section",
        prefer: str = "fewest",
        distance: str | Callable[[Any, Any], Any] = "median",
        fallback: bool = True,
        classes: Sequence[object] | None = None,
        names: Mapping[str, str | Name] | None = None,
        audit: Audit | str | Path | None = None,
        sample: int | None = None,
        random_state: int = 0,
    ) -> None:
        options = read_options(
            candidates=candidates,
            method=method,
            selection=selection,
            finetune=finetune,
            prefer=prefer,
            distance=distance,
            fallback=fallback,
            random_state=random_state,
            names=names,
            sample=sample,
        )
        check_classes(classes)
        self.schema = Schema.infer(data, schema)
        self.constraints = _constraints(constraints)
        self._fitted: Fitted = fit(model, self.schema.read(data), self.schema, classes, options)
        check_constraints(self.constraints, self._fitted.ground)
        self._recorder = None if audit is None else Recorder(audit, self)

    @property
    def columns(self) -> list[str]:
        """The names of the columns that rows need; `schema.names` are those that may change."""
        return list(self.schema.frame_names)

    @property
    def classes(self) -> tuple[object, ...] | None:
        """The labels the model decides between; None for a bare score."""
        return self._fitted.outlook.classes

    @property
    def method(self) -> str:
        """The name of the search."""
        return self._fitted.options.method_name

    @property
    def neighbors_recall(self) -> float | None:
        """The measured share of nearest rows that an index finds; None where all are compared."""
        return getattr(self._fitted.approximate, "recall", None)

    def explain(
        self,
        rows: Any,
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
        robust: float | None = None,
        also: Iterable[Any] = (),
    ) -> Explanations:
        """Counterfactuals for every row.

        Parameters
        ----------
        rows : a frame or array of rows to explain, or one row as a mapping or Series.
        n : how many counterfactuals to give each row.
        want : None for any other class; a label; a goal such as `at_least(0.7)`; or one per row.
        constraints : further constraints for this call, or one per row.
        max_rows : the most rows the model may score for a query.
        timeout_s : the most seconds the call may take.
        margin : by how much the wanted class must lead.
        diagnose : say of rows without an answer which constraint, if dropped, would give one.
        on_error : `"raise"`, or `"keep"` to give a row the model fails on a reason instead.
        progress : True for a progress bar, or a function of (done, total).
        robust : the least share of an answer's 32 neighbours that must reach the goal, too; 0 to
            measure it only.
        also : other models, e.g. refits, that must agree with every answer.
        """
        check_call(n, max_rows, timeout_s, margin, on_error, diagnose=diagnose)
        read = self.schema.read(rows)
        wished = self._wished(constraints, len(read))
        asked = Asked(
            rows=read,
            goals=self._goals(want, len(read)),
            constraints=wished,
            count=int(n),
            margin=float(margin),
            max_rows=None if max_rows is None else int(max_rows),
            deadline=deadline_after(timeout_s),
            keep=on_error == "keep",
            sturdy=sturdiness(self._fitted, robust, also),
        )
        record = None if self._recorder is None else self._recorder.of(asked, diagnose=diagnose)
        with reporter(progress, len(read)) as report:
            items = self._explained(asked, report)
        if diagnose:
            items = self._diagnosed(asked, items)
        if record is not None:
            record(items)
        return self._explanations(items, asked)

    def _explained(self, asked: Asked, report: Progress) -> list[Explanation]:
        """Equal questions are answered once."""
        return answered_once(asked, lambda part: self._by_block(part, report), report)

    def _by_block(self, asked: Asked, report: Progress) -> list[Explanation]:
        """Block by block, so that memory stays flat at any number of rows."""
        done: dict[int, Explanation] = {}
        asked = remembering(self._fitted, asked)
        for places, part in blocks(asked, len(self.schema.columns), self._fitted.singles):
            began = time.perf_counter()
            try:
                outcome = self._answered(part)
            except ModelError as error:
                whole = next(place for place in range(len(asked.rows)) if place not in done)
                error.partial = self._explanations([done[place] for place in range(whole)], asked)
                raise
            made = assemble(self._fitted, outcome, time.perf_counter() - began)
            if outcome.checked.fragile.any():
                made = retried(self._fitted, part, outcome.checked.fragile, made)
            done.update(zip(places.tolist(), made, strict=True))
            report(len(done))
        return [done[place] for place in range(len(asked.rows))]

    def _answered(self, asked: Asked) -> Outcome:
        """The batch answered, as arrays."""
        return answer(self._fitted, asked)

    def _diagnosed(self, asked: Asked, items: list[Explanation]) -> list[Explanation]:
        """Name, for rows without an answer, each single constraint that stands in the way."""
        relief: dict[int, list[str]] = {
            i: []
            for i, item in enumerate(items)
            if item.status != "found" and np.isfinite(item.score)
        }
        cut = dict.fromkeys(relief, False)
        tests: dict[tuple[int, str], dict[int, Constraints]] = {}
        for place in relief:
            for turn, (text, without) in enumerate(asked.constraints[place].parts()):
                tests.setdefault((turn, text), {})[place] = without
        for (_, text), relaxed in tests.items():
            places = np.array(list(relaxed))
            trial = replace(part_of(asked, places), constraints=list(relaxed.values()), count=1)
            for place, item in zip(
                places.tolist(), self._explained(trial, lambda _: None), strict=True
            ):
                if item.status == "found":
                    relief[place].append(text)
                cut[place] |= item.status == "budget"
        return [
            replace(
                item,
                diagnosis=tuple(relief[i]),
                reason=with_relief(item.reason, relief[i], cut=cut[i]),
            )
            if i in relief
            else item
            for i, item in enumerate(items)
        ]

    def _explanations(self, items: list[Explanation], asked: Asked) -> Explanations:
        options = self._fitted.options
        meta = {
            "version": __version__,
            "method": self.method,
            "prefer": options.prefer,
            "seed": options.random_state,
            "n": asked.count,
        }
        return Explanations(items, options.names, meta, asked.rows, self._planner(asked))

    def _wished(self, given: Any, count: int) -> list[Constraints]:
        """The constraints of every row: the explainer's and the call's."""
        if given is None or isinstance(given, (Constraints, Mapping)):
            merged = self._merged(given)
            return [merged] * count
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise ConstraintError(f"constraints= takes Constraints or one per row, not {given!r}")
        per_row = list(given)
        if len(per_row) != count:
            raise ConstraintError(
                f"constraints= has {len(per_row)} entries for {count} rows: give one per row"
            )
        merged_by_value: dict[int, Constraints] = {}
        for one in per_row:
            if id(one) not in merged_by_value:
                merged_by_value[id(one)] = self._merged(one)
        return [merged_by_value[id(one)] for one in per_row]

    def _merged(self, given: Any) -> Constraints:
        if given is None:
            return self.constraints
        merged = self.constraints.merge(_constraints(given))
        check_constraints(merged, self._fitted.ground)
        return merged

    def _goals(self, want: Any, count: int) -> list[Goal]:
        goals = resolve(want, count)
        if isinstance(want, AboveRow):
            return [self._above(want)] * count
        return [self._above(goal) if isinstance(goal, AboveRow) else goal for goal in goals]

    def _above(self, goal: AboveRow) -> Goal:
        row: Rows = self.schema.read(goal.row)
        if len(row) != 1:
            raise GoalError(f"above_row() takes one row, not {len(row)}")
        answers, _ = Asker(self._fitted.oracle, self.schema, row)(row.codes, np.zeros(1, int))
        outlook = self._fitted.outlook
        score = outlook.rounded(answers.scores[0, outlook.output(goal.label)])
        return Band(low=float(score), open_low=True, label=goal.label)

    def score(self, rows: Any, want: Any = None) -> Array:
        """The model's score for every row, read toward a goal as in explanations.

        With `want=None` that is toward any decision but the row's own.
        """
        read = self.schema.read(rows)
        at = np.arange(len(read))
        answers, _ = Asker(self._fitted.oracle, self.schema, read)(read.codes, at)
        goals = compile_goals(self._goals(want, len(read)), answers, self._fitted.outlook, 1e-6)
        return goals.judge(answers, at).score

    def save(self, path: Any, *, private: bool = False) -> None:
        """Write everything but the model to one file; `macex.load(path, model)` reads it.

        With `private` no training row is written, only how often each column has which value.
        Then plausibility, support and copies are not known, and groups cannot be used.
        """
        from macex.explainer.saving import save

        save(self, path, private=private)

    def __repr__(self) -> str:
        what = "a score" if self.classes is None else f"classes {', '.join(map(str, self.classes))}"
        rows = f"{len(self.columns)} columns, {len(self._fitted.ground.codes)} training rows"
        near = f", {self._fitted.approximate.text}" if self._fitted.approximate else ""
        return f"Explainer({rows}, {what}, method={self.method!r}{near})"

    def _repr_html_(self) -> str:
        from macex.render.html import facts_fragment

        options, classes = self._fitted.options, self.classes
        facts = {
            "decides": "a score" if classes is None else ", ".join(map(str, classes)),
            "learned from": f"{len(self._fitted.ground.codes):,} rows",
            "columns": ", ".join(self.columns),
            "constraints": "; ".join(text for text, _ in self.constraints.parts()) or "none",
            "search": options.method_name,
            "neighbours": getattr(self._fitted.approximate, "text", "all rows compared"),
            "prefers": options.prefer,
        }
        return facts_fragment("Explainer", facts)


def check_classes(classes: Any) -> None:
    """Raise unless the classes are distinct names, or None."""
    if classes is None:
        return
    if isinstance(classes, str) or not isinstance(classes, Iterable):
        raise OptionError(f"classes names the model's outputs in order, not {classes!r}")
    names = list(classes)
    if len(set(map(repr, names))) < len(names) or not names:
        raise OptionError(f"classes must be distinct names, one for each output, not {names!r}")


def _constraints(given: Any) -> Constraints:
    if given is None:
        return Constraints()
    if isinstance(given, Constraints):
        return given
    if isinstance(given, Mapping):
        return Constraints.from_dict(given)
    raise ConstraintError(f"constraints= takes Constraints(...), not {type(given).__name__}")


def with_relief(reason: str | None, relief: list[str], *, cut: bool) -> str:
    """A reason for no answer, and the constraints that stand in the way."""
    said = reason or ""
    if not relief and cut:
        return f"{said} Rows or time ran out before every constraint could be tried without."
    if not relief:
        return f"{said} No single constraint, if dropped, would give an answer."
    return f"{said} Dropping one of these would give an answer: {'; '.join(relief)}."
