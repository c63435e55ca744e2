"""By which ways a protected column changes decisions: by itself, or through what follows from it.

A column is set to another value, and what is particular about every row is kept. What follows then
follows along all ways of the causal graph (Kusner et al., 2017: a decision that changes is not
counterfactually fair), or along none, or along all but those that lead through columns which may
count (Kilbertus et al., 2017: resolving variables). These are held at the row's own values.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from macex.cohort.estimates import Estimate
from macex.errors import OptionError, closest

if TYPE_CHECKING:
    from macex.ask.space import Caused
    from macex.causes import CausalModel
    from macex.engine.engine import Engine


@dataclass(frozen=True)
class Pathway:
    """What one other value of a column, drawn as in training, does along some ways.

    `ways` is `"every"`, `"direct"` (nothing follows) or `"otherwise"` (all ways but those through
    `through`); `some` is the share of rows that some value changes, `one` that of decisions that
    one value does.
    """

    column: str
    ways: str
    through: tuple[str, ...]
    some: Estimate
    one: Estimate


def through_columns(engine: Engine, columns: Sequence[str], given: Any) -> tuple[str, ...]:
    """The columns through which the others may count, checked."""
    if not isinstance(given, Iterable):
        raise OptionError(f"through takes names of columns, e.g. ['income'], not {given!r}")
    names = (given,) if isinstance(given, str) else tuple(dict.fromkeys(given))
    if not names:
        return ()
    causes = engine.options.causes
    if causes is None:
        raise OptionError(
            "through= names columns that follow from protected ones, so it needs causes: "
            "Explainer(..., causes=mx.Causes(...))"
        )
    follow = {name for column in columns for name in causes.effects_of(column)}
    for name in names:
        if name not in follow:
            hint = closest(name, follow) if follow else ""
            raise OptionError(f"through: {name!r} does not follow from what is protected{hint}")
    return names


def open_ways(
    engine: Engine, column: str, through: tuple[str, ...]
) -> Iterator[tuple[str, tuple[str, ...], dict[int, Caused]]]:
    """What the ways are called, the columns held that may count, and what follows along them."""
    causal = engine.fitted.causal
    follow = () if causal is None else causal.causes.effects_of(column)
    if causal is None or not follow:
        return
    held = tuple(name for name in through if name in follow)
    yield "every", held, _but(causal, ())
    yield "direct", held, _but(causal, causal.schema.names)
    if held:
        yield "otherwise", held, _but(causal, held)


def _but(causal: CausalModel, held: Sequence[str]) -> dict[int, Any]:
    """The mechanisms of all effects but those that are held."""
    places = {causal.schema.position(name) for name in held}
    return {place: one for place, one in causal.mechanisms if place not in places}
