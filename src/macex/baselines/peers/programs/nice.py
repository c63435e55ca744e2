"""NICEx, the NICE of Brughmans, Leyman and Martens (2023), whose predictions are the parent's.

It starts from the nearest training row that reaches the goal and takes over one column after the
other, by the reward that `optimization` names.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Program:
    """The training rows, and NICE for each goal."""

    def __init__(self, ask: Any, options: dict[str, Any]) -> None:
        import nice  # noqa: F401 - fail now if it is not there

        self.ask, self.optimization = ask, options["optimization"]
        self.made: dict[str, Any] = {}  # by goal

    def open(self, head: dict[str, Any], arrays: list[Any]) -> None:
        """Take the training rows."""
        self.categories = [
            place for place, name in enumerate(head["columns"]) if name not in head["precision"]
        ]
        self.made.clear()
        self.training = arrays[0].astype(float)

    def chances(self, rows: Any) -> Any:
        """The chance of missing the goal and of reaching it, (n, 2)."""
        score = self.ask(np.asarray(rows, dtype=float))
        return np.column_stack([1 - score, score])

    def goal(self, head: dict[str, Any], arrays: list[Any]) -> None:
        """Make NICE for a goal; it asks for the scores of all training rows."""
        from nice import NICE

        self.made[head["goal"]] = NICE(
            self.chances,
            self.training.copy(),
            self.categories,
            y_train=arrays[0].astype(int),
            optimization=self.optimization,
            justified_cf=False,
        )

    def explain(self, head: dict[str, Any], arrays: list[Any]) -> Any:
        """The row that NICE offers for a query, (1, columns)."""
        query = arrays[0][None].astype(float)
        return np.asarray(self.made[head["goal"]].explain(query, [1]), dtype=float)
