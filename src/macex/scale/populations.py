"""Questions about whole populations that lie in parts: frames of a file, partitions of an engine.

Every question takes passes over the parts, and what the parts say is added up. Memory does not grow
with the rows, but for a number a row that says what became of it. A recourse takes one pass. A plan
takes one that draws a sample of the rows in need, on which the actions are chosen, and one that
counts what they do. Bias takes one that flips every row and draws those that are explained, after
one without the model that counts rows and groups; so do plans by group. A picture draws a sample.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from macex.cohort.bias import Bias, bias_question, called
from macex.cohort.flips import MOST_PAIRS
from macex.cohort.groups import read_bands
from macex.cohort.picture import Picture, picture
from macex.cohort.plans import (
    SLACK,
    Plan,
    chosen_for,
    read_plan_options,
)
from macex.cohort.population import advising, opened
from macex.cohort.recourse import Recourse
from macex.cohort.recourse import joined as joined_recourse
from macex.errors import DataError, OptionError, closest, require_count
from macex.explainer import Explainer
from macex.scale.partition import carried_columns, cut, features_of
from macex.scale.passes import (
    ALL,
    NOBODY,
    AskedOfAll,
    Census,
    Division,
    Flipped,
    Pass,
    PlannedPart,
    Work,
    counting,
    divided,
    drawn_of,
    needy_of,
    over_frames,
    plan_of,
    recourse_of,
    total,
)
from macex.scale.run import Progress, reporting

By = str | Sequence[str] | None
Telling = Callable[[str], AbstractContextManager[Progress]]
SILENT = partial(reporting, None)
Bands = Mapping[str, Sequence[float]] | None


@dataclass(frozen=True)
class PartedPopulation:
    """Rows in parts, and an explainer that is asked about all of them.

    The methods are those of the explainer, and so are the findings. They hold no rows and no
    explanations, `by` names columns, and where only some rows are explained they are drawn.
    `telling` makes, of the words for a stage, what is told how far it has come; `rows` is how many
    rows there are, where that is known.
    """

    explainer: Explainer
    over: Pass
    telling: Telling = SILENT
    rows: int | None = None

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
        asked, over = self._asked(want, constraints), self._passes(2 if by is None else 3)
        edges = read_bands(self.explainer.schema, bands)
        names = None
        if by is not None:
            names = self._census(over, {ALL: self._columns(by)}, edges).names(ALL)
        division = Division(by, edges, names)
        samples = total(over(partial(needy_of, asked, division))) or {}
        chosen = {
            name: chosen_for(opened(asked.crowd(one.frame)), options)[0] if len(one.frame) else None
            for name, one in samples.items()
        }
        parts = list(over(partial(PlannedPart.of, asked, division, chosen)))
        return plan_of(parts, division).told_by(asked.facts())

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
        asked, over = self._asked(want, constraints), self._passes(1)
        found = joined_recourse(over(partial(recourse_of, asked, options)))
        return found.told_by(asked.facts())

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
        engine, by, over = self.explainer.engine, self._columns(by), self._passes(2)
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
        census = self._census(over, groupings, question.edges)
        most = MOST_PAIRS // max(1, census.rows) if max_values is None else max_values
        names = {name: census.names(name) for name in groupings}
        found = total(over(partial(Flipped.of, engine, question, names, most)))
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
        with self._explaining(2 * len(sample)) as report:
            made = question.found(sample, tallies, compared, census.rows, report)
        return made.told_by(self._asked(want, constraints).facts())

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
        drawn = list(self._passes(1)(partial(drawn_of, asked, explained)))
        sample = total(one for one, _ in drawn)
        if sample is None:
            raise OptionError(NOBODY)
        with self._explaining(len(sample.frame)) as report:
            found = picture(
                asked.engine,
                sample.frame,
                want=want,
                constraints=constraints,
                parts=parts,
                max_changes=max_changes,
                explained=explained,
                shap=shap,
                report=report,
            )
        given = sum(rows for _, rows in drawn)
        return replace(found, given=given).told_by(asked.facts())

    def _asked(self, want: Any, constraints: Any) -> AskedOfAll:
        return AskedOfAll(self.explainer.engine, want, constraints)

    def _passes(self, count: int) -> Pass:
        """The passes of a question, which say how far each has come."""
        stages = iter(range(1, count + 1))

        def over(work: Work) -> Iterator[Any]:
            what = "reading rows" + (f", pass {next(stages)} of {count}" if count > 1 else "")
            with self.telling(what) as report:
                done = 0
                for found, rows in self.over(partial(counting, work)):
                    done += rows
                    report(done, self.rows)
                    yield found

        return over

    @contextmanager
    def _explaining(self, count: int) -> Iterator[Callable[[int], Any]]:
        """What is told how many of a sample's explanations are made."""
        with self.telling("explaining rows") as report:
            yield lambda done: report(done, count)

    def _census(self, over: Pass, groupings: Mapping[str, Any], bands: Any) -> Census:
        work = partial(Census.of, self.explainer.engine, groupings, bands)
        return total(over(work)) or Census()

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


def of_frames(
    explainer: Explainer,
    frames: Any,
    telling: Telling = SILENT,
    rows: int | None = None,
) -> PartedPopulation:
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
    return PartedPopulation(explainer, over_frames(frames), telling, rows)


@dataclass(frozen=True)
class Finder:
    """What travels to a worker: who is asked, and what is to be found of a frame."""

    explainer: Explainer
    index: str | None  # the column that names the rows
    work: Work

    def found(self, frame: pd.DataFrame) -> Iterator[bytes]:
        """What is found of the rows of a partition, some thousands at a time."""
        for part in cut(frame):
            features = features_of(self.explainer, part)
            if self.index is not None:
                features.index = pd.Index(part[self.index])
            yield pickle.dumps(self.work(features))


def spread(
    explainer: Explainer,
    columns: Iterable[Any],
    index: str | None,
    sent: Callable[[Finder], Iterable[bytes]],
) -> PartedPopulation:
    """A population in a table with these columns; `sent` runs a finder on all its partitions."""
    names = list(map(str, columns))
    carried_columns(explainer, names)
    if index is not None and index not in names:
        raise DataError(
            f"index names {index!r}, which the table does not have{closest(index, names)}"
        )

    def over(work: Work) -> Iterator[Any]:
        return map(pickle.loads, sent(Finder(explainer, index, work)))

    return PartedPopulation(explainer, over)
