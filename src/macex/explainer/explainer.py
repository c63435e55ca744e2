"""The explainer: a model and its training rows, ready to answer questions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from macex.ask.constraints import Constraints
from macex.ask.question import Question, read_constraints
from macex.audit import Audit
from macex.causes import Causes
from macex.cohort.plans import common_actions
from macex.engine.batch import Batch
from macex.engine.box import Boxing
from macex.engine.engine import Engine, ExplainerOf
from macex.engine.facts import facts_about
from macex.engine.fitted import fit
from macex.engine.options import (
    MEASURES,
    PREFERENCES,
    STRUCTURES,
    check_classes,
    read_options,
)
from macex.engine.recorder import Recorder
from macex.errors import EXPLAIN, EXPLAINER, ON_EXPLAINER, OptionError, hinted, missing, needed
from macex.explainer.populations import Populations
from macex.explainer.storage import save
from macex.explainer.what_if import WhatIf, what_if
from macex.explanation import Counterfactual, Explanation, Explanations
from macex.explanation.steps import Steps
from macex.render.names import Name, check_names
from macex.schema import Array, Schema
from macex.schema.arrow_tables import frame_of
from macex.stages.search.protocol import DEFAULT_SEARCH
from macex.structure import Relation, Structure
from macex.version import __version__


class Explainer(ExplainerOf[Engine, Explanations], Populations):
    """Answers what the least is that would have to be different for the model to decide otherwise.

    Parameters
    ----------
    model : has `predict_proba` or `predict`, or is a function of a frame that returns scores.
    data : the rows the model was trained on, without the label: a pandas or polars frame, an Arrow
        table (of pyarrow or DuckDB, read as pandas), or a 2-D array. The model is
        called with frames of exactly these columns, order and dtypes.
    schema : corrections to what is inferred, e.g. `{"pclass": "categorical"}`.
    constraints : what may change, for every call; see `Constraints`.
    candidates : `"both"`, `"neighbors"`, `"domain"`, `"thresholds"` (exact answers for trees), or
        a stage object.
    method : `"exhaustive"`, `"reinforce"`, `"gradientless"`, or a stage object.
    selection : `"diverse"`, `"printed"` (Algorithm 3 to the letter), or a `Selection`.
    finetune : `"section"`, `"gradientless"` (Algorithm 4), a stage object, or None for no stage 4.
    prefer : `"balanced"` (the fewest changes, and among equally few plausible and stable answers
        before near ones); `"fewest"` (the fewest changes, then plausible, then near); the
        `"nearest"` row; `"plausible"` (as many changes as make it plausible); or the `"surest"`
        (highest score).
    distance : `"median"` (the paper's scale), `"mad"`, `"percentile"`, or a function of two frames.
    fallback : whether other searches are tried for rows for which one finds nothing.
    classes : names of the model's outputs if the model does not name them.
    names : display names of columns, `{"hours_per_week": "hours per week"}`; with
        a unit or a format for the values, `{"income": Name("income", format="{:,.0f} €")}`.
    audit : a file to which every explanation is recorded, or an `Audit` that names the files of
        model and data, too; see `replay`.
    sample : the most training rows to keep; labels and categories that are rare are kept.
    structure : how to treat relations between columns that training rows never break, see
        `explainer.structure`: `"keep"` them, `"warn"` if an answer breaks one, or `"ignore"` them;
        or a list of relations to keep.
    plausibility : `"learned"` (how real a row looks to trees that tell training rows from copies
        with swapped cells), or `"distance"` (how near it is to training rows).
    causes : what causes what: `Causes(...)`, or a graph. Answers are then interventions, and what
        follows from them is computed for each row; see `Causes`.
    random_state : the seed; the same seed, row and question give the same answer, always.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
    >>> explainer = Explainer(model, data, classes=("no", "yes"))
    >>> explainer.explain(data.iloc[[20]])[0].counterfactuals[0].changes[0][:3]
    ('hours', 40, 46)
    """

    @hinted(EXPLAINER)
    def __init__(
        self,
        model: Any,
        data: Any,
        *,
        schema: Any = None,
        constraints: Constraints | Mapping[str, Any] | None = None,
        candidates: Any = "both",
        method: Any = DEFAULT_SEARCH,
        selection: Any = "diverse",
        finetune: Any = "section",
        prefer: str = PREFERENCES[0],
        distance: str | Callable[[Any, Any], Any] = "median",
        fallback: bool = True,
        classes: Sequence[object] | None = None,
        names: Mapping[str, str | Name] | None = None,
        audit: Audit | str | Path | None = None,
        sample: int | None = None,
        random_state: int = 0,
        plausibility: str = MEASURES[0],
        structure: str | Iterable[Relation] = STRUCTURES[0],
        causes: Any = None,
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
            plausibility=plausibility,
            structure=structure if isinstance(structure, str) else "keep",
            causes=causes,
        )
        check_classes(classes)
        data = frame_of(data)
        known = Schema.infer(data, schema)
        check_names(options.names, [*known.names, *known.frame_names])
        given = read_constraints(constraints)
        relations = None if isinstance(structure, str) else Structure.from_list(structure)
        fitted = fit(model, known.read(data), known, classes, options, relations)
        _ = fitted.keeping and fitted.keeping.tests  # a relation that fits no column is an error
        self.engine = Engine(fitted, given)
        self.engine.check(given)
        self.recorder = None if audit is None else Recorder(audit, self.engine)

    @property
    def schema(self) -> Schema:
        """What a row is."""
        return self.engine.schema

    @property
    def constraints(self) -> Constraints:
        """What may change, for every call."""
        return self.engine.constraints

    @property
    def structure(self) -> Structure:
        """What holds between the columns of the training rows."""
        return self.engine.fitted.relations

    @property
    def causes(self) -> Causes | None:
        """What causes what, if that was stated."""
        return self.engine.options.causes

    @property
    def columns(self) -> list[str]:
        """The names of the columns that rows need; `schema.names` are those that may change."""
        return list(self.schema.frame_names)

    @property
    def unread(self) -> list[str]:
        """The columns that the first step of a pipeline drops; plausibility leaves them out."""
        return self.engine.fitted.oracle.unread(self.schema)

    @property
    def classes(self) -> tuple[object, ...] | None:
        """The labels the model decides between; None for a bare score."""
        return self.engine.classes

    @property
    def method(self) -> str:
        """The name of the search."""
        return self.engine.options.method.name

    @property
    def neighbors_recall(self) -> float | None:
        """The measured share of nearest rows that an index finds; None where all are compared."""
        return getattr(self.engine.fitted.approximate, "recall", None)

    @hinted(EXPLAIN)
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
        reach: float | None = None,
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
        reach : with causes, the least probability that the goal is met when somebody acts upon an
            answer: the share of 20 draws of what follows.
        also : other models, e.g. refits, that must agree with every answer.
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
            robust=robust,
            reach=reach,
            also=also,
        )
        return self.ask(rows, question, progress)

    def _explanations(self, items: list[Explanation], batch: Batch) -> Explanations:
        """The explanations of a batch as one result, which can tell what was asked."""
        options, asked = self.engine.options, batch.question
        meta = {
            "version": __version__,
            "method": self.method,
            "prefer": options.prefer,
            "seed": options.random_state,
            "n": asked.n,
            **({} if options.causes is None else {"causes": dict(options.causes.edges)}),
        }
        planner = partial(common_actions, self.engine, batch)
        facts = partial(facts_about, self.engine, asked.want, asked.constraints)
        return Explanations(items, options.names, meta, batch.rows, planner).told_by(facts)

    def score(self, rows: Any, want: Any = None) -> Array:
        """The model's score for every row, read toward a goal as in explanations.

        With `want=None` that is toward any decision but the row's own.
        """
        return self.engine.score(rows, want)

    def what_if(self, row: Any, values: Any = None, /, **columns: Any) -> WhatIf:
        """What the model says of a row, and of it with other values in some columns.

        Columns are named as arguments, or in a mapping where a name is not a Python name. Text
        is read as it would be typed. Other columns stay as they are.

        Examples
        --------
        >>> import numpy as np, pandas as pd
        >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
        >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
        >>> explainer = Explainer(model, data, classes=("no", "yes"))
        >>> explainer.what_if(data.iloc[[20]], hours=45).sheet().title
        'The model would decide yes instead of no'
        """
        given = {**({} if values is None else dict(values)), **columns}
        return what_if(self.engine, row, given)

    def widget(self, row: Any, *, n: int = 3, want: Any = None, constraints: Any = None) -> Any:
        """A what-if for a notebook: sliders, locks, the score as they move, and answers to apply.

        `row` is one row; the other arguments are those of `explain`. Needs
        `pip install macex[widget]`, and a notebook that shows widgets: Jupyter, VS Code, marimo.
        """
        widgets = needed("macex.explainer.widget", "widget")
        return widgets.WhatIfWidget(self, row, n, want, constraints)

    def steps(
        self, found: Counterfactual, costs: Mapping[str, Any] | None = None, *, dense: bool = False
    ) -> Steps:
        """In which order to make the changes of an answer, what follows, and what it takes.

        Every row on the way keeps the rules of the question, so one change can be the condition of
        another: `rules=["if job != old(job) then school >= 16"]`.

        Parameters
        ----------
        found : a counterfactual of this explainer.
        costs : what a change takes, by column: a number, a text such as `"2 years"`, or a function
            of the values before and after that gives one. They are added up by unit.
        dense : lead through rows that look usual, where numbers go in several steps, instead of
            toward the goal as soon as possible.
        """
        boxing = getattr(found, "boxing", None)
        if not isinstance(boxing, Boxing):
            raise OptionError(
                "steps takes a counterfactual of this explainer, such as "
                "explainer.explain(rows)[0].counterfactuals[0]; a nearest miss, and one that came "
                "from a server, a file or another process, has none: explain the row again"
            )
        return boxing.steps(found, costs, dense=dense)

    def show(self, rows: Any = None, *, port: int = 0, browser: bool = True) -> Any:
        """Open the page for this explainer, on this machine alone, until the process ends.

        It shows `rows`, or the training rows. Nothing is written or sent: the page asks the model
        in memory. Only the first visitor of its address is let in; `.close()` ends it. Needs
        `pip install macex[server]`.
        """
        showing = needed("macex.server.local_page", "server")  # it stands on explainers
        return showing.show(self, rows, port=port, browser=browser)

    def plausibility(self, rows: Any, label: object = None) -> Array:
        """How plausible rows are: the share of training rows that look no more real, or are as far.

        1 is typical, and a row under 0.05 is called unusual: at most 5 % of the training rows look
        stranger. With a `label`, rows are compared with those that the model gives this label.
        The answer is NaN where fewer than six training rows can be compared with.
        """
        return self.engine.plausibility(rows, label)

    def save(self, path: Any, *, private: bool = False) -> None:
        """Write everything but the model to one file; `macex.load(path, model)` reads it.

        With `private` no training row is written, only how often each column has which value.
        Plausibility comes from the learned trees, which hold thresholds and no rows.
        Support and copies are unknown then, and groups cannot be used.
        """
        save(self.engine, path, private=private)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            missing(self, name, ON_EXPLAINER)

    def __repr__(self) -> str:
        what = "a score" if self.classes is None else f"classes {', '.join(map(str, self.classes))}"
        columns = f"{len(self.columns)} columns"
        if self.unread:
            columns += f" ({', '.join(self.unread)} never read)"
        rows = f"{columns}, {len(self.engine.fitted.ground.codes)} training rows"
        near = f", {self.engine.fitted.approximate.text}" if self.engine.fitted.approximate else ""
        return f"Explainer({rows}, {what}, method={self.method!r}{near})"

    def _repr_html_(self) -> str:
        from macex.render.html import facts_fragment

        options, classes = self.engine.options, self.classes
        facts = {
            "decides": "a score" if classes is None else ", ".join(map(str, classes)),
            "learned from": f"{len(self.engine.fitted.ground.codes):,} rows",
            "columns": ", ".join(self.columns),
            **({"never read": ", ".join(self.unread)} if self.unread else {}),
            "constraints": "; ".join(text for text, _ in self.constraints.parts()) or "none",
            "search": options.method.name,
            "neighbours": getattr(self.engine.fitted.approximate, "text", "all rows compared"),
            "prefers": options.prefer,
            "structure": f"{len(self.structure)} relations, {options.structure}",
        }
        return facts_fragment("Explainer", facts)
