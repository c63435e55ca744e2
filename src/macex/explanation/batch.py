"""The explanations of a batch of rows, or of cases of time series, in their order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

from macex.errors import ON_EXPLANATIONS, OptionError, PlaceError, missing, require_count
from macex.explanation.json import Document, dumps, explanations_document
from macex.explanation.summary import Summary, quality, summarise
from macex.explanation.tables import answers_frame, changes_frame
from macex.explanation.values import Explanation
from macex.render.charts.chart import Chart
from macex.render.exports import csv_text, parquet_bytes
from macex.render.names import Names
from macex.render.results import Facts, Html, today, written
from macex.render.sheets import Finding
from macex.render.text import batch_text

SHOWN = 20
PRINTED = 500
Planner = Callable[[Sequence[int]], Finding | None]
ItemT = TypeVar("ItemT")


class ExplanationsOf(Sequence[ItemT], Generic[ItemT]):
    """One explanation for each row that was asked about; a slice is again a batch.

    `names` are display names of columns, `meta` says what made the answers: version, seed, method
    and so on. `planner` makes the plan of a summary, for rows by their positions in the call. It
    holds the explainer, so it is not pickled with the batch.
    """

    __slots__ = ("_items", "_places", "_planner", "_rows", "_telling", "meta", "names")

    def __init__(
        self,
        items: Sequence[ItemT],
        names: Names | None = None,
        meta: Mapping[str, Any] | None = None,
        rows: Any = None,
        planner: Planner | None = None,
    ) -> None:
        self._items: tuple[Any, ...] = tuple(items)
        self._rows = rows
        self._planner = planner
        self._places = range(len(self._items))
        self._telling: Callable[[], Facts] | None = None
        self.names = dict(names or {})
        self.meta = dict(meta or {})

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, at: int) -> ItemT: ...
    @overload
    def __getitem__(self, at: slice) -> Self: ...
    def __getitem__(self, at: int | slice) -> ItemT | Self:
        if isinstance(at, slice):
            part = type(self)(self._items[at], self.names, self.meta, self._rows, self._planner)
            part._places = self._places[at]  # noqa: SLF001 - its own part
            return part if self._telling is None else part.told_by(self._telling)
        try:
            item: ItemT = self._items[at]
        except IndexError:
            raise self._no_place(at) from None
        return item

    def __iter__(self) -> Iterator[ItemT]:
        return iter(self._items)

    def told_by(self, telling: Callable[[], Facts]) -> Self:
        """The batch, whose reports tell what was asked; it is not pickled with the batch."""
        self._telling = telling
        for item in self._items:
            item.told_by(telling)
        return self

    def _no_place(self, at: int) -> PlaceError:
        """The error for a place that does not exist; it may be the label of a row."""
        held = f"there are {len(self)} explanations, by place from 0"
        named = next((place for place, one in enumerate(self._items) if one.source.id == at), None)
        hint = f"; the row that is called {at} is found[{named}]" if named is not None else ""
        return PlaceError(f"found[{at}]: {held}{hint}")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            missing(self, name, ON_EXPLANATIONS)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._items, self.names, self.meta, self._rows)

    def to_frame(self) -> Any:
        """One line per counterfactual."""
        raise NotImplementedError

    def to_changes(self) -> Any:
        """One line per change."""
        raise NotImplementedError

    def _document(self, *, canonical: bool) -> Document:
        """The batch as JSON."""
        raise NotImplementedError

    @overload
    def to_json(self, path: None = None, *, canonical: bool = False) -> str: ...
    @overload
    def to_json(self, path: str | Path, *, canonical: bool = False) -> Path: ...
    def to_json(self, path: str | Path | None = None, *, canonical: bool = False) -> str | Path:
        """The batch as JSON; canonical, equal answers are equal bytes. Or the path written to."""
        text = dumps(self._document(canonical=canonical), canonical=canonical)
        return text if path is None else written(path, text)

    @overload
    def to_csv(
        self, path: None = None, *, changes: bool = False, formula_safe: bool = True
    ) -> str: ...
    @overload
    def to_csv(
        self, path: str | Path, *, changes: bool = False, formula_safe: bool = True
    ) -> Path: ...
    def to_csv(
        self, path: str | Path | None = None, *, changes: bool = False, formula_safe: bool = True
    ) -> str | Path:
        """The lines of `to_frame()`, or of `to_changes()`, as CSV; or the path written to.

        A spreadsheet runs text that begins with `=`, `+`, `-` or `@`. An apostrophe stands before
        such text, so that it is shown instead, unless `formula_safe=False`.
        """
        frame = self.to_changes() if changes else self.to_frame()
        text = csv_text(frame, formula_safe=formula_safe)
        return text if path is None else written(path, text)

    def to_parquet(self, path: str | Path, *, changes: bool = False) -> Path:
        """Write the lines of `to_frame()`, or of `to_changes()`, as a Parquet file; its path.

        The values of changes are text there, since each column has its own kind.
        """
        frame = self.to_changes() if changes else self.to_frame()
        return written(path, parquet_bytes(frame))

    def to_excel(self, path: str | Path) -> Path:
        """Write an Excel file with a sheet of answers and one of changes; its path.

        Text that a spreadsheet would run gets an apostrophe before it, as in CSV.
        """
        from macex.render.exports import workbook_bytes

        sheets = {"answers": self.to_frame(), "changes": self.to_changes()}
        return written(path, workbook_bytes(sheets))

    def metrics(self) -> dict[str, float]:
        """Validity, sparsity, proximity, plausibility, diversity and cost, as means.

        `validity_own` leaves out the answers of searches that stepped in for the one asked for;
        `implausible` is the share of plausibilities under 0.05.
        """
        return quality(self._items, self.meta.get("n"), self.meta.get("method"))

    def summary(self, shap: Any = None, plan: Finding | bool = True) -> Summary:
        """What the answers have in common: which columns change, how, and what flips the most rows.

        `shap` is set beside it: mean |SHAP| by column, or SHAP values of shape (rows, columns).
        The plan, at most three common actions, is made now and asks the model: at most five calls
        for up to 512 rows. `plan=False` leaves it out, and what `Explainer.plan` made of the same
        rows takes its place. There is none for a batch that was loaded, for a call with `max_rows`,
        `timeout_s`, `robust` or `also`, and where the model fails.
        """
        return summarise(self._items, self.names, shap, self._plan(plan))

    def _plan(self, given: Finding | bool) -> Finding | None:
        if not isinstance(given, bool):
            return _finding("plan=", given)
        if not given or self._planner is None:
            return None
        told = zip(self._places, self._items, strict=True)
        return self._planner([place for place, item in told if isfinite(item.score)])

    def plot(self, kind: str = "changes") -> Chart:
        """A chart of all answers.

        `"changes"` has a bar for each column, as long as the number of times it changes;
        `"scores"` shows the scores of the rows and of their best answers.
        """
        from macex.render.plots.answers import batch_chart

        return batch_chart(self, kind)

    @overload
    def to_html(
        self,
        path: None = None,
        *,
        title: str | None = None,
        language: str | Path = "en",
        most: int = PRINTED,
        shap: Any = None,
        plan: Finding | bool = True,
        findings: Sequence[Finding] = (),
    ) -> Html: ...
    @overload
    def to_html(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        language: str | Path = "en",
        most: int = PRINTED,
        shap: Any = None,
        plan: Finding | bool = True,
        findings: Sequence[Finding] = (),
    ) -> Path: ...
    def to_html(
        self,
        path: str | Path | None = None,
        *,
        title: str | None = None,
        language: str | Path = "en",
        most: int = PRINTED,
        shap: Any = None,
        plan: Finding | bool = True,
        findings: Sequence[Finding] = (),
    ) -> Html | Path:
        """A report in one file that needs nothing else; with a path, the path it is written to.

        It begins with the summary of all rows and its plan, as in `summary`; then come `findings`
        about them (what `Explainer.bias` found, say), and the first `most` rows. It says what was
        asked of which model, and when.
        """
        require_count("most", most, 0)
        if not isinstance(findings, (list, tuple)):
            raise OptionError(
                f"findings= takes a list, e.g. [explainer.bias(...)], not {findings!r}"
            )
        summary = self.summary(shap, plan)
        shown = [*([] if summary.plan is None else [summary.plan])]
        shown += [_finding("findings=", one) for one in findings]
        page = self._report(summary, shown, title, language, most)
        return Html(page) if path is None else written(path, page)

    def _report(
        self,
        summary: Summary,
        findings: Sequence[Finding],
        title: str | None,
        language: str | Path,
        most: int,
    ) -> str:
        from macex.render.html import report

        return report(
            self._items[:most],
            summary,
            {**({} if self._telling is None else self._telling()), **self.meta},
            total=len(self),
            title=title,
            language=language,
            sheets=[finding.sheet_in(language) for finding in findings],
            made=today(),
        )

    def to_pdf(
        self,
        path: str | Path,
        *,
        title: str | None = None,
        language: str | Path = "en",
        most: int = PRINTED,
        shap: Any = None,
        plan: Finding | bool = True,
        findings: Sequence[Finding] = (),
    ) -> Path:
        """Write the report of `to_html` on paper; its path. Needs Chromium or Chrome."""
        from macex.render.exports import pdf_bytes

        page = self.to_html(
            title=title, language=language, most=most, shap=shap, plan=plan, findings=findings
        )
        return written(path, pdf_bytes(page))

    def __repr__(self) -> str:
        return batch_text(self._items)

    def _repr_html_(self) -> str:
        from macex.render.html import batch_fragment

        return batch_fragment(self._items[:SHOWN], len(self), self.names)


class Explanations(ExplanationsOf[Explanation]):
    """The explanations of the rows of a table."""

    __slots__ = ()

    def to_frame(self) -> Any:
        """One line per counterfactual, in the caller's library and dtypes.

        After the caller's own columns come `cf.row` (the position in this batch), `cf.rank` (1 is
        best), `cf.status`, `cf.label`, `cf.score`, `cf.sparsity`, `cf.proximity`,
        `cf.plausibility` and `cf.minimal`. A row without an answer has one line of rank 0 with
        its own cells, label and score. Where columns have reason codes (`Name(code=)`), those of
        the row are in `cf.reasons`, the strongest first: `"R03;R07"`.
        """
        return answers_frame(self._items, self._rows, self.names)

    def to_changes(self) -> Any:
        """One line per change: `cf.row`, `cf.rank`, column, before, after, low, high, exact.

        `low` and `high` bound the values around `after` that were tested and all hold. With `exact`
        none between them was left out; without it, one that was not tested may fail.
        """
        return changes_frame(self._items)

    def _document(self, *, canonical: bool) -> Document:
        return explanations_document(self, self.names, self.meta, canonical=canonical)


def _finding(option: str, given: Any) -> Finding:
    """Something found about many rows, which has a sheet of its own."""
    if not isinstance(given, Finding):
        raise OptionError(
            f"{option} takes what Explainer.plan, bias, recourse or picture return, not {given!r}"
        )
    return given
