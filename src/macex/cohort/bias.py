"""Bias: what protected columns do to decisions, to answers, and to the effort asked of groups.

1. The share of rows whose decision flips by a protected column alone, by group and direction.
2. How often protected columns are changed in counterfactuals, and stand among the strongest
   actions, when they are free.
3. What each group must change to reach the goal when they are fixed, and whether groups differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from macex.ask.constraints import Constraints
from macex.cohort.bias_sheet import bias_sheet, reading
from macex.cohort.effects import Effects, FlipCounts, GroupFlips, PairFlips, Tried, tallied
from macex.cohort.estimates import Estimate, share_of
from macex.cohort.fairness import Burden, Gap, GroupGap, burdens, differences, gaps, row_table, told
from macex.cohort.flips import Pathway, open_ways, through_columns
from macex.cohort.groups import AND, Groups, groups_of, numbered, read_bands
from macex.cohort.population import Crowd, advising, crowd
from macex.cohort.population import explained as explanations_of
from macex.engine.batch import Progress, silent
from macex.engine.engine import Engine
from macex.errors import GoalError, OptionError, closest, require_count
from macex.explanation import Action, Explanation
from macex.render.names import Names
from macex.render.sheets import Finding, Sheet
from macex.schema import Array, Column

ALONE = "alone"  # a column's way to decisions if nothing follows from it
Tallies = dict[tuple[str, str], "FlipCounts"]  # by column and way
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


@dataclass(frozen=True)
class BiasQuestion:
    """What is asked about protected columns, checked."""

    columns: tuple[str, ...]
    want: Any
    constraints: Any
    by: Any
    explained: int
    edges: Mapping[str, Array]
    max_values: int | None
    through: tuple[str, ...]

    def varied(self, engine: Engine) -> list[str]:
        """The protected columns that have other values."""
        return [name for name in self.columns if len(_column(engine, name).seen) > 1]

    def crowd(self, engine: Engine, rows: Any) -> Crowd:
        """Rows, of which this is asked."""
        everyone = crowd(engine, rows, self.want, self.constraints)
        _refuse_derived(self.columns, everyone)
        return everyone

    def tallies(self, everyone: Crowd, groups: Mapping[str, Groups], most: int | None) -> Tallies:
        """What every column does to decisions, by itself and with what follows from it.

        `groups` are those of each column's values among the rows, `most` how many values are tried.
        """
        found = {}
        for name in self.varied(everyone.engine) if len(everyone) else ():
            edges, mine = self.edges.get(name), groups[name]
            found[name, ALONE] = tallied(everyone, name, mine, edges=edges, most=most)
            for ways, _, follow in open_ways(everyone.engine, name, self.through):
                found[name, ways] = tallied(everyone, name, mine, most=most, following=follow)
        return found

    def found(
        self,
        sample: Crowd,
        tallies: Tallies,
        compared: tuple[str, Groups] | None,
        rows: int,
        report: Progress = silent,
    ) -> Bias:
        """The finding of what was counted, and of a sample of the rows, which are explained.

        They are explained twice; `report` gets the number of explanations made so far.
        """
        engine, varied = sample.engine, self.varied(sample.engine)
        draw = np.random.default_rng(sample.fitted.options.random_state)

        def effects(name: str, ways: str) -> Effects:
            classes = sample.fitted.outlook.classes
            return tallies[name, ways].effects(_column(engine, name), classes, draw)

        done = [effects(name, ALONE) for name in varied if tallies]
        free, bound = _explanations(sample, varied, report)
        fates = told(bound, wanted=self.want is not None)
        groupings = _groupings(sample, varied, self.edges, compared) if bound else []
        return Bias(
            rows=rows,
            explained=int(fates.needy.sum()),
            flips=tuple((one.tried.column, one.some) for one in done),
            effects=tuple((one.tried.column, one.one) for one in done),
            by_group=tuple(line for one in done for line in one.by_group),
            pairs=tuple(line for one in done for line in one.pairs),
            tried=tuple(one.tried for one in done),
            free=tuple(_presence(column, free, draw) for column in varied if len(free)),
            burden=tuple(
                line for name, own in groupings for line in burdens(name, own, fates, draw)
            ),
            gaps=tuple(line for name, own in groupings for line in gaps(name, own, fates)),
            differences=differences(groupings, fates, draw),
            constant=tuple(name for name in self.columns if name not in varied),
            goal=_common_goal(sample) if self.want is not None else "",
            ways=tuple(
                Pathway(name, ways, held, one.some, one.one)
                for name in varied
                if tallies
                for ways, held, _ in open_ways(engine, name, self.through)
                for one in [effects(name, ways)]
            ),
            table=row_table(sample.places if bound else np.zeros(0, int), groupings, fates),
            names=sample.fitted.options.names,
        )


@advising()
def bias(engine: Engine, rows: Any, question: BiasQuestion) -> Bias:
    """What protected columns do to decisions; see `Explainer.bias`."""
    everyone = question.crowd(engine, rows)
    groups = {
        name: groups_of(everyone.rows, name, question.edges) for name in question.varied(engine)
    }
    tallies = question.tallies(everyone, groups, question.max_values)
    sample = everyone.spaced(question.explained)
    compared = _compared(everyone, sample, question.by, question.edges)
    return question.found(sample, tallies, compared, len(everyone))


def bias_question(
    engine: Engine,
    *,
    protected: Any,
    want: Any,
    constraints: Any,
    by: Any,
    explained: Any,
    bands: Any,
    max_values: Any,
    through: Any,
) -> BiasQuestion:
    """What a caller asks about bias, checked."""
    columns = tuple(_columns(engine, protected))
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
    return BiasQuestion(columns, want, constraints, by, int(explained), edges, max_values, allowed)


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


def _refuse_derived(columns: Sequence[str], everyone: Crowd) -> None:
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


def _column(engine: Engine, name: str) -> Column:
    return engine.schema.columns[engine.schema.position(name)]


def _explanations(
    sample: Crowd, columns: list[str], report: Progress
) -> tuple[list[Explanation], list[Explanation]]:
    """Answers with the protected columns free, of rows that are not there yet, and fixed."""
    if not columns:
        return [], []
    fixed = Constraints(fixed=tuple(columns))
    free = sample.under(lambda given: _freed(given, columns))
    bound = free.under(lambda given: given.merge(fixed))
    freely = explanations_of(free, report=report)
    bounded = explanations_of(bound, report=lambda done: report(len(free) + done))
    return _needy(freely), bounded


def _groupings(
    sample: Crowd, columns: list[str], edges: Any, compared: tuple[str, Groups] | None
) -> list[tuple[str, Groups]]:
    """The groups of the rows that are explained: by each protected column, and by what is said."""
    found = [(column, groups_of(sample.rows, column, edges)) for column in columns]
    return [*found, *([compared] if compared and compared[0] not in columns else [])]


def _compared(everyone: Crowd, sample: Crowd, by: Any, edges: Any) -> tuple[str, Groups] | None:
    """What further groups are called, and which rows of the sample are in them."""
    if by is None or not len(everyone):
        return None
    several = isinstance(by, (list, tuple)) and len(by) != len(everyone)
    groups = groups_of(everyone.rows, by, edges)
    number = numbered(groups, len(everyone))[sample.places]
    mine = {label: np.flatnonzero(number == at) for at, label in enumerate(groups)}
    name = called(by) if isinstance(by, str) or several else "group"
    return name, {label: places for label, places in mine.items() if len(places)}


def called(by: Any) -> str:
    """What groups by these columns are called."""
    return by if isinstance(by, str) else AND.join(map(str, by))


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
