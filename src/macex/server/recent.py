"""Remembering the latest few results of something slow."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import RLock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """At most so many values by key, made once each, whoever asks first.

    >>> squares = Recent(most=2)
    >>> squares.get(3, lambda: 9), squares.get(3, lambda: 0)
    (9, 9)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[Key, Value] = OrderedDict()
        self._lock = RLock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key."""
        with self._lock:
            if key not in self._held:
                self._held[key] = make()
                while len(self._held) > self._most:
                    self._held.popitem(last=False)
            self._held.move_to_end(key)
            return self._held[key]
