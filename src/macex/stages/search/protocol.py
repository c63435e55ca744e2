"""What a search is: the protocol of stage 2, open to searches of other packages.

The names of macex's own searches stand here, too: what `method=` takes and answers carry.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, Protocol, TypeGuard, runtime_checkable

from macex.stages.shapes import Candidates, Found, Task

if TYPE_CHECKING:
    from macex.stages.search.exhaustive import Exhaustive


EXHAUSTIVE: Final = "exhaustive"
REINFORCE: Final = "reinforce"
GRADIENTLESS: Final = "gradientless"
NEAREST_ROW: Final = "nearest row"  # the last resort, which nobody can ask for
DEFAULT_SEARCH: Final = EXHAUSTIVE

MOST_ROWS = 6000  # how many rows a query may cost, unless the search or the caller says


@runtime_checkable
class Search(Protocol):
    """Which candidates to combine: a frozen dataclass of options with one verb.

    Each round makes one call of `task.judge`, for all queries that are still open, and the answer
    for a query may not depend on the others: random numbers come from `task.draws`.
    """

    @property
    def name(self) -> str:
        """What `method=` and `Explanation.method` call it."""

    @property
    def max_rows(self) -> int:
        """The most rows a query may cost, unless the caller says."""

    @property
    def proves(self) -> bool:
        """Whether it tries fewer changes first and counts in `Found` what it tried whole."""

    @property
    def offered(self) -> Literal["all", "few"]:
        """Which candidates it wants: every value that is tried, or the few most promising."""

    def __call__(self, task: Task, candidates: Candidates) -> Found:
        """The examples that reach their goals, and what is proved of the rest."""


def by_levels(search: Search) -> TypeGuard[Exhaustive]:
    """Whether a search says `levels`: it goes level by level, by the options of `Exhaustive`.

    Such a search has a twin on a device, and for a series it goes on from the nearest miss.
    """
    return bool(getattr(search, "levels", False))
