"""Questions about whole populations that lie in parts: frames of a file, partitions of an engine.

Every question takes passes over the parts, and what the parts say is added up. Memory does not grow
with the rows, but for a number a row that says what became of it. A recourse takes one pass. A plan
takes one that draws a sample of the rows in need, on which the actions are chosen, and one that
counts what they do. Bias takes one that flips every row and draws those that are explained, after
one without the model that counts rows and groups; so do plans by group. A picture draws a sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from macex.cohort.bias import Bias, BiasQuestion, Tallies, bias_question, called
from macex.cohort.flips import MOST_PAIRS
from macex.cohort.groups import UNFOLDED, read_bands
from macex.cohort.picture import Picture, picture
from macex.cohort.plans import (
    SAMPLE,
    SLACK,
    ChosenActions,
    Plan,
    chosen_for,
    counted,
    in_need,
    joined,
    read_plan_options,
)
from macex.cohort.population import Crowd, advising, crowd, opened
from macex.cohort.recourse import Recourse, recourse
from macex.cohort.recourse import joined as joined_recourse
from macex.engine.engine import Engine
from macex.errors import OptionError, closest, require_count
from macex.explainer import Explainer
from macex.scale.passes import Census, Pass, RowSample, divided, merged, over_frames, total

NONE = np.zeros(0, int)
NOBODY = "there are no rows to look at"
ALL = ""  # the group of a plan without groups
By = str | Sequence[str] | None
Bands = Mapping[str, Sequence[float]] | None


@dataclass(frozen=True)
class PartedPopulation:
    """Rows in parts, and an explainer that is asked about all of them.

    The methods are those of the explainer, and so are the findings. They hold no rows and no
    explanations, `by` names columns, and where only some rows are explained they are drawn.
    """

    explainer: Explainer
    over: Pass

    @advising()
    def plan(
        self,
        *,
        want: Any = None,
        actions: int = 5,
        max_changes: int = 2,
        by: By = None,
        constraints: Any = None,
        slack: float = SLACK,
        max_cost: float | None = None,
        plausible: bool = True,
        bands: Bands = None,
        support: float = 0.0,
    ) -> Plan:
        """`Explainer.plan` for rows in parts; `plan.taken` says which action flips each row."""
        options = read_plan_options(
            actions, max_changes, slack, max_cost, plausible=plausible, support=support
        )
        asked = self._asked(want, constraints)
        edges = read_bands(self.explainer.schema, bands)
        names = None if by is None else self._census({ALL: self._columns(by)}, edges).names(ALL)
        division = _Division(by, edges, names)
        samples = total(self.over(partial(_needy, asked, division))) or {}
        chosen = {
            name: chosen_for(opened(asked.crowd(one.frame)), options)[0] if len(one.frame) else None
            for name, one in samples.items()
        }
        parts = list(self.over(partial(_PlannedPart.of, asked, division, chosen)))
        return _plan_of(parts, division)

    def recourse(
        self,
        *,
        want: Any = None,
        constraints: Any = None,
        by: By = None,
        diagnose: bool = True,
        max_rows: int | None = None,
    ) -> Recourse:
        """`Explainer.recourse` for rows in parts."""
        options = {"by": self._columns(by), "diagnose": diagnose, "max_rows": max_rows}
        work = partial(_recourse, self._asked(want, constraints), options)
        return joined_recourse(self.over(work))

    @advising()
    def bias(
        self,
        *,
        protected: Sequence[str],
        want: Any = None,
        constraints: Any = None,
        by: By = None,
        explained: int = 1000,
        bands: Bands = None,
        max_values: int | None = None,
        through: Sequence[str] = (),
    ) -> Bias:
        """`Explainer.bias` for rows in parts; `table["row"]` is their index."""
        engine, by = self.explainer.engine, self._columns(by)
        question = bias_question(
            engine,
            protected=protected,
            want=want,
            constraints=constraints,
            by=by,
            explained=explained,
            bands=bands,
            max_values=max_values,
            through=through,
        )
        groupings: dict[str, Any] = {name: name for name in question.varied(engine)}
        groupings |= {} if by is None else {called(by): by}
        census = self._census(groupings, question.edges)
        most = MOST_PAIRS // max(1, census.rows) if max_values is None else max_values
        names = {name: census.names(name) for name in groupings}
        found = total(self.over(partial(_Flipped.of, engine, question, names, most)))
        if found is None:
            raise OptionError(NOBODY)
        sample = question.crowd(engine, found.sample.frame)
        compared = None
        if by is not None and len(sample):
            own = divided(sample.rows, by, question.edges, names[called(by)])
            compared = called(by), own
        sample = replace(sample, places=np.asarray(found.sample.frame.index))
        tallies = {
            (name, ways): one.ordered(dict.fromkeys(names[name].values()))
            for (name, ways), one in found.tallies.items()
        }
        return question.found(sample, tallies, compared, census.rows)

    def picture(
        self,
        *,
        want: Any = None,
        constraints: Any = None,
        parts: int = 6,
        max_changes: int = 1,
        explained: int = 2000,
        shap: Any = None,
    ) -> Picture:
        """`Explainer.picture` for rows in parts."""
        require_count("explained", explained)
        asked = self._asked(want, constraints)
        drawn = list(self.over(partial(_drawn, asked, explained)))
        sample = total(one for one, _ in drawn)
        if sample is None:
            raise OptionError(NOBODY)
        found = picture(
            asked.engine,
            sample.frame,
            want=want,
            constraints=constraints,
            parts=parts,
            max_changes=max_changes,
            explained=explained,
            shap=shap,
        )
        return replace(found, given=sum(rows for _, rows in drawn))

    def _asked(self, want: Any, constraints: Any) -> _Asked:
        return _Asked(self.explainer.engine, want, constraints)

    def _census(self, groupings: Mapping[str, Any], bands: Any) -> Census:
        work = partial(Census.of, self.explainer.engine, groupings, bands)
        return total(self.over(work)) or Census()

    def _columns(self, by: Any) -> Any:
        """Refuse labels of rows, which no part of them has."""
        if by is None or isinstance(by, str):
            return by
        known, named = self.explainer.columns, by if isinstance(by, (list, tuple)) else [by]
        wrong = next((name for name in named if name not in known), None)
        if wrong is not None:
            raise OptionError(
                "by takes columns of the rows, since labels have no frame; there is no column "
                f"{wrong!r}{closest(wrong, known) if isinstance(wrong, str) else ''}"
            )
        return by


def of_frames(explainer: Explainer, frames: Any) -> PartedPopulation:
    """The rows of frames; `frames` is a function that reads them, since some questions do twice.

    >>> import numpy as np, pandas as pd
    >>> from macex import Explainer
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
    >>> explainer = Explainer(model, data, classes=("no", "yes"))
    >>> rows = of_frames(explainer, lambda: [data.iloc[:30], data.iloc[30:]])
    >>> rows.plan(want="yes", actions=1).coverage
    1.0
    """
    return PartedPopulation(explainer, over_frames(frames))


@dataclass(frozen=True)
class _Asked:
    """What every part is asked."""

    engine: Engine
    want: Any
    constraints: Any

    def crowd(self, frame: pd.DataFrame) -> Crowd:
        return crowd(self.engine, frame, self.want, self.constraints)


@dataclass(frozen=True)
class _Division:
    """The groups of a plan: columns, edges, and what groups are called; or no groups."""

    by: Any
    bands: Any
    names: Mapping[str, str] | None

    def __call__(self, everyone: Crowd) -> dict[str, Any]:
        if self.names is None:
            return {ALL: np.arange(len(everyone))}
        return divided(everyone.rows, self.by, self.bands, self.names)


class _ByGroup(dict[str, Any]):
    """What is found of each group; that of two parts is added."""

    def __add__(self, other: _ByGroup) -> _ByGroup:
        return _ByGroup(merged(self, other))


def _needy(asked: _Asked, division: _Division, frame: pd.DataFrame) -> _ByGroup:
    """By group, a sample of the rows that do not reach the goal as they are."""
    everyone = asked.crowd(frame)
    needy = np.zeros(len(everyone), bool)
    needy[in_need(everyone).places] = True
    found = {}
    for name, places in division(everyone).items():
        mine = places[needy[places]]
        found[name] = RowSample.of(everyone.take(mine), frame.iloc[mine], SAMPLE)
    return _ByGroup(found)


@dataclass(frozen=True)
class _PlannedPart:
    """What the actions of a plan do for the rows of a frame, by group."""

    plan: Plan  # of all rows, without its actions
    groups: dict[str, Plan]

    @staticmethod
    def of(
        asked: _Asked,
        division: _Division,
        chosen: Mapping[str, ChosenActions | None],
        frame: pd.DataFrame,
    ) -> _PlannedPart:
        everyone = asked.crowd(frame)
        taken, groups = np.full(len(everyone), -2, np.int16), {}
        for name, places in division(everyone).items():
            part = counted(everyone.take(places), chosen[name])
            taken[places] = part.taken
            groups[name] = replace(part, taken=taken[places], rows=part.rows.take(NONE))
        none, names = everyone.rows.take(NONE), everyone.fitted.options.names
        return _PlannedPart(Plan((), taken, none, names=names), groups)


def _plan_of(parts: Sequence[_PlannedPart], division: _Division) -> Plan:
    """The plan of all rows, or that of groups."""
    if not parts:
        raise OptionError(NOBODY)
    order = [ALL] if division.names is None else list(dict.fromkeys(division.names.values()))
    groups = {
        name: joined([part.groups[name] for part in parts if name in part.groups])
        for name in order
        if any(name in part.groups for part in parts)
    }
    if division.names is None:
        return groups[ALL]
    return replace(joined([part.plan for part in parts]), groups=groups)


def _recourse(asked: _Asked, options: Mapping[str, Any], frame: pd.DataFrame) -> Recourse:
    """The recourse of the rows of a frame, without their explanations."""
    found = recourse(
        asked.engine,
        frame,
        want=asked.want,
        constraints=asked.constraints,
        most_groups=UNFOLDED,
        **options,
    )
    return replace(found, explanations=())


@dataclass(frozen=True)
class _Flipped:
    """What protected columns do to the decisions of some rows, and a sample of these."""

    tallies: Tallies
    sample: RowSample

    @staticmethod
    def of(
        engine: Engine,
        question: BiasQuestion,
        names: Mapping[str, Mapping[str, str]],
        most: int,
        frame: pd.DataFrame,
    ) -> _Flipped:
        everyone = question.crowd(engine, frame)
        groups = {
            name: divided(everyone.rows, name, question.edges, names[name])
            for name in question.varied(engine)
        }
        tallies = question.tallies(everyone, groups, most)
        return _Flipped(tallies, RowSample.of(everyone, frame, question.explained))

    def __add__(self, other: _Flipped) -> _Flipped:
        return _Flipped(merged(self.tallies, other.tallies), self.sample + other.sample)


def _drawn(asked: _Asked, most: int, frame: pd.DataFrame) -> tuple[RowSample, int]:
    """A sample of the rows of a frame, and how many there are."""
    return RowSample.of(asked.crowd(frame), frame, most), len(frame)
