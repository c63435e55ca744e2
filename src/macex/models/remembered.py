"""What the model has said within a batch, so that no row of it is asked about twice.

A row is found by its key in one of a fixed number of slots. A later row may take an earlier one's
slot; that one is then asked about again. So looking up costs next to nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from macex.ask.answers import Answers
from macex.schema import Array

ROWS_A_QUERY = 512
MOST_SLOTS = 2**20  # of two scores; fewer where a row has more


@dataclass(frozen=True)
class Remembered:
    """Answers by the key of their row. All of a slot lies together, since finding it is what costs.

    >>> memory = Remembered.of(queries=1, width=2)
    >>> keys = np.array([7, 8], np.uint64)
    >>> memory.add(keys[:1], Answers(np.array([[0.2, 0.8]]), np.array([1])))
    >>> known, answers = memory.look(keys)
    >>> known.tolist(), answers.scores.tolist(), answers.decision.tolist()
    ([True, False], [[0.2, 0.8]], [1])
    """

    slots: Array  # (slots, 2 + width): the bits of the key, the decision, the scores

    @staticmethod
    def of(queries: int, width: int) -> Remembered:
        """Room for the rows that so many queries usually take."""
        most = max(1, MOST_SLOTS // max(1, width // 2))
        slots = 2 ** (min(most, 2 * queries * ROWS_A_QUERY).bit_length() - 1)
        return Remembered(np.zeros((slots, 2 + width)))

    def look(self, keys: Array) -> tuple[Array, Answers]:
        """Which rows are known, (n,) bool, and the answers for those."""
        held = self.slots.take(self._places(keys), axis=0)
        known = held.view(np.uint64)[:, 0] == keys
        held = held[known]
        return known, Answers(held[:, 2:], held[:, 1].astype(int))

    def add(self, keys: Array, answers: Answers) -> None:
        """Remember the answers for some rows."""
        lines = np.column_stack([keys.view(float), answers.decision, answers.scores])
        whole = np.dtype((np.void, lines.itemsize * lines.shape[1]))  # one cell is quicker to write
        self.slots.view(whole)[self._places(keys), 0] = lines.view(whole)[:, 0]

    def _places(self, keys: Array) -> Array:
        return (keys & np.uint64(len(self.slots) - 1)).astype(np.intp)
