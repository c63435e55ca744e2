"""The series explainer's options: names and objects a caller may give for each stage."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

from macex.errors import OptionError, closest
from macex.explainer.options import Search, search_name
from macex.series.nearness import NearCases
from macex.series.segments import Segments
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.gradientless import GradientlessSearch
from macex.stages.search.reinforce import Reinforce
from macex.stages.selection import Selection
from macex.stages.shapes import Prefer

# With hundreds of channels a level cannot be scored whole: from the best single channels on, the
# few best combinations are extended by the channels that go farthest alone.
SEARCHES: dict[str, Search] = {
    "exhaustive": Exhaustive(
        max_rows=5000, beam=64, more=1, parents=8, depth=1, narrow=64, deepest=4
    ),
    "reinforce": Reinforce(max_columns=48),
    "gradientless": GradientlessSearch(),
}
PREFERENCES: tuple[Prefer, ...] = ("fewest", "nearest", "surest")


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
    def method_name(self) -> str:
        """The name of the search."""
        return search_name(self.method)

    def chain(self) -> list[Search]:
        """The search, and those that are tried when it finds nothing."""
        others = [s for s in SEARCHES.values() if type(s) is not type(self.method)]
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
    if not isinstance(prefer, str) or prefer not in PREFERENCES:
        raise OptionError(f"prefer={prefer!r}{closest(prefer, PREFERENCES)}")
    if isinstance(random_state, bool) or not isinstance(random_state, Integral):
        raise OptionError(f"random_state must be a whole number, not {random_state!r}")
    if not isinstance(fallback, bool):
        raise OptionError(f"fallback must be True or False, not {fallback!r}")
    named = {"diverse": Selection(), "printed": Selection(uses=3, printed=True)}
    return SeriesOptions(
        candidates=_choose("candidates", candidates, {"neighbors": NearCases()}, (NearCases,)),
        method=_choose("method", method, SEARCHES, (Exhaustive, Reinforce, GradientlessSearch)),
        selection=_choose("selection", selection, named, (Selection,)),
        finetune=None
        if finetune is None
        else _choose("finetune", finetune, {"segments": Segments()}, (Segments,)),
        prefer=prefer,
        fallback=fallback,
        random_state=int(random_state),
    )


def _choose(option: str, given: Any, named: Any, kinds: tuple[type, ...]) -> Any:
    if isinstance(given, kinds):
        return given
    if isinstance(given, str) and given in named:
        return named[given]
    objects = " or ".join(kind.__name__ for kind in kinds)
    raise OptionError(f"{option}={given!r}: give {objects}, or a name{closest(given, named)}")
