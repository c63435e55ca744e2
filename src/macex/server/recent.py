"""Remembering the latest few results of something slow."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from threading import Lock
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class Recent(Generic[Key, Value]):
    """A cache of a limited number of values by key; each is made once.

    Who asks for a value that is being made waits for it, and for no other.

    >>> squares = Recent(most=2)
    >>> squares.get(3, lambda: 9), squares.get(3, lambda: 0)
    (9, 9)
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: OrderedDict[Key, Future[Value]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key; one that could not be made is tried again by the next who asks."""
        with self._lock:
            held = self._held.get(key)
            if held is not None:
                self._held.move_to_end(key)
        if held is not None:
            return held.result()
        return self._made(key, make)

    def _made(self, key: Key, make: Callable[[], Value]) -> Value:
        mine: Future[Value] = Future()
        with self._lock:
            held = self._held.setdefault(key, mine)
            while len(self._held) > self._most:
                self._held.popitem(last=False)
        if held is not mine:
            return held.result()
        try:
            mine.set_result(make())
        except BaseException as error:
            with self._lock:
                if self._held.get(key) is mine:
                    del self._held[key]
            mine.set_exception(error)
            raise
        return mine.result()
