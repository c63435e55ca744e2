"""A project: a model that can be asked, and the rows people look at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from threading import RLock
from typing import Any, cast

from macex.audit import Audit
from macex.engine.engine import Engine
from macex.engine.options import (
    BUILT_IN,
    PREFERENCES,
    STRUCTURES,
    Preference,
    read_search,
    search_names,
)
from macex.engine.recorder import Recorder
from macex.errors import OptionError, UnavailableError
from macex.explainer import Explainer
from macex.schema import Array
from macex.server.projects.parts import Parts, positions
from macex.server.projects.table import ScoredTable
from macex.server.recent import Recent
from macex.stages.search.protocol import DEFAULT_SEARCH

METHODS = search_names()
REMEMBERED = 256  # curves, maps and sums that pages have shown lately
WAIT_S = 30.0  # after which who waits for a turn is told to come back


__all__ = ["METHODS", "PREFERENCES", "STRUCTURES", "Project", "choose"]


class Project:
    """Opened when it is first asked for something, and once.

    `lock` is held while rows are explained: an explainer remembers what calls have in common, and
    one call at a time may do so. `remembered` is what pages worked out of it. `series_only` says
    that there are cases instead of rows.
    """

    series_only = False

    def __init__(
        self,
        name: str,
        title: str,
        load: Callable[[], Any],
        audit: Callable[[Any], Audit] | None = None,
    ) -> None:
        """`name` stands in addresses; `load` reads the parts when they are needed."""
        self.name, self.title = name, title
        self.lock = RLock()
        self._load, self._audit = load, audit
        self.remembered: Recent[tuple[object, ...], Any] = Recent(most=REMEMBERED)
        self._opening = RLock()
        self._parts: Any = None
        self._table: ScoredTable | None = None
        self._explainers: dict[tuple[str, str, str | None], Explainer] = {}

    @property
    def opened(self) -> bool:
        """Whether the files were read."""
        return self._parts is not None

    @property
    def parts(self) -> Parts:
        """What the project consists of."""
        parts: Parts = self._read()
        return parts

    def _read(self) -> Any:
        with self._opening:
            if self._parts is None:
                self._parts = self._load()
            return self._parts

    @property
    def model(self) -> Any:
        """The model, wherever it runs."""
        return self._read().model

    @property
    def classes(self) -> tuple[object, ...] | None:
        """The labels the model decides between; None for a bare score."""
        return self.explainer().classes

    @property
    def model_hash(self) -> str | None:
        """The SHA-256 of the model's file, once it was read; None where there is none."""
        return None if self._parts is None else getattr(self._parts.model, "sha256", None)

    @property
    def table(self) -> ScoredTable:
        """The rows to look at, with the model's decisions."""
        with self._opening:
            if self._table is None:
                self._table = ScoredTable(self.parts.rows, self.explainer())
            return self._table

    @property
    def truth(self) -> Array | None:
        """The place of each row's true class, -1 where it is none; None where nothing is known."""
        labels, classes = self.parts.labels, self.classes
        if labels is None or classes is None:
            return None

        def read() -> Array | None:
            known = labels()
            return None if known is None else positions(known, classes)

        found: Array | None = self.remembered.get(("truth",), read)
        return found

    def explainer(
        self,
        method: str = DEFAULT_SEARCH,
        prefer: str = PREFERENCES[0],
        structure: str | None = None,
    ) -> Explainer:
        """The explainer with this search and preference; `structure` None is what it says."""
        choose("method", method, METHODS)
        choose("prefer", prefer, PREFERENCES)
        if structure is not None:
            choose("structure", structure, STRUCTURES)
        with self._opening:
            key = (method, prefer, structure)
            if key not in self._explainers:
                self._explainers[key] = self._made(method, prefer, structure)
            return self._explainers[key]

    def ready(self, method: str = DEFAULT_SEARCH, prefer: str = PREFERENCES[0]) -> bool:
        """Whether asking takes no more time than an answer does."""
        return self._table is not None and (method, prefer, None) in self._explainers

    def _made(self, method: str, prefer: str, structure: str | None) -> Explainer:
        """The explainer with other options, on what it has learnt."""
        whole = self._whole
        options = whole.engine.options
        search, liking = options.method, cast("Preference", prefer)
        if method != options.method.name:
            search = read_search(method, BUILT_IN)
        kept = structure or options.structure
        options = replace(options, method=search, prefer=liking, structure=kept)
        engine = Engine(whole.engine.fitted.with_options(options), whole.engine.constraints)
        audit = None if self._audit is None else self._audit(self.parts)
        return Explainer.of(engine, None if audit is None else Recorder(audit, engine))

    @cached_property
    def _whole(self) -> Explainer:
        """The explainer as the project says."""
        parts = self.parts
        return Explainer(
            parts.model,
            parts.training,
            schema=dict(parts.kinds),
            constraints=parts.constraints,
            classes=parts.classes,
            names=parts.names,
            structure=parts.structure,
            causes=parts.causes,
        )

    @contextmanager
    def turn(self) -> Iterator[None]:
        """The lock, for who gets it before the wait is over."""
        if not self.lock.acquire(timeout=WAIT_S):
            raise self.busy()
        try:
            yield
        finally:
            self.lock.release()

    def busy(self) -> UnavailableError:
        """What is said to who has waited in vain."""
        return UnavailableError(
            f"project {self.name!r} has been answering others for more than {WAIT_S:g} s", retry_s=5
        )

    def open(self) -> Project:
        """Read the files and ask the model about the rows, now."""
        _ = self.table
        return self


def choose(option: str, given: Any, known: tuple[str, ...]) -> None:
    """Raise unless an option has one of its values."""
    if given not in known:
        raise OptionError(f"{option} is one of {', '.join(known)}, not {given!r}")
