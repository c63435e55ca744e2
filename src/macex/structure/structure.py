"""All relations that were found in the training rows, as one value."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any, overload

from macex.errors import ConstraintError
from macex.schema import Schema
from macex.structure.relations import Arithmetic, Determination, Linear, Relation, relation_from

HEADS = ("relation", "rows", "exceptions", "example")
SHOWN = 40
PRIVATE_ROWS = 10  # fewer rows with a value would show them


@dataclass(frozen=True, repr=False)
class Structure(Sequence[Relation]):
    """What holds between the columns of the training rows: a list of relations.

    >>> from macex.structure.relations import Order
    >>> Structure((Order(columns=("net", "gross"), support=500, example=(80, 100)),))
    1 relation in the training rows
      net <= gross  500 rows  no exceptions  80, 100
    """

    relations: tuple[Relation, ...] = ()

    def __len__(self) -> int:
        return len(self.relations)

    @overload
    def __getitem__(self, at: int) -> Relation: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Relation, ...]: ...
    def __getitem__(self, at: int | slice) -> Relation | tuple[Relation, ...]:
        return self.relations[at]

    def to_list(self) -> list[dict[str, Any]]:
        """The relations as JSON or TOML can hold them."""
        return [relation.to_dict() for relation in self.relations]

    @staticmethod
    def from_list(stored: Iterable[Any]) -> Structure:
        """The relations that were written down."""
        if isinstance(stored, str) or not isinstance(stored, Iterable):
            raise ConstraintError(f"structure is a list of relations, not {stored!r}")
        return Structure(
            tuple(one if isinstance(one, Relation) else relation_from(one) for one in stored)
        )

    def about(self, *columns: str) -> Structure:
        """The relations that speak of any of these columns."""
        return Structure(tuple(r for r in self.relations if set(columns) & set(r.columns)))

    @property
    def binding(self) -> Structure:
        """The relations that answers keep: those without exceptions, and formulas."""
        return Structure(tuple(filter(binds, self.relations)))

    def private(self, schema: Schema) -> Structure:
        """The same without any training row: no examples, and no pair of values of few rows."""
        return Structure(tuple(_private(relation, schema) for relation in self.relations))

    def __repr__(self) -> str:
        if not self.relations:
            return "no relations in the training rows"
        table = [_cells(relation) for relation in self.relations[:SHOWN]]
        widths = [max(map(len, cells)) for cells in zip(*table, strict=True)]
        lines = ["  ".join(map(str.ljust, cells, widths)).rstrip() for cells in table]
        count = len(self.relations)
        head = f"{count} relation{'s' * (count != 1)} in the training rows"
        more = [f"… and {count - SHOWN} more"] * (count > SHOWN)
        return "\n  ".join([head, *lines, *more])

    def _repr_html_(self) -> str:
        if not self.relations:
            return "<p>no relations in the training rows</p>"
        heads = "".join(f'<th scope="col">{head}</th>' for head in HEADS)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in _cells(relation))}</tr>"
            for relation in self.relations
        )
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"


def binds(relation: Relation) -> bool:
    """Whether answers keep it: a formula with a few exceptions still says what follows."""
    return relation.exceptionless or isinstance(relation, Arithmetic | Linear | Determination)


def _private(relation: Relation, schema: Schema) -> Relation:
    if not isinstance(relation, Determination):
        return replace(relation, example=None)
    first = schema.columns[schema.position(relation.columns[0])]
    rows = dict(zip(first.seen.tolist(), first.counts.tolist(), strict=True))
    pairs = tuple(p for p in relation.pairs if rows.get(first.code(p[0]), 0) >= PRIVATE_ROWS)
    return replace(relation, example=None, pairs=pairs)


def _cells(relation: Relation) -> tuple[str, str, str, str]:
    exceptions = f"{relation.exceptions:,} exception{'s' * (relation.exceptions != 1)}"
    values = ("missing" if value is None else str(value) for value in relation.example or ())
    return (
        relation.text,
        f"{relation.support:,} rows",
        exceptions if relation.exceptions else "no exceptions",
        ", ".join(values),
    )
