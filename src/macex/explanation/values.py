"""Results as values: what was asked and what was found."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from macex.errors import OptionError, require_path
from macex.metrics import Why, front, with_whys
from macex.render.exports import write_whole
from macex.render.names import CodeTable, Names, ReasonCode, reason_codes
from macex.render.results import Answered
from macex.render.sentences import sentences
from macex.schema import Array

if TYPE_CHECKING:
    from pathlib import Path

    from macex.ask.answers import Goals
    from macex.ask.goals import Goal
    from macex.explanation.box import Box
    from macex.render.charts.chart import Chart
    from macex.schema import Rows
    from macex.schema.distributions import Distributions

Status = Literal["found", "none", "not_found", "budget"]
Over = Literal["all values", "seen values", "candidates"]


class Interval(NamedTuple):
    """The run of tested values around a change that all reach the goal, other changes kept.

    With `exact`, every value of the grid from `low` to `high` holds and the ones just outside fail.
    Without it, only the tested ones are known to hold: a value between two of them may fail.
    """

    low: Any
    high: Any
    tested: int  # how many values were tried, those that fail included
    exact: bool


class Change(NamedTuple):
    """One column before and after."""

    column: str
    before: Any
    after: Any
    interval: Interval | None = None


class Action(NamedTuple):
    """The best single change of a column, and whether it suffices alone.

    `weight` is its share in what the best single changes of all columns gain toward the goal, each
    by itself; for `method="reinforce"` it is the probability with which the policy changes the
    column. Neither says how much of the way to the goal it goes.
    """

    column: str
    value: Any
    weight: float
    flips: bool


class Actions(Sequence[Action]):
    """The actions of a query, made on first use: most batches never need them."""

    __slots__ = ("_made", "_make", "_query")

    def __init__(self, make: Callable[[int], tuple[Action, ...]], query: int) -> None:
        self._make: Callable[[int], tuple[Action, ...]] | None = make
        self._query = query
        self._made: tuple[Action, ...] = ()

    def _all(self) -> tuple[Action, ...]:
        if self._make is not None:
            self._made, self._make = self._make(self._query), None
        return self._made

    def __len__(self) -> int:
        return len(self._all())

    @overload
    def __getitem__(self, at: int) -> Action: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Action, ...]: ...
    def __getitem__(self, at: int | slice) -> Action | tuple[Action, ...]:
        return self._all()[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._all(),)


class Cost(NamedTuple):
    """What a query cost: model calls it took part in, rows scored, seconds (its share)."""

    calls: int
    rows: int
    seconds: float


class Source(NamedTuple):
    """Where a row comes from: the caller's rows, which of them, and its codes by column."""

    rows: Rows
    query: int
    codes: Array

    def frame(self) -> Any:
        """The row as a one-row frame like the caller's."""
        return self.rows.row(self.query, self.codes)

    def written(self) -> dict[str, object]:
        """The cells that differ from the caller's own row, as Python values."""
        columns = self.rows.schema.columns
        differing = np.flatnonzero(self.codes != self.rows.codes[self.query]).tolist()
        return {columns[at].name: columns[at].value(float(self.codes[at])) for at in differing}

    def cells(self) -> dict[str, object]:
        """The whole row as Python values: the caller's own, and what was written over them."""
        return self.rows.cells(self.query) | self.written()

    @property
    def id(self) -> object:
        """What the caller's frame calls the row: its index label, None where it has none."""
        return None if self.rows.index is None else self.rows.index[self.query]


class Asking(NamedTuple):
    """How a batch was asked: answers for each row, the search, and the goals as arrays.

    `query` is the row of `goals` that is meant where that is not the row's own number, and
    `distributions` how values are spread over training rows.
    """

    n: int | None = None
    method: str | None = None
    goals: Goals | None = None
    query: int | None = None
    distributions: Distributions | None = None


@dataclass(frozen=True)
class Counterfactual:
    """A row that reaches the goal (or, as a miss, nearly does).

    `support` counts the training rows that meet the goal and are alike in what was set, by bins.
    `robustness` is the share of its 32 neighbours that reach the goal, too, where it was asked for.
    `breaks` are the relations of training rows that the query keeps and this row does not.
    `estimated` are columns that follow by a fitted mechanism, `reach` how likely the goal is then.
    `copies` says that it equals a training row in all columns, so that showing it shows that row.
    `why` says what it is the best in among several answers, else `"other columns"`.
    """

    changes: tuple[Change, ...]
    label: Any
    score: float
    sparsity: int
    proximity: float
    distance: float
    plausibility: float | None
    support: int
    minimal: bool
    source: Source = field(repr=False, compare=False)
    names: Names = field(default_factory=dict, repr=False, compare=False)
    robustness: float | None = None
    copies: bool = False
    breaks: tuple[str, ...] = ()
    estimated: tuple[str, ...] = ()
    average: bool = False  # the estimates are those of rows alike, on average
    reach: float | None = None
    why: Why | None = None
    boxing: Callable[[Counterfactual], Box] | None = field(default=None, repr=False, compare=False)

    @cached_property
    def box(self) -> Box:
        """Ranges around the counterfactual in which every combination reaches the goal.

        The box is exact where all combinations can be tested: few values, or the cells of a tree
        model with `candidates="thresholds"`. Otherwise 510 combinations are drawn, and all of them
        hold. It scores up to a few thousand rows, so it is made when it is first looked at.

        >>> import numpy as np, pandas as pd
        >>> from macex import Explainer
        >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
        >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
        >>> explainer = Explainer(model, data, classes=("no", "yes"))
        >>> explainer.explain(data.iloc[[20]])[0].counterfactuals[0].box
        hours at least 45 (every combination reaches the goal; 40 tested)
        """
        if self.boxing is None:
            raise OptionError(
                "no box is known: the row misses its goal, or it came from a server, a file or "
                "another process; explain the row again where the model is"
            )
        return self.boxing(self)

    @cached_property
    def consequences(self) -> tuple[Change, ...]:
        """What follows from the changes: columns that are computed from others or hang on them."""
        rows, query = self.source.rows, self.source.query
        changed = {change.column for change in self.changes}
        return tuple(
            Change(name, rows.cell(query, rows.schema.position(name)), value)
            for name, value in self.source.written().items()
            if name not in changed
        )

    @cached_property
    def row(self) -> Any:
        """The counterfactual as a one-row frame like the query."""
        return self.source.frame()

    def _repr_html_(self) -> str:
        from macex.render.html import counterfactual_fragment

        return counterfactual_fragment(self)


@dataclass(frozen=True, repr=False)
class Explanation(Answered[Counterfactual]):
    """What the least is that would have to be different for one row.

    `status` is `"found"`; or `"none"` (every allowed combination over `minimal_over` was scored and
    failed), `"not_found"` (the search was cut) or `"budget"` (rows or time ran out), and then
    `reason` says why and `miss` is the row that came nearest.
    """

    label: Any
    score: float
    goal: Goal
    status: Status
    reason: str | None
    miss: Counterfactual | None
    counterfactuals: tuple[Counterfactual, ...]
    actions: Sequence[Action]
    reasons: Sequence[Action]
    minimal: bool
    minimal_over: Over | None
    method: str
    cost: Cost = field(compare=False)
    source: Source = field(repr=False, compare=False)
    diagnosis: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # relations of training rows that are not kept, and why
    names: Names = field(default_factory=dict, repr=False, compare=False)
    asked: Asking = field(default=Asking(), repr=False, compare=False)

    def __post_init__(self) -> None:
        found = self.counterfactuals
        if len(found) > 1 or any(one.why for one in found):
            object.__setattr__(self, "counterfactuals", with_whys(found, self.goal))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns that may change."""
        return tuple(self.source.rows.schema.names)

    @property
    def front(self) -> tuple[Counterfactual, ...]:
        """The counterfactuals that no other beats in all of changes, distance, plausibility, score.

        With `robust=` their robustness counts instead of the score. More answers make a longer
        front: ask for `n=10`. `FrontDisplay.from_explanation` draws it.
        """
        return front(self.counterfactuals, self.goal)

    def sentences(self, language: str | Path = "en", codes: CodeTable | None = None) -> list[str]:
        """The answer in plain language, one sentence per counterfactual.

        `language` is `"en"`, `"de"` or a catalogue's path; `codes` add the main `reason_codes`.
        """
        return sentences(self, language, codes)

    def reason_codes(self, table: CodeTable | None = None, most: int = 4) -> list[ReasonCode]:
        """The main reasons for the decision by the codes of a table, strongest first.

        The table maps columns to a code, or to a code and its text; without one the codes of the
        columns' names count (`Name(code=)`). A column that may not change can be a reason, too; one
        without an entry is left out.
        """
        return reason_codes(self, table, most)

    def letter(
        self,
        template: str | Path | None = None,
        *,
        form: Literal["text", "html"] = "text",
        language: str | Path = "en",
        codes: CodeTable | None = None,
        places: Mapping[str, Any] | None = None,
    ) -> str:
        """A letter about the decision, from a template of yours (a text or a path) or a plain one.

        The template is Jinja2 and gets `decision`, `goal`, `status`, `reasons`, `answers`,
        `changes`, `row` and your own `places`. `codes` are as for `reason_codes`.
        """
        from macex.render.letters import letter

        return letter(self, template, form=form, language=language, codes=codes, places=places)

    def to_letter(
        self,
        path: str | Path,
        template: str | Path | None = None,
        *,
        language: str | Path = "en",
        codes: CodeTable | None = None,
        places: Mapping[str, Any] | None = None,
    ) -> None:
        """Write the letter to a file: `.txt`, `.html`, or `.pdf` by way of HTML."""
        from macex.render.letters import written

        write_whole(
            require_path("path", path),
            written(self, str(path), template, language=language, codes=codes, places=places),
        )

    def plot(self, kind: str = "context", *, rank: int = 1) -> Chart:
        """A chart of the answer.

        `"context"` shows the changes of one counterfactual over the training rows that have the
        wanted decision; `"front"` the trade-offs between several, and `"diversity"` which of
        them changes what.
        """
        from macex.render.plots.answers import explanation_chart

        return explanation_chart(self, kind, rank)

    def to_frame(self) -> Any:
        """One line per counterfactual, as in `Explanations.to_frame`."""
        from macex.explanation.tables import answers_frame

        return answers_frame([self], names=self.names)

    def to_changes(self) -> Any:
        """One line per change, as in `Explanations.to_changes`."""
        from macex.explanation.tables import changes_frame

        return changes_frame([self])

    def json_text(self, *, canonical: bool) -> str:
        """The explanation as JSON; see `macex.explanation.json`."""
        from macex.explanation.json import dumps, explanation_document

        return dumps(explanation_document(self, canonical=canonical), canonical=canonical)
