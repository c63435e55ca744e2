"""Where constraints contradict causes: a column has one way of coming about, and no circles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from macex.ask.expressions import parse
from macex.causes.graphs import in_order
from macex.errors import ConstraintError

if TYPE_CHECKING:
    from macex.ask.constraints import Constraints
    from macex.causes.causes import Causes


def check_causes(constraints: Constraints, causes: Causes) -> None:
    """Raise for constraints that say otherwise than causes how a column comes about."""
    edges = causes.edges
    for name in constraints.derived:
        if name in edges:
            raise ConstraintError(
                f"{name!r} is derived and has causes: state how it comes about once"
            )
    for group in constraints.groups:
        for name in group:
            if name in edges:
                raise ConstraintError(
                    f"{name!r} has causes and cannot be in the group {list(group)}: it follows them"
                )
    derived = {
        name: sorted(parse(text).reads_now)
        for name, text in constraints.derived.items()
        if isinstance(text, str)
    }
    if derived:
        try:
            in_order({**edges, **derived})
        except ConstraintError as error:
            raise ConstraintError(f"together with derived columns, {error}") from error
