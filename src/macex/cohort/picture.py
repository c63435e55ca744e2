"""The picture at large: what changes how often, and rules that say what helps whom.

A small tree divides the rows by what their answers change. For every part of it the best common
action is looked for and counted with the model, so that a rule says how many of the rows it is
about it really flips.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from macex.cohort.explanations import explained as explanations_of
from macex.cohort.plan_sheet import action_text
from macex.cohort.plans import PlannedAction, PlanOptions, planned
from macex.cohort.population import Crowd, advising, crowd
from macex.cohort.tree import RuleTest, divided
from macex.engine.batch import Progress, silent
from macex.errors import require_count
from macex.explanation.summary import Summary, summarise
from macex.render.names import Names
from macex.render.overview import typical_texts
from macex.render.sheets import Finding, Grid, Sheet, percent, several
from macex.render.speech import Speech
from macex.schema import Array

if TYPE_CHECKING:
    from macex.engine.engine import Engine
    from macex.explanation import Explanation


@dataclass(frozen=True)
class PictureRule:
    """Rows that meet all conditions, the action that flips most of them, and how many it flips.

    `coverage` is the share of all rows the rule is about, `error` the share of those that the
    action does not flip.
    """

    conditions: tuple[RuleTest, ...]
    action: PlannedAction | None
    rows: int
    coverage: float
    error: float


@dataclass(frozen=True, repr=False)
class Picture(Finding):
    """What the answers of many rows have in common: `summary` counts changes, `rules` say whom.

    `rows` have an answer that changes something, of `explained` that were looked at, of all that
    were `given`.
    """

    rows: int
    explained: int
    given: int
    summary: Summary
    rules: tuple[PictureRule, ...]
    names: Names = field(default_factory=dict)

    def to_frame(self) -> pd.DataFrame:
        """One line per rule."""
        speech = Speech(self.names)
        lines = [
            (_who(rule, speech), _what(rule, speech), rule.rows, rule.coverage, rule.error)
            for rule in self.rules
        ]
        return pd.DataFrame(lines, columns=["rows with", "action", "rows", "coverage", "error"])

    def sheet(self) -> Sheet:
        """The changes and the rules as tables."""
        looked = f"Looked at {self.explained} of {self.given} rows."
        said = (looked,) * (self.explained < self.given)
        if not self.rows:
            return Sheet("No row has an answer that changes anything", remarks=said)
        title = f"What helps {several(self.rows, 'row')}"
        return Sheet(title, (), (self._changes(), self._rules()), said)

    def _changes(self) -> Grid:
        speech, total = Speech(self.names), max(1, self.summary.counterfactuals)
        lines = tuple(
            (
                speech.name(entry.column),
                f"{entry.times} ({percent(entry.times / total)})",
                "; ".join(typical_texts(entry, speech)),
                *self._shap(entry.column, speech),
            )
            for entry in self.summary.typical
        )
        heads = ("column", "changed", "typical change", *(["|SHAP|"] * bool(self.summary.shap)))
        bars = tuple(min(1.0, entry.times / total) for entry in self.summary.typical)
        return Grid("What the answers change", heads, lines, bars)

    def _shap(self, column: str, speech: Speech) -> list[str]:
        if not self.summary.shap:
            return []
        return [speech.number(self.summary.shap.get(column, 0.0))]

    def _rules(self) -> Grid:
        speech = Speech(self.names)
        lines = tuple(
            (
                f"{_who(rule, speech)}: {_what(rule, speech)}",
                percent(1 - rule.error),
                f"{rule.rows} ({percent(rule.coverage)})",
            )
            for rule in self.rules
        )
        return Grid(
            "One action for each part",
            ("rows with", "flips", "rows"),
            lines,
            tuple(1 - rule.error for rule in self.rules),
            "flips: the share of these rows that the action flips, counted with the model; the "
            "rest is the rule's error.",
        )


def _who(rule: PictureRule, speech: Speech) -> str:
    """The conditions in words."""
    said = []
    for c in rule.conditions:
        name = speech.name(c.column)
        if c.over is not None:
            said.append(f"{name} over {speech.value(c.column, c.over)}")
        elif c.up_to is not None:
            said.append(f"{name} up to {speech.value(c.column, c.up_to)}")
        elif c.is_not is not None:
            said.append(f"{name} not {speech.value(c.column, c.is_not)}")
        else:
            said.append(f"{name} {speech.value(c.column, c.value)}")
    return ", ".join(said) or "any values"


def _what(rule: PictureRule, speech: Speech) -> str:
    return "no common action" if rule.action is None else action_text(rule.action, speech)


@advising()
def picture(
    engine: Engine,
    rows: Any,
    *,
    want: Any = None,
    constraints: Any = None,
    parts: int = 6,
    max_changes: int = 1,
    explained: int = 2000,
    shap: Any = None,
    report: Progress = silent,
) -> Picture:
    """What the answers of many rows have in common; see `Explainer.picture`.

    `report` is told how many rows are explained.
    """
    require_count("parts", parts)
    require_count("max_changes", max_changes)
    require_count("explained", explained)
    everyone = crowd(engine, rows, want, constraints)
    sample, names = everyone.spaced(int(explained)), everyone.fitted.options.names
    found = explanations_of(sample, report=report)
    needy = np.array([i for i, item in enumerate(found) if _changes(item)], dtype=int)
    summary = summarise([found[int(at)] for at in needy], names, shap)
    if not len(needy):
        return Picture(0, len(sample), len(everyone), summary, (), names)
    part = sample.take(needy)
    target = [_signature(found[int(at)]) for at in needy]
    rules = [
        _rule(part, conditions, places, int(max_changes))
        for conditions, places in divided(part.rows, target, max(1, min(int(parts), len(target))))
    ]
    ordered = sorted(rules, key=lambda rule: -rule.rows * (1 - rule.error))
    return Picture(len(needy), len(sample), len(everyone), summary, tuple(ordered), names)


def _changes(item: Explanation) -> bool:
    return bool(item.counterfactuals) and bool(item.counterfactuals[0].changes)


def _signature(item: Explanation) -> str:
    """What the first answer changes, as a class for the tree: columns, with their new values."""
    columns = {column.name: column for column in item.source.rows.schema.columns}
    return ", ".join(
        f"{c.column} {c.after}" if columns[c.column].discrete else c.column
        for c in item.counterfactuals[0].changes
    )


def _rule(
    everyone: Crowd, conditions: tuple[RuleTest, ...], places: Array, max_changes: int
) -> PictureRule:
    plan = planned(everyone.take(places), PlanOptions(1, max_changes))
    share = len(places) / len(everyone)
    action = plan.actions[0] if plan.actions else None
    return PictureRule(conditions, action, len(places), share, 1 - plan.flipped / len(places))
