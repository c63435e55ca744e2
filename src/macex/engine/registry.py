"""The searches that `method=` knows by name: macex's own, and those of installed packages.

A package registers a search as an entry point of the group `macex.searches`; the entry point names
a class that can be made without arguments, or an object.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.metadata import entry_points
from typing import Any

from macex.errors import OptionError, closest
from macex.stages.search.exhaustive import Exhaustive
from macex.stages.search.gradientless import GradientlessSearch
from macex.stages.search.names import DEFAULT_SEARCH
from macex.stages.search.protocol import Search
from macex.stages.search.reinforce import Reinforce

GROUP = "macex.searches"
BUILT_IN: dict[str, Search] = {
    one.name: one for one in (Exhaustive(), Reinforce(), GradientlessSearch())
}


@cache
def registered() -> Mapping[str, Search]:
    """The searches of installed packages, by name."""
    found: dict[str, Search] = {}
    for point in entry_points(group=GROUP):
        made = point.load()
        made = made() if isinstance(made, type) else made
        if not isinstance(made, Search):
            raise OptionError(f"{point.value}, registered as a search, is none: {lacking(made)}")
        if point.name != made.name or point.name in BUILT_IN:
            raise OptionError(f"{point.value} is registered as {point.name!r}, not {made.name!r}")
        found[point.name] = made
    return found


def search_names() -> tuple[str, ...]:
    """The names of all searches, the default first."""
    return (*BUILT_IN, *sorted(registered()))


def read_search(given: Any, own: Mapping[str, Search]) -> Search:
    """A search from an object or a name; `own` are the searches of macex itself."""
    if isinstance(given, str):
        known = {**own, **registered()}
        if given in known:
            return known[given]
        raise OptionError(f"method={given!r}{closest(given, known)}")
    if isinstance(given, type) or not isinstance(given, Search):
        raise OptionError(f"method={given!r} is no search: {lacking(given)}")
    return given


def lacking(given: Any) -> str:
    """What an object lacks to be a search."""
    if isinstance(given, type):
        return f"give an object, {given.__name__}(), or a name such as {DEFAULT_SEARCH!r}"
    parts = ("name", "max_rows", "proves", "offered", "__call__")
    missing = [part for part in parts if not hasattr(given, part)]
    return f"it has no {', '.join(missing)}" if missing else "it cannot be called"
