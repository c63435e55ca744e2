"""The series explainer's options: names and objects a caller may give for each stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from macex.engine.options import (
    SELECTIONS,
    check_common,
    choose,
    read_search,
    stage_read,
    stage_written,
)
from macex.errors import OptionError
from macex.series.nearness import NearCases
from macex.series.segments import Segments
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.gradientless import GradientlessSearch
from macex.stages.search.protocol import EXHAUSTIVE, GRADIENTLESS, REINFORCE, Search
from macex.stages.search.reinforce import Reinforce
from macex.stages.selection import Selection
from macex.stages.shapes import Prefer

BEYOND = 4000  # rows beside those that score every channel once
# With hundreds of channels a level cannot be scored whole: from the best single channels on, the
# few best combinations are extended by the channels that go farthest alone.
SEARCHES: dict[str, Search] = {
    EXHAUSTIVE: Exhaustive(
        max_rows=5000, beam=64, more=1, parents=8, depth=1, narrow=64, deepest=4
    ),
    REINFORCE: Reinforce(max_columns=48),
    GRADIENTLESS: GradientlessSearch(),
}


@dataclass(frozen=True)
class SeriesOptions:
    """One object for every stage."""

    candidates: NearCases
    method: Search
    selection: Selection
    finetune: Segments | None
    prefer: Prefer
    fallback: bool
    random_state: int

    @property
    def steady(self) -> bool:
        """Whether answers are to keep off the edge."""
        return self.prefer == "fewest" and (self.finetune is None or self.finetune.stable > 0)

    def rows_for(self, channels: int) -> int:
        """How many samples a query may cost by default, for cases with this many channels.

        The default search can score every channel of one neighbor; a search that a caller made
        keeps to its own limit.
        """
        own = self.method.max_rows
        default = SEARCHES.get(self.method.name) == self.method
        return max(own, channels + BEYOND) if default else own

    def chain(self) -> list[Search]:
        """The search, and those that are tried when it finds nothing."""
        others = [s for s in SEARCHES.values() if s.name != self.method.name]
        return [self.method, *(others if self.fallback else [])]


def read_options(
    *,
    candidates: Any,
    method: Any,
    selection: Any,
    finetune: Any,
    prefer: Any,
    fallback: Any,
    random_state: Any,
) -> SeriesOptions:
    """Options from what a caller gave; a wrong one is an error that names the right ones."""
    check_common(prefer, fallback, random_state)
    if prefer == "plausible":
        raise OptionError('prefer="plausible" is for tables: samples are not ranked by it')
    return SeriesOptions(
        candidates=choose("candidates", candidates, {"neighbors": NearCases()}, (NearCases,)),
        method=read_search(method, SEARCHES),
        selection=choose("selection", selection, SELECTIONS, (Selection,)),
        finetune=None
        if finetune is None
        else choose("finetune", finetune, {"segments": Segments()}, (Segments,)),
        prefer="fewest" if prefer == "balanced" else prefer,
        fallback=fallback,
        random_state=int(random_state),
    )


def written_options(options: SeriesOptions) -> dict[str, Any]:
    """The options as JSON, each stage with its name."""
    plain = {"prefer", "fallback", "random_state"}
    given = vars(options).items()
    return {name: value if name in plain else stage_written(value) for name, value in given}


def options_read(stored: Mapping[str, Any]) -> SeriesOptions:
    """The options that were written."""
    own = {kind.__name__: kind for kind in (NearCases, Segments)}
    return read_options(**{name: stage_read(value, own) for name, value in stored.items()})
