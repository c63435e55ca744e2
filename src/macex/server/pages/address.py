"""The state of a page is its address, so that a link shows a colleague the same view.

decision, q, where, sort, page      which rows, in which order
want, least, most, n, method, prefer    what is asked
may.COLUMN, low.COLUMN, high.COLUMN, allow.COLUMN, max, rules    what may change
since.CHANNEL, until.CHANNEL        between which times what is said of a channel holds
a.COLUMN, b.COLUMN                  what if: the cells of two variants that differ from the row
two                                 whether the second variant is shown
curve, mapx, mapy, compare          which column has its curve, which two a map, the comparison
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

LISTING = ("decision", "q", "where", "sort", "page")
ASKING = ("want", "least", "most", "n", "method", "prefer")
LIMITING = ("may.", "low.", "high.", "since.", "until.", "allow.", "max", "rules")
VARIANTS = ("a", "b")
CELLS = ("a.", "b.")  # here no text is a missing value, and says something

Pair = tuple[str, str]


class Address:
    """The parameters of an address, in their order.

    >>> str(Address([("q", "Oslo"), ("n", ""), ("a.job", ""), ("may.age", "keep")]))
    'q=Oslo&a.job=&may.age=keep'
    """

    def __init__(self, pairs: Iterable[Pair] = ()) -> None:
        said = (pair for pair in pairs if pair[1] != "" or pair[0].startswith(CELLS))
        self.pairs: tuple[Pair, ...] = tuple(said)

    def __str__(self) -> str:
        return urlencode(self.pairs)

    def one(self, name: str, otherwise: str = "") -> str:
        """The last value of a parameter."""
        return next((value for key, value in reversed(self.pairs) if key == name), otherwise)

    def under(self, prefix: str) -> dict[str, list[str]]:
        """The values of all parameters with a prefix such as `may.`, by what follows it."""
        found: dict[str, list[str]] = {}
        for key, value in self.pairs:
            if key.startswith(prefix):
                found.setdefault(key.removeprefix(prefix), []).append(value)
        return found

    def cells(self, variant: str) -> dict[str, str]:
        """What was typed for a variant, by column."""
        return {column: values[-1] for column, values in self.under(f"{variant}.").items()}

    def parts(self, *names: str) -> tuple[Pair, ...]:
        """The parameters of these names; a name that ends in a dot is a prefix."""
        return tuple(pair for pair in self.pairs if _named(pair[0], names))

    def only(self, *names: str) -> Address:
        """The address with these parameters alone."""
        return Address(self.parts(*names))

    def without(self, *names: str) -> Address:
        """The address without these parameters."""
        return Address(pair for pair in self.pairs if not _named(pair[0], names))

    def having(self, values: Mapping[str, object]) -> Address:
        """The address with some parameters replaced; None takes one out."""
        kept = [pair for pair in self.pairs if pair[0] not in values]
        new = [(key, str(value)) for key, value in values.items() if value is not None]
        return Address([*kept, *new])

    def varied(self, variant: str, cells: Mapping[str, str]) -> Address:
        """The address with these cells, and no others, as a variant."""
        new = [(f"{variant}.{column}", text) for column, text in cells.items()]
        return Address([*self.without(f"{variant}.").pairs, *new])


def _named(key: str, names: Sequence[str]) -> bool:
    return any(key.startswith(name) if name.endswith(".") else key == name for name in names)
