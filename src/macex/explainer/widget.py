"""A what-if of a notebook: fields, locks, the score as they move, and answers to apply.

The only file that imports anywidget.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from anywidget import AnyWidget
from traitlets import Dict, Int, List, Unicode, observe, validate

from macex.ask.constraints import Constraints
from macex.ask.goals import Band
from macex.ask.question import read_constraints
from macex.errors import MacexError, ModelError, OptionError
from macex.explainer.curves import curve_chart, curves
from macex.explainer.explainer import Explainer
from macex.explainer.variants import (
    Aim,
    Variant,
    all_said,
    caused,
    judgements,
    variant,
    whose,
)
from macex.explanation import Explanations
from macex.render.fields import TOGETHER, fields, found_values, grouped
from macex.render.html import (
    batch_fragment,
    style_sheet,
    widget_answers,
    widget_form,
    widget_verdicts,
)
from macex.render.speech import Speech
from macex.schema.text import text_of

HELD = 256  # lines of curves that are not asked for again


class WhatIfWidget(AnyWidget):
    """A row to be changed, with what the model makes of it.

    `typed` holds the values that were filled in, as text by column, and `locked` the columns that
    answers may not change. Both can be set, too. `row` is the row as it is filled in, and `found`
    its answers: those of the row as it was given, since what is filled in is an attempt at one.

    >>> import numpy as np, pandas as pd
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
    >>> widget = Explainer(model, data, classes=("no", "yes")).widget(data.iloc[[20]])
    >>> widget.typed = {"hours": 51}
    >>> widget.row["hours"].item(), widget.found[0].counterfactuals[0].changes[0].after
    (51, 46)
    """

    _esm = Path(__file__).with_name("widget.js")
    form = Unicode().tag(sync=True)
    typed = Dict().tag(sync=True, echo_update=False)
    locked: List[str] = List().tag(sync=True, echo_update=False)
    curve = Unicode().tag(sync=True, echo_update=False)
    sought = Dict().tag(sync=True, echo_update=False)
    asked = Int().tag(sync=True, echo_update=False)
    told = Int().tag(sync=True)
    verdicts = Unicode().tag(sync=True)
    answers = Unicode().tag(sync=True)
    applied: List[dict[str, str]] = List().tag(sync=True)
    drawn = Dict({"column": "", "html": ""}).tag(sync=True)
    offered = Dict({"column": "", "texts": []}).tag(sync=True)

    def __init__(self, explainer: Explainer, row: Any, n: int, want: Any, constraints: Any) -> None:
        """A widget for one row of an explainer."""
        rows = explainer.schema.read(row)
        if len(rows) != 1:
            raise OptionError(f"a widget takes one row, not {len(rows)}: give rows.iloc[[0]], say")
        self._explainer, self._rows, self._count, self._want = explainer, rows, n, want
        self._speech = Speech(explainer.engine.options.names)
        self._limits = read_constraints(constraints)
        self._held: dict[Hashable, Any] = {}
        self.found: Explanations = self._explained([])
        super().__init__()
        kept = [name for name in explainer.schema.names if self._keeps(name)]
        groups = grouped(fields(rows, self._speech))
        self.form = widget_form(groups, kept, TOGETHER, self._speech)
        self._judge()
        self._show(self.found, "")

    @property
    def _css(self) -> str:
        return style_sheet("widget.css.j2")

    @property
    def row(self) -> Any:
        """The row as it is filled in: one row, like the one that was given."""
        faults = self._variant.faults
        if faults:
            raise OptionError("; ".join(faults.values()))
        return self._rows.frame(np.array([0]), self._variant.codes[None])

    @validate("typed")
    def _as_typed(self, proposal: Mapping[str, Any]) -> dict[str, str]:
        """Values as they are typed; those that are the row's own are left out."""
        texts = {
            str(name): value if isinstance(value, str) else text_of(value)
            for name, value in proposal["value"].items()
        }
        own = {name: text_of(value) for name, value in self._rows.cells(0).items()}
        return {name: text for name, text in texts.items() if own.get(name) != text}

    @observe("typed")
    def _on_typed(self, _: Any) -> None:
        self._judge()

    @observe("curve")
    def _on_curve(self, _: Any) -> None:
        self._draw()

    @observe("locked")
    def _on_locked(self, _: Any) -> None:
        try:
            self.found, fault = self._explained(self.locked), ""
        except MacexError as error:
            fault = str(error)
        self._show(self.found, fault)

    @observe("sought")
    def _on_sought(self, _: Any) -> None:
        column = str(self.sought.get("column", ""))
        if column in self._rows.schema.names:
            known = self._rows.schema.columns[self._rows.schema.position(column)]
            if known.discrete:
                options = found_values(known, str(self.sought.get("text", "")), self._speech)
                self.offered = {"column": column, "texts": [one.text for one in options]}

    @observe("asked")
    def _on_asked(self, _: Any) -> None:
        """What came with a question was answered before: traits change in the order sent."""
        self.told = self.asked

    @cached_property
    def _goal(self) -> Any:
        """What is wanted; a model of scores has no other decision."""
        bare = self._want is None and self._explainer.classes is None
        return Band() if bare else self._want

    @property
    def _variant(self) -> Variant:
        return caused(self._explainer, self._rows, variant(self._rows, "a", self.typed))

    def _keeps(self, name: str) -> bool:
        """Whether the constraints in force keep a column as it is, whatever its lock."""
        always = self._explainer.constraints.merge(self._limits)
        return name in always.fixed or (always.only is not None and name not in always.only)

    def _explained(self, locked: list[str]) -> Explanations:
        limits = self._limits.merge(Constraints(fixed=tuple(locked)))
        row = self._rows.frame(np.array([0]), self._rows.codes[:1])
        return self._explainer.explain(row, n=self._count, want=self._want, constraints=limits)

    def _judge(self) -> None:
        """Ask for the score of what is filled in, and draw the curve that is open."""
        tried = self._variant
        try:
            said = all_said(self._explainer, self._rows, [tried], self._goal)
        except ModelError as error:
            self.verdicts = widget_verdicts({"fault": str(error)}, self._speech)
            return
        own, then = judgements(self._explainer, said, self._speech)
        aimed = not isinstance(self._goal, Band) or self._want is not None
        values = {"own": own, "then": then, "variant": tried, "aimed": aimed}
        values["follows"] = tried.told(self._speech)
        self.verdicts = widget_verdicts(values, self._speech)
        self._aim = Aim(self._recall, self._explainer, self._rows, said, self._speech)
        self._draw()

    def _draw(self) -> None:
        if not self.curve:
            self.drawn = {"column": "", "html": ""}
            return
        aim = self._aim
        try:
            found = curves(aim, self.curve, [self._variant.codes])
            of = whose(aim.said.goal, aim.said.enough, self._speech)
            html = curve_chart(found, ["a"], of, probable=aim.probable).svg()
        except MacexError as error:
            html = widget_verdicts({"fault": str(error)}, self._speech)
        self.drawn = {"column": self.curve, "html": html}

    def _show(self, found: Explanations, fault: str) -> None:
        shown = found[0].counterfactuals
        self.applied = [
            {name: text_of(value) for name, value in one.source.written().items()} for one in shown
        ]
        self.answers = widget_answers(None if fault else found[0], fault, self._speech)

    def _recall(self, key: Hashable, ask: Callable[[], Any]) -> Any:
        if key not in self._held:
            if len(self._held) >= HELD:
                self._held.clear()
            self._held[key] = ask()
        return self._held[key]

    # The two arguments are all that IPython hands on.
    def _repr_mimebundle_(  # type: ignore[override]
        self, include: Any = None, exclude: Any = None
    ) -> Any:
        """The widget, and the cards for readers of the notebook without a kernel."""
        made = super()._repr_mimebundle_(include=include, exclude=exclude)
        bundle = made[0] if isinstance(made, tuple) else made
        if bundle:
            bundle["text/html"] = batch_fragment(self.found, 1, self._speech.names)
        return made
