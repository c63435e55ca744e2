"""Causes between columns as people state them: a graph, and how each effect comes about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from macex.ask.constraints import Constraints
from macex.ask.expressions import parse
from macex.causes.graphs import drawn, edges_read, in_order
from macex.errors import ConstraintError, closest
from macex.schema import Schema

FITTED = ("auto", "linear", "splines", "trees", "table")
EFFECTS = ("individual", "average")
PARTS = ("edges", "mechanisms", "effects", "noise")


@dataclass(frozen=True)
class Causes:
    """Which columns cause which, so that what follows from a change is known.

    An answer of an explainer with causes is a set of *interventions*. A column that is set no
    longer follows its causes; every other column follows, by abduction, action and prediction: what
    is particular about the row, its noise, is kept.

    Parameters
    ----------
    edges : effect -> its causes; or pairs (cause, effect), a networkx DiGraph, DOT or GML (a text
        or the path of a file), or a fitted model of DoWhy's `gcm`.
    mechanisms : effect -> an expression of its causes and its noise `u`, such as
        `"0.3 * income + u"`; or `"linear"`, `"splines"` or `"trees"` for a number and `"table"` for
        a category, fitted from training rows; or a regressor or classifier of scikit-learn's kind.
        An effect without a mechanism has the one that predicts unseen training rows best.
    effects : `"individual"`, or `"average"` where no mechanism with additive noise can be believed:
        what follows is then that of the *subpopulation* of rows alike. A column that follows
        becomes what is usual for its causes (the conditional average, or the most likely value),
        and what is particular about the row is lost. Answers say so ("follows on average").
    noise : what expressions call the noise, where `u` is a column.

    >>> causes = Causes({"savings": ["income"]}, {"savings": "0.3 * income + u"})
    >>> Causes.from_dict(causes.to_dict()) == causes, causes.effects_of("income")
    (True, ('savings',))
    """

    edges: Any = None
    mechanisms: Mapping[str, Any] = field(default_factory=dict)
    effects: str = "individual"
    noise: str = "u"

    def __post_init__(self) -> None:
        """Bring the graph into one form, and refuse what contradicts it."""
        if self.effects not in EFFECTS:
            raise ConstraintError(f"effects={self.effects!r}{closest(self.effects, EFFECTS)}")
        if not isinstance(self.noise, str) or not self.noise.isidentifier():
            raise ConstraintError(f"noise is a name such as 'u', not {self.noise!r}")
        given = {} if self.mechanisms is None else self.mechanisms
        if not isinstance(given, Mapping):
            raise ConstraintError(
                "mechanisms takes a mapping such as {'savings': '0.3 * income + u'}, not "
                f"{type(given).__name__}"
            )
        edges = edges_read(self.edges)
        learnt = {str(name): one for name, one in given.items()} | _learnt(self.edges, edges, given)
        for name, mechanism in learnt.items():
            edges[name] = self._parents(name, mechanism, edges.get(name))
        object.__setattr__(self, "edges", dict(sorted(edges.items())))
        object.__setattr__(self, "mechanisms", dict(sorted(learnt.items())))
        if not edges:
            raise ConstraintError("causes need at least one edge, such as {'income': ['age']}")
        in_order(edges)

    def _parents(
        self, name: str, mechanism: Any, stated: tuple[str, ...] | None
    ) -> tuple[str, ...]:
        """The causes of an effect with a mechanism: those of the graph, or those it reads."""
        if not is_expression(mechanism):
            if stated is None:
                raise ConstraintError(f"{name!r} has a mechanism but no causes: add its edges")
            return stated
        expression = parse(mechanism)
        if expression.reads_old:
            raise ConstraintError(f"the mechanism of {name!r} cannot read old values")
        reads = tuple(sorted(expression.reads_now - {self.noise}))
        if not reads and stated is None:
            raise ConstraintError(f"the mechanism of {name!r}, {mechanism!r}, reads no cause")
        unstated = sorted(set(reads) - set(reads if stated is None else stated))
        if unstated == [mechanism]:
            raise ConstraintError(
                f"the mechanism of {name!r} is {mechanism!r}, which is none of its causes and no "
                f"way to fit one{closest(mechanism, FITTED)}"
            )
        if unstated:
            raise ConstraintError(
                f"the mechanism of {name!r} reads {unstated[0]!r}, which is none of its causes "
                f"{', '.join(map(repr, stated or ()))}: add the edge, or leave it out"
            )
        return reads if stated is None else stated

    @property
    def order(self) -> list[str]:
        """The columns that have causes, causes first."""
        return in_order(self.edges)

    @property
    def columns(self) -> frozenset[str]:
        """All columns of the graph."""
        return frozenset(self.edges) | {name for parents in self.edges.values() for name in parents}

    def effects_of(self, column: str) -> tuple[str, ...]:
        """The columns that follow from a change of one, near ones and far ones, causes first."""
        reached = {column}
        for child in self.order:
            if reached.intersection(self.edges[child]):
                reached.add(child)
        return tuple(child for child in self.order if child in reached and child != column)

    def check(self, schema: Schema) -> None:
        """Raise for a column that the rows do not have."""
        for name in sorted(self.columns):
            if name not in schema.names:
                raise ConstraintError(f"causes name no column {name!r}{schema.hint(name)}")
        stated = any(is_expression(one) for one in self.mechanisms.values())
        if stated and self.noise in schema.names:
            raise ConstraintError(
                f"{self.noise!r} is a column and the noise of mechanisms: give the noise another "
                "name, such as noise='own'"
            )

    def to_dict(self) -> dict[str, Any]:
        """The causes as JSON or TOML can hold them; live objects are an error."""
        for name, mechanism in self.mechanisms.items():
            if not isinstance(mechanism, str):
                raise ConstraintError(
                    f"the mechanism of {name!r} is a live object and cannot be written down: state "
                    f"an expression, or one of {', '.join(FITTED)}"
                )
        return {
            "edges": {child: list(parents) for child, parents in self.edges.items()},
            **({"mechanisms": dict(self.mechanisms)} if self.mechanisms else {}),
            **({"effects": self.effects} if self.effects != EFFECTS[0] else {}),
            **({"noise": self.noise} if self.noise != "u" else {}),
        }

    @staticmethod
    def from_dict(stored: Any) -> Causes:
        """The causes that were written down; an unknown part is an error."""
        if not isinstance(stored, Mapping):
            raise ConstraintError(f"causes are a table with edges, not {stored!r}")
        for name in stored:
            if name not in PARTS:
                raise ConstraintError(f"causes have no part {name!r}{closest(name, PARTS)}")
        return Causes(**stored)

    def __iter__(self) -> Iterator[tuple[str, str]]:
        """The edges, as pairs (cause, effect)."""
        return ((parent, child) for child, parents in self.edges.items() for parent in parents)

    def _repr_html_(self) -> str:
        """The graph as a picture, for notebooks."""
        return drawn(self.edges)

    def __repr__(self) -> str:
        lines = [
            f"{child} <- {', '.join(parents)}{self._by(child)}"
            for child, parents in self.edges.items()
        ]
        return "\n".join(lines)

    def _by(self, child: str) -> str:
        how = self.mechanisms.get(child, "auto")
        return f": {how if isinstance(how, str) else type(how).__name__}"


def is_expression(mechanism: Any) -> bool:
    """Whether a mechanism is stated rather than fitted."""
    return isinstance(mechanism, str) and mechanism not in FITTED


def read_causes(given: Any) -> Causes | None:
    """Causes from what a caller may pass: none, an object, or a graph in any form."""
    if given is None or isinstance(given, Causes):
        return given
    written = isinstance(given, Mapping) and given.keys() <= set(PARTS)
    return Causes.from_dict(given) if written and given else Causes(given)


def _learnt(given: Any, edges: Mapping[str, Any], stated: Mapping[str, Any]) -> dict[str, Any]:
    """The mechanisms that a fitted model of DoWhy has for the columns with causes."""
    mechanism = getattr(given, "causal_mechanism", None)
    if mechanism is None:
        return {}
    found = {child: mechanism(child) for child in edges if child not in stated}
    return {child: one for child, one in found.items() if hasattr(one, "estimate_noise")}


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
