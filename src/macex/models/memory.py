"""What the model has said within a call, so that no row of it is asked about twice.

Answers lie in the order in which they came, and a table of slots says where: a row's key points to
one slot. A later row may take an earlier one's slot; that one is then asked about again. When the
space is full it is reused from the start.
"""

from __future__ import annotations

import numpy as np

from macex.ask.answers import Answers
from macex.schema import Array

ROWS_A_QUERY = 256
MOST_ROWS = 2**20  # of two scores; fewer where a row has more


class Remembered:
    """Answers by the key of their row.

    >>> memory = Remembered(rows=8, width=2)
    >>> place, new = memory.places(np.array([7, 8, 7], np.uint64))
    >>> place.tolist(), new.tolist()
    ([1, 2, 1], [0, 1])
    >>> memory.write(place[new], Answers(np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([1, 0])))
    >>> place, new = memory.places(np.array([8], np.uint64))
    >>> memory.answers(place)[0].scores.tolist(), new.tolist()
    ([[0.9, 0.1]], [])
    """

    def __init__(self, rows: int, width: int) -> None:
        self.most = max(1, MOST_ROWS // max(1, width // 2))
        rows = min(rows, self.most)
        self._table = np.zeros(2 ** max(1, (2 * rows - 1).bit_length()), np.int32)  # slot -> place
        self._keys = np.empty(1 + rows, np.uint64)
        self._scores = np.empty((1 + rows, width))
        self._decision = np.empty(1 + rows, int)
        self._done = np.empty(1 + rows, bool)
        self._keys[0], self._used = 0, 1  # nothing lies in the first place

    @staticmethod
    def of(queries: int, width: int) -> Remembered:
        """Room for the rows that `queries` usually need."""
        return Remembered(queries * ROWS_A_QUERY, width)

    def places(self, keys: Array) -> tuple[Array, Array]:
        """Where the answer of each row lies or will lie, and which rows are to be asked about.

        Those are the first of their kind.
        """
        self._make_room(len(keys))
        slot = (keys & np.uint64(len(self._table) - 1)).astype(np.intp)
        place = self._table.take(slot)
        fresh = np.flatnonzero(self._keys.take(place) != keys)
        if not len(fresh):
            return place, fresh
        mine = np.arange(self._used, self._used + len(fresh), dtype=np.int32)
        self._used += len(fresh)
        self._keys[mine[0] : self._used], self._done[mine[0] : self._used] = keys[fresh], False
        slot = slot[fresh]
        self._table[slot[::-1]] = mine[::-1]
        lead = self._table.take(slot)
        other = np.flatnonzero(self._keys.take(lead) != keys[fresh])  # another has their slot
        if len(other):
            _, first, group = np.unique(keys[fresh[other]], return_index=True, return_inverse=True)
            lead[other] = mine[other[first]][group.reshape(-1)]
        place[fresh] = lead
        return place, fresh[lead == mine]

    def apart(self, count: int) -> tuple[Array, Array]:
        """Places for `count` rows, all of them to be asked about, even if some are equal."""
        self._make_room(count)
        start, self._used = self._used, self._used + count
        self._done[start : self._used] = False
        return np.arange(start, self._used), np.arange(count)

    def write(self, place: Array, found: Answers) -> None:
        """Take the answers for some places."""
        self._scores[place], self._decision[place] = found
        self._done[place] = True

    def answers(self, place: Array) -> tuple[Answers, Array]:
        """The answers at some places, and which of them there are; the others are 0."""
        scores, decision = self._scores.take(place, axis=0), self._decision.take(place)
        done = self._done.take(place)
        if not done.all():
            scores[~done], decision[~done] = 0.0, 0
        return Answers(scores, decision), done

    def forget(self, place: Array) -> None:
        """Ask about the rows of some places again: they have no answer."""
        self._keys[place] = ~self._keys[place]

    def _make_room(self, count: int) -> None:
        if self._used + count <= len(self._keys):
            return
        if self._used + count > self.most:
            self._used = 1
            self._table[:] = 0
        more = max(self._used + count - len(self._keys), 0)
        if more:
            more = max(more, len(self._keys))
            self._keys = _longer(self._keys, more)
            self._scores = _longer(self._scores, more)
            self._decision = _longer(self._decision, more)
            self._done = _longer(self._done, more)


def _longer(held: Array, more: int) -> Array:
    return np.concatenate([held, np.empty((more, *held.shape[1:]), held.dtype)])
