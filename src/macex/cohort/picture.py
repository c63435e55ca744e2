"""The picture at large: what changes how often, and rules that say what helps whom.

A small tree divides the rows by what their answers change. For every part of it the best common
action is looked for and counted with the model, so that a rule says how many of the rows it is
about it really flips.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import floor
from typing import Any

import numpy as np
import pandas as pd

from macex.cohort.plan_sheet import action_text
from macex.cohort.plans import PlannedAction, PlanOptions, planned
from macex.cohort.population import Crowd, advising, crowd
from macex.cohort.population import explained as explanations_of
from macex.engine.batch import Progress, silent
from macex.engine.engine import Engine
from macex.errors import require_count
from macex.explanation import Explanation
from macex.explanation.summary import Summary, summarise
from macex.render.names import Names
from macex.render.overview import typical_texts
from macex.render.sheets import Finding, Grid, Sheet, percent, several
from macex.render.speech import Speech
from macex.schema import Array, Column, Rows, special

Test = tuple[Column, float | None]  # a number, or whether a category has this code

FREQUENT = 12  # values of a category that the tree may ask for
LEAST = 0.02  # of the rows, in every part


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

    `report` gets the number of rows explained so far.
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


@dataclass(frozen=True)
class RuleTest:
    """One test of a rule: a number `over` or `up_to` a bound, or a value that is or `is_not`."""

    column: str
    over: Any = None
    up_to: Any = None
    value: Any = None
    is_not: Any = None


def divided(rows: Rows, target: list[str], most: int) -> list[tuple[tuple[RuleTest, ...], Array]]:
    """Parts whose rows have mostly one target: their conditions, and their positions."""
    if most == 1:
        return [((), np.arange(len(target)))]
    from sklearn.tree import DecisionTreeClassifier

    table, tests = _features(rows)
    least = max(1, int(LEAST * len(target)))
    tree = DecisionTreeClassifier(max_leaf_nodes=most, min_samples_leaf=least, random_state=0)
    leaf = tree.fit(table, target).apply(table)
    ways = _ways(tree.tree_, tests)
    return [(_merged(ways[node]), np.flatnonzero(leaf == node)) for node in np.unique(leaf)]


def _features(rows: Rows) -> tuple[Array, list[Test]]:
    """What the tree may ask: numbers as they are, and for categories each frequent value."""
    parts: list[Array] = []
    tests: list[Test] = []
    for place, column in enumerate(rows.schema.columns):
        codes = rows.codes[:, place]
        if column.kind != "categorical":
            parts.append(np.where(special(codes), column.low - 1, codes))
            tests.append((column, None))
            continue
        for code in column.seen[np.argsort(-column.counts, kind="stable")[:FREQUENT]].tolist():
            parts.append((codes == code).astype(float))
            tests.append((column, code))
    return np.column_stack(parts), tests


def _ways(tree: Any, tests: list[Test]) -> dict[int, tuple[RuleTest, ...]]:
    """For every node the conditions from the root down."""
    ways: dict[int, tuple[RuleTest, ...]] = {0: ()}
    for node in range(tree.node_count):
        left, right = int(tree.children_left[node]), int(tree.children_right[node])
        if left == right:
            continue
        column, code = tests[tree.feature[node]]
        bound = float(tree.threshold[node])
        ways[left] = (*ways[node], _condition(column, code, bound, up=False))
        ways[right] = (*ways[node], _condition(column, code, bound, up=True))
    return ways


def _condition(column: Column, code: float | None, bound: float, *, up: bool) -> RuleTest:
    if code is not None:
        value = column.value(code)
        return RuleTest(column.name, value=value) if up else RuleTest(column.name, is_not=value)
    whole = column.integer or column.discrete
    value = column.value(max(float(floor(bound)), column.low) if whole else bound)
    return RuleTest(column.name, over=value) if up else RuleTest(column.name, up_to=value)


def _merged(way: tuple[RuleTest, ...]) -> tuple[RuleTest, ...]:
    """Only the last, tightest, of the conditions that bound one column from one side."""
    kept: dict[tuple[Any, ...], RuleTest] = {}
    for c in way:
        side = (c.column, c.over is not None, c.up_to is not None, c.value, c.is_not)
        kept.pop(side, None)
        kept[side] = c
    named = {c.column for c in kept.values() if c.value is not None}
    return tuple(c for c in kept.values() if c.is_not is None or c.column not in named)
