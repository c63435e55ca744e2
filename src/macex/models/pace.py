"""How long a call will take: a price of its own, and a price for each row."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Pace:
    """What calls have taken, and from that how many rows fit into a time.

    >>> pace = Pace()
    >>> for rows in (1, 3):
    ...     pace.add(rows, 0.3 + 0.001 * rows)
    >>> pace.rows_in(0.5)
    12
    """

    calls: int = 0
    rows: float = 0.0
    seconds: float = 0.0
    squares: float = 0.0  # of rows
    products: float = 0.0  # of rows and seconds
    largest: int = 0

    def add(self, rows: int, seconds: float) -> None:
        """Take a call into account."""
        self.calls += 1
        self.rows += rows
        self.seconds += seconds
        self.squares += rows * rows
        self.products += rows * seconds
        self.largest = max(self.largest, rows)

    def rows_in(self, seconds: float) -> int:
        """Rows whose own price is `seconds`, but no leap beyond what was tried.

        As long as all calls were of one size the price of a row cannot be told from that of a
        call: then twice that size is tried, or more where even the whole price allows it.
        """
        variance = self.squares - self.rows * self.rows / self.calls
        if variance <= 0:
            return int(max(seconds * self.rows / max(self.seconds, 1e-9), 2 * self.largest))
        slope = (self.products - self.rows * self.seconds / self.calls) / variance
        return int(min(seconds / max(slope, 1e-9), 4 * self.largest))
