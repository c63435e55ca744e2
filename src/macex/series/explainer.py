"""The explainer for time series: a model and its training cases, ready to be asked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from macex.ask.question import Question
from macex.audit import Audit
from macex.engine.engine import ExplainerOf
from macex.engine.facts import facts_about
from macex.engine.options import PREFERENCES, check_classes
from macex.render.names import Name, check_names, read_names
from macex.schema import Array
from macex.series.cases import channel_names, question, read_cases
from macex.series.constraints import SeriesConstraints, read_constraints
from macex.series.engine import SeriesEngine
from macex.series.fitted import FittedSeries, fit
from macex.series.frames import framed, is_frame
from macex.series.options import read_options
from macex.series.outcome import CaseBatch
from macex.series.records import SeriesRecorder, fingerprint
from macex.series.storage import save
from macex.series.times import read_times
from macex.series.values import SeriesExplanation, SeriesExplanations
from macex.stages.search.protocol import DEFAULT_SEARCH
from macex.version import __version__


class SeriesExplainer(ExplainerOf[SeriesEngine, SeriesExplanations]):
    """Answers which channels of a case, and which part of them, would change the model's answer.

    Parameters
    ----------
    model : has `predict_proba` or `predict`, or is a function of cases that returns scores. It is
        called with arrays in the layout of `X`, or with lists of arrays if `X` is a list.
    X : the cases the model was trained on: an array (cases, channels, time), or a list of arrays
        (channels, time) of unequal lengths; or a frame: nested (a cell holds the values of a
        channel), long, wide, or with an index or columns of case and time; or a list of frames of
        one case each. The model is called with arrays.
    channels : the names of the channels.
    layout : `"channels_first"`, or `"channels_last"` for (cases, time, channels). If it is not
        said, it is the first, and cases that look turned round are questioned by a warning.
    constraints : what may change, for every call; see `SeriesConstraints`.
    candidates : a `NearCases` object: how many neighbours, and how they are sought.
    method : `"exhaustive"`, `"reinforce"`, `"gradientless"`, or a stage object.
    selection : `"diverse"`, `"printed"` (Algorithm 3 to the letter), or a `Selection`.
    finetune : `"segments"`, a `Segments` object, or None to take whole channels.
    prefer : `"balanced"` or `"fewest"`, which are the same here: the fewest channels; the
        `"nearest"` sample; or the `"surest"` (highest score).
    fallback : whether other searches are tried where one finds nothing.
    classes : names of the model's outputs where it does not say them itself.
    audit : a file to which every explanation is recorded, or an `Audit` that names the files of
        model and data, too; see `replay`.
    times : a label for every time point: numbers, dates or text. Frames bring theirs.
    time_unit : the unit of times.
    names : how channels are called in front of people, and their units:
        `{"hr": Name("heart rate", unit="bpm")}`.
    random_state : the seed; the same seed, case and question give the same answer, always.

    Examples
    --------
    >>> import numpy as np
    >>> level = np.arange(20.0)[:, None, None] + np.zeros((20, 2, 30))
    >>> model = lambda cases: (cases[:, 1].max(axis=1) > 9.5).astype(float)
    >>> explainer = SeriesExplainer(model, level, classes=("low", "high"))
    >>> change = explainer.explain(level[5:6])[0].counterfactuals[0].changes[0]
    >>> change.channel, change.stop - change.start, float(change.after.max())
    ('channel 1', 30, 10.0)
    """

    def __init__(
        self,
        model: Any,
        X: Any,
        *,
        channels: Sequence[str] | None = None,
        layout: str | None = None,
        constraints: SeriesConstraints | Mapping[str, Any] | None = None,
        candidates: Any = "neighbors",
        method: Any = DEFAULT_SEARCH,
        selection: Any = "diverse",
        finetune: Any = "segments",
        prefer: str = PREFERENCES[0],
        fallback: bool = True,
        classes: Sequence[object] | None = None,
        audit: Audit | str | Path | None = None,
        random_state: int = 0,
        times: Any = None,
        time_unit: str = "",
        names: Mapping[str, str | Name] | None = None,
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
        if is_frame(X):
            X = framed(X)
            channels = (X.channels or None) if channels is None else channels
            if times is None and X.times is not None:
                times, time_unit = X.times, time_unit or X.unit
        train = read_cases(X, "channels_first" if layout is None else layout)
        channel = channel_names(channels, train.width, train.longest)
        given = read_constraints(constraints, channel)
        if layout is None:
            question(train)
        fitted = fit(model, train, channel, classes, options)
        fitted.times = read_times(times, time_unit, train.longest)
        fitted.called = read_names(names)
        check_names(fitted.called, channel, "channel")
        engine = SeriesEngine(fitted, SeriesConstraints())
        self.engine = replace(engine, constraints=engine.checked(given))
        self.recorder = None if audit is None else SeriesRecorder(audit, self.engine)

    @property
    def fitted(self) -> FittedSeries:
        """What was learnt from the training cases."""
        return self.engine.fitted

    @property
    def constraints(self) -> SeriesConstraints:
        """What may change, for every call."""
        return self.engine.constraints

    @property
    def channels(self) -> list[str]:
        """The names of the channels."""
        return list(self.fitted.names)

    @property
    def classes(self) -> tuple[object, ...] | None:
        """The labels the model decides between; None for a bare score."""
        return self.engine.outlook.classes

    @property
    def method(self) -> str:
        """The name of the search."""
        return self.engine.options.method.name

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
        robust: float | None = None,
        also: Iterable[Any] = (),
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
        robust : the least share of an answer's 32 neighbors that must reach the goal, too; 0 to
            measure it only. A neighbor has noise of 2 % of each channel's spread on every value.
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
            also=also,
        )
        return self.ask(X, question, progress)

    def _explanations(self, items: list[SeriesExplanation], batch: CaseBatch) -> SeriesExplanations:
        """The explanations of a batch as one result, which can tell what was asked."""
        options = self.engine.options
        meta = {
            "version": __version__,
            "method": self.method,
            "prefer": options.prefer,
            "seed": options.random_state,
            "n": batch.question.n,
        }
        found = SeriesExplanations(items, self.fitted.called, meta, self.fitted.names)
        asked = batch.question
        facts = partial(facts_about, self.engine, asked.want, asked.constraints, fingerprint)
        return found.told_by(facts)

    def score(self, X: Any, want: Any = None) -> Array:
        """The model's score for every case, read toward a goal as in explanations.

        With `want=None` that is toward any decision but the case's own.
        """
        return self.engine.score(X, want)

    def save(self, path: Any) -> None:
        """Write everything but the model to one file; `macex.load(path, model)` reads it."""
        save(self.engine, path)

    def __repr__(self) -> str:
        fitted = self.fitted
        what = "a score" if self.classes is None else f"classes {', '.join(map(str, self.classes))}"
        train = f"{len(self.channels)} channels, {len(fitted.train)} training cases"
        return f"SeriesExplainer({train}, {what}, method={self.method!r})"
