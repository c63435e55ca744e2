"""What every result can do: show itself, and write itself to a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Self, TypeVar, overload

from macex.ask.answers import Needed, needed
from macex.errors import ON_RESULT, PlaceError, missing, require_path
from macex.render.exports import write_whole
from macex.render.names import Names
from macex.render.speech import ENGLISH, Speech

Facts = Mapping[str, str]
AnswerT = TypeVar("AnswerT")


class Result(ABC):
    """A result as a fragment of a page, a page, a PDF, a table, JSON or an Excel file.

    What writes a file returns its path, and what has no path returns the text.
    """

    @abstractmethod
    def fragment(self, language: str | Path = ENGLISH) -> str:
        """The result as a part of a page, with its styles."""

    @abstractmethod
    def heading(self, language: str | Path = ENGLISH) -> str:
        """What a page about it is called."""

    def facts(self) -> Facts:
        """What was asked of which model, for a page: the keys are those that catalogues name."""
        told = self.__dict__.get("_telling")
        return {} if told is None else told()

    def told_by(self, telling: Callable[[], Facts]) -> Self:
        """The result, with the facts of the question it answers; copies elsewhere have none."""
        self.__dict__["_telling"] = telling
        return self

    def __getstate__(self) -> dict[str, Any]:
        """All but the facts, which hold the explainer."""
        return {name: value for name, value in self.__dict__.items() if name != "_telling"}

    @abstractmethod
    def to_frame(self) -> Any:
        """The result as a table."""

    @abstractmethod
    def json_text(self, *, canonical: bool) -> str:
        """The result as JSON."""

    def sheets(self) -> dict[str, Any]:
        """The tables of an Excel file, by the names of its sheets."""
        return {"result": self.to_frame()}

    def page(self, language: str | Path = ENGLISH, title: str | None = None) -> str:
        """The result as a page in one file that needs nothing else."""
        from macex.render.html import result_page

        return result_page(self, {**self.facts(), "made": today()}, title, language)

    @overload
    def to_html(
        self, path: None = None, *, title: str | None = None, language: str | Path = ENGLISH
    ) -> Html: ...
    @overload
    def to_html(
        self, path: str | Path, *, title: str | None = None, language: str | Path = ENGLISH
    ) -> Path: ...
    def to_html(
        self,
        path: str | Path | None = None,
        *,
        title: str | None = None,
        language: str | Path = ENGLISH,
    ) -> Html | Path:
        """The result as a fragment of a page; with a path, a whole page written to a file."""
        if path is None:
            return Html(self.fragment(language))
        return written(path, self.page(language, title))

    @overload
    def to_json(self, path: None = None, *, canonical: bool = False) -> str: ...
    @overload
    def to_json(self, path: str | Path, *, canonical: bool = False) -> Path: ...
    def to_json(self, path: str | Path | None = None, *, canonical: bool = False) -> str | Path:
        """The result as JSON; canonical, equal results are equal bytes. Or the path written to."""
        text = self.json_text(canonical=canonical)
        return text if path is None else written(path, text)

    def to_pdf(
        self, path: str | Path, *, title: str | None = None, language: str | Path = ENGLISH
    ) -> Path:
        """The page on paper. Needs Chromium or Chrome on this machine."""
        from macex.render.exports import pdf_bytes

        return written(path, pdf_bytes(self.page(language, title)))

    def to_excel(self, path: str | Path) -> Path:
        """The tables as an Excel file, each a sheet."""
        from macex.render.exports import workbook_bytes

        return written(path, workbook_bytes(self.sheets()))

    def _repr_html_(self) -> str:
        return self.fragment()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            missing(self, name, ON_RESULT)


class Answered(Result, Generic[AnswerT]):
    """A result with counterfactuals, best first; one without any is false."""

    of_series: ClassVar[bool] = False
    counterfactuals: tuple[AnswerT, ...]
    method: str
    names: Names
    asked: Any
    source: Any

    def __len__(self) -> int:
        return len(self.counterfactuals)

    @overload
    def __getitem__(self, at: int) -> AnswerT: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[AnswerT, ...]: ...
    def __getitem__(self, at: int | slice) -> AnswerT | tuple[AnswerT, ...]:
        try:
            return self.counterfactuals[at]
        except IndexError:
            held = f"{len(self)} counterfactual{'s' * (len(self) != 1)}"
            raise PlaceError(f"there is no answer {at}: the row has {held}, from 0") from None

    def __iter__(self) -> Iterator[AnswerT]:
        return iter(self.counterfactuals)

    @cached_property
    def query(self) -> Any:
        """What was explained: a one-row frame in the caller's library and dtypes, or a case."""
        return self.source.frame()

    @property
    def needed(self) -> Needed:
        """Which scores reach the goal, and whose score it is."""
        if self.asked.goals is None:
            return Needed()
        query = self.source.query if self.asked.query is None else self.asked.query
        return needed(self.asked.goals, query)

    @property
    def fell_back(self) -> bool:
        """Whether another search answered than the one that was asked for."""
        return self.asked.method not in (None, self.method)

    def fragment(self, language: str | Path = ENGLISH) -> str:
        """The card of the explanation, as a part of a page."""
        from macex.render.html import explanation_fragment

        return explanation_fragment(self, language)

    def heading(self, language: str | Path = ENGLISH) -> str:
        """Which row or case is explained."""
        from macex.render.cards import title

        return title(self, None, Speech(self.names, language, of_series=self.of_series))

    @abstractmethod
    def to_changes(self) -> Any:
        """One line per change."""

    def sheets(self) -> dict[str, Any]:
        """The sheets of an Excel file."""
        return {"answers": self.to_frame(), "changes": self.to_changes()}

    def __repr__(self) -> str:
        from macex.render.text import explanation_text

        return explanation_text(self)


class Html(str):
    """HTML as text; as the result of a cell a notebook shows what it draws, not its source."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"<{len(self):,} characters of HTML; to_html(path) writes a file>"


def today() -> str:
    """The date, as pages say when they were made."""
    return datetime.now(UTC).date().isoformat()


def written(path: str | Path, content: str | bytes) -> Path:
    """Write a file whole; its path."""
    target = require_path("path", path)
    if isinstance(content, str):
        content = content.encode(errors="backslashreplace")
    write_whole(target, content)
    return target
