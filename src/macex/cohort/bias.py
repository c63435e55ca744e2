"""Bias: what protected columns do to decisions, to answers, and to the effort asked of groups.

1. The share of rows whose decision flips by a protected column alone, by group and direction.
2. How often protected columns are changed in counterfactuals, and stand among the strongest
   actions, when they are free.
3. What each group must change to reach the goal when they are fixed, and whether groups differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from macex.ask.constraints import Constraints
from macex.cohort.bias_sheet import bias_sheet, reading
from macex.cohort.effects import GroupFlips, PairFlips, Tried, effects_of
from macex.cohort.estimates import Estimate, share_of
from macex.cohort.explaining import explained as explanations_of
from macex.cohort.fairness import (
    Burden,
    Gap,
    GroupGap,
    burdens,
    differences,
    gaps,
    row_table,
    told,
)
from macex.cohort.groups import AND, Groups, groups_of, numbered, read_bands
from macex.cohort.pathways import Pathway, pathways, through_columns
from macex.cohort.population import Crowd, advising, crowd
from macex.errors import GoalError, OptionError, closest, require_count
from macex.render.names import Names
from macex.render.sheets import Finding, Sheet

if TYPE_CHECKING:
    from macex.engine.engine import Engine
    from macex.explanation import Action, Explanation

TOP = 3  # of the actions of a row, how many count as the strongest


@dataclass(frozen=True)
class Presence:
    """How often a protected column is changed in answers, and is among the strongest actions."""

    column: str
    changed: Estimate
    strongest: Estimate


@dataclass(frozen=True, repr=False)
class Bias(Finding):
    """What protected columns do; `reading()` says it in sentences.

    `flips` are the shares of all rows whose decision some other value of a column changes,
    `by_group` the same by present value and decision. `effects` are the shares of decisions that
    one other value changes, drawn as often as training has it, and can be compared between columns
    of few and of many values; `pairs` are the same from group to group. `tried` says how many of
    the values seen in training were tried; where they were not all, intervals reach as far as the
    others could take them. `free` says how often the columns are used when they may change,
    `burden` what groups must do when they may not, `gaps` the largest differences of that, and
    `differences` how likely each is by chance. `table` has a line for each row that was explained,
    with its groups and what became of it. `constant` are columns with one value in
    training: nothing can be said of them. With causes, `ways` say what the columns do through what
    follows from them, and by themselves.
    """

    rows: int
    explained: int
    flips: tuple[tuple[str, Estimate], ...]
    effects: tuple[tuple[str, Estimate], ...]
    by_group: tuple[GroupFlips, ...]
    pairs: tuple[PairFlips, ...]
    tried: tuple[Tried, ...]
    free: tuple[Presence, ...]
    burden: tuple[Burden, ...]
    gaps: tuple[Gap, ...]
    differences: tuple[GroupGap, ...]
    constant: tuple[str, ...]
    goal: str
    ways: tuple[Pathway, ...]
    table: pd.DataFrame = field(repr=False, compare=False)
    names: Names = field(default_factory=dict)

    def reading(self) -> list[str]:
        """The findings in plain sentences."""
        return reading(self)

    def sheet(self) -> Sheet:
        """The findings as tables."""
        return bias_sheet(self)

    def to_frame(self) -> pd.DataFrame:
        """One line per number: what it is of, its value, and its interval."""
        lines: list[tuple[Any, ...]] = [
            ("flips", column, None, None, None, *share) for column, share in self.flips
        ]
        lines += [("flips", g.column, g.group, None, g.before, *g.share) for g in self.by_group]
        lines += [("effect", column, None, None, None, *share) for column, share in self.effects]
        lines += [("effect", p.column, p.group, p.other, p.before, *p.share) for p in self.pairs]
        for way in self.ways:
            lines.append((f"{way.ways} ways", way.column, None, None, None, *way.one))
        for used in self.free:
            lines.append(("changed when free", used.column, None, None, None, *used.changed))
            lines.append(("strongest when free", used.column, None, None, None, *used.strongest))
        for b in self.burden:
            lines.append(("without recourse", b.column, b.group, None, None, *b.without))
            lines.append(("changes", b.column, b.group, None, None, *b.changes))
            lines.append(("distance", b.column, b.group, None, None, *b.distance))
            lines.append(("selection rate", b.column, b.group, None, None, *b.selected))
        heads = ["what", "column", "group", "as", "decided", "value", "low", "high", "rows"]
        return pd.DataFrame(lines, columns=heads)


@advising()
def bias(
    engine: Engine,
    rows: Any,
    *,
    protected: Sequence[str],
    want: Any = None,
    constraints: Any = None,
    by: Any = None,
    explained: int = 1000,
    bands: Any = None,
    max_values: int | None = None,
    through: Any = (),
) -> Bias:
    """What protected columns do to decisions; see `Explainer.bias`."""
    columns = _columns(engine, protected)
    require_count("explained", explained)
    if max_values is not None:
        require_count("max_values", max_values)
    allowed = through_columns(engine, columns, through)
    edges = read_bands(engine.schema, bands)
    if engine.classes is None:
        raise GoalError(
            "bias looks at decisions, and this model gives a score: name its classes with "
            "classes=(no, yes)"
        )
    everyone = crowd(engine, rows, want, constraints)
    _refuse_derived(columns, everyone)
    draw = np.random.default_rng(everyone.fitted.options.random_state)
    constant = tuple(c for c in columns if _constant(engine, c))
    varied = [column for column in columns if column not in constant]
    done = [
        effects_of(everyone, column, draw, edges=edges.get(column), most=max_values)
        for column in varied * bool(len(everyone))
    ]
    sample = everyone.spaced(int(explained))
    free, bound = _explanations(sample, varied)
    fates = told(bound, wanted=want is not None)
    groupings = _groupings(everyone, sample, varied, by, edges) if bound else []
    return Bias(
        rows=len(everyone),
        explained=int(fates.needy.sum()),
        flips=tuple((one.tried.column, one.some) for one in done),
        effects=tuple((one.tried.column, one.one) for one in done),
        by_group=tuple(line for one in done for line in one.by_group),
        pairs=tuple(line for one in done for line in one.pairs),
        tried=tuple(one.tried for one in done),
        free=tuple(_presence(column, free, draw) for column in varied if len(free)),
        burden=tuple(line for name, own in groupings for line in burdens(name, own, fates, draw)),
        gaps=tuple(line for name, own in groupings for line in gaps(name, own, fates)),
        differences=differences(groupings, fates, draw),
        constant=constant,
        goal=_common_goal(everyone) if want is not None else "",
        ways=pathways(everyone, varied, allowed, draw, max_values),
        table=row_table(sample.places if bound else np.zeros(0, int), groupings, fates),
        names=everyone.fitted.options.names,
    )


def _columns(engine: Engine, protected: Any) -> list[str]:
    if not isinstance(protected, Iterable):
        raise OptionError(f"protected takes names of columns, e.g. ['gender'], not {protected!r}")
    given = [protected] if isinstance(protected, str) else list(protected)
    if not given:
        raise OptionError("protected names no column: give at least one, e.g. ['gender']")
    known = engine.schema.names
    for name in given:
        if name not in known:
            raise OptionError(f"protected: there is no column {name!r}{closest(name, known)}")
    return list(dict.fromkeys(given))


def _refuse_derived(columns: list[str], everyone: Crowd) -> None:
    for one in everyone.distinct_constraints():
        for name in columns:
            if name in one.derived:
                raise OptionError(
                    f"protected: {name!r} is derived from other columns and never changes alone; "
                    "name the columns it is made of"
                )


def _common_goal(everyone: Crowd) -> str:
    """What all rows want, in words; nothing where they want different things."""
    texts = {goal.text for goal in everyone.goals}
    return texts.pop() if len(texts) == 1 else ""


def _constant(engine: Engine, name: str) -> bool:
    return len(engine.schema.columns[engine.schema.position(name)].seen) < 2


def _explanations(sample: Crowd, columns: list[str]) -> tuple[list[Explanation], list[Explanation]]:
    """Answers with the protected columns free, of rows that are not there yet, and fixed."""
    if not columns:
        return [], []
    fixed = Constraints(fixed=tuple(columns))
    free = sample.under(lambda given: _freed(given, columns))
    bound = free.under(lambda given: given.merge(fixed))
    return _needy(explanations_of(free)), explanations_of(bound)


def _groupings(
    everyone: Crowd, sample: Crowd, columns: list[str], by: Any, edges: Any
) -> list[tuple[str, Groups]]:
    """The groups of the rows that are explained: by each protected column, and by what is said."""
    found = [(column, groups_of(sample.rows, column, edges)) for column in columns]
    if by is None:
        return found
    several = isinstance(by, (list, tuple)) and len(by) != len(everyone)
    name = by if isinstance(by, str) else AND.join(map(str, by)) if several else "group"
    if name in columns:
        return found
    every = numbered(groups_of(everyone.rows, by, edges), len(everyone))
    labels = list(groups_of(everyone.rows, by, edges))
    mine = {label: np.flatnonzero(every[sample.places] == at) for at, label in enumerate(labels)}
    return [*found, (name, {label: places for label, places in mine.items() if len(places)})]


def _freed(given: Constraints, columns: list[str]) -> Constraints:
    """Constraints that let these columns change."""
    only = None if given.only is None else (*given.only, *columns)
    return replace(
        given,
        fixed=tuple(c for c in given.fixed if c not in columns),
        protected=tuple(c for c in given.protected if c not in columns),
        only=None if only is None else tuple(dict.fromkeys(only)),
    )


def _needy(found: list[Explanation]) -> list[Explanation]:
    """The explanations of rows that do not reach the goal as they are."""
    return [item for item in found if not item.counterfactuals or item.counterfactuals[0].changes]


def _presence(column: str, free: list[Explanation], draw: np.random.Generator) -> Presence:
    found = [item for item in free if item.counterfactuals]
    changed = [any(c.column == column for c in item.counterfactuals[0].changes) for item in found]
    strong = [any(_moves(item, a, column) for a in item.actions[:TOP]) for item in free]
    return Presence(
        column, share_of(np.array(changed, bool), draw), share_of(np.array(strong, bool), draw)
    )


def _moves(item: Explanation, action: Action, column: str) -> bool:
    """Whether an action changes this column, alone or as one of a group."""
    if action.column == column or not isinstance(action.value, tuple):
        return action.column == column
    after = dict(zip(action.column.split("+"), action.value, strict=False))
    return column in after and after[column] != item.source.cells()[column]
