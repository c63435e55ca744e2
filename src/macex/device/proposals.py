"""One device for many workers: they ask the process that holds it, which answers them together.

A device wants few, large operations, and a process that only asks needs neither torch nor memory on
the device. So workers send codes and goals to the process that started them. While the device is
busy requests gather; then they are one call.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from multiprocessing import AuthenticationError
from multiprocessing.connection import Client, Connection, Listener
from threading import Event, Lock, Thread
from typing import Any, NamedTuple, Protocol

import numpy as np

from macex.schema import Array


class Proposals(NamedTuple):
    """What a search on a device proposes for each row, as arrays of the host."""

    codes: Array  # (n, d)
    found: Array  # (n,) bool
    changed: Array  # (n,) int: how many columns differ


class Proposer(Protocol):
    """Whoever proposes counterfactuals, in this process or in another."""

    def __call__(
        self, codes: Array, goals: Sequence[Any], constraints: Any, margin: float
    ) -> Proposals:
        """A counterfactual for each row of codes (n, d), for its goal."""


class Asked(NamedTuple):
    """A request for proposals."""

    codes: Array
    goals: Sequence[Any]
    constraints: Any
    margin: float


class Gathered:
    """Requests of several threads: whoever gets the device answers all that wait by then.

    Examples
    --------
    >>> def none_found(codes, goals, constraints, margin):
    ...     return Proposals(codes, np.zeros(len(codes), bool), np.zeros(len(codes), int))
    >>> Gathered(none_found)(np.zeros((2, 3)), [None, None], None, 0.0).found.tolist()
    [False, False]
    """

    def __init__(self, propose: Proposer) -> None:
        self._propose = propose
        self._waiting: deque[tuple[Asked, Future[Proposals]]] = deque()
        self._device = Lock()

    def __call__(
        self, codes: Array, goals: Sequence[Any], constraints: Any, margin: float
    ) -> Proposals:
        """The proposals for one request."""
        future: Future[Proposals] = Future()
        self._waiting.append((Asked(codes, goals, constraints, margin), future))
        with self._device:
            if not future.done():
                self._answer([self._waiting.popleft() for _ in range(len(self._waiting))])
        return future.result()

    def _answer(self, waiting: list[tuple[Asked, Future[Proposals]]]) -> None:
        while waiting:
            first = waiting[0][0]
            alike = [one for one in waiting if one[0][2:] == first[2:]]
            waiting = [one for one in waiting if one[0][2:] != first[2:]]
            codes = np.concatenate([asked.codes for asked, _ in alike])
            goals = [goal for asked, _ in alike for goal in asked.goals]
            try:
                made = self._propose(codes, goals, *first[2:])
            except Exception as error:  # noqa: BLE001 - whoever waits is told
                self._failed(alike, error)
                continue
            ends = np.cumsum([len(asked.codes) for asked, _ in alike])[:-1]
            for (_, future), *parts in zip(
                alike, *(np.split(part, ends) for part in made), strict=True
            ):
                future.set_result(Proposals(*parts))

    def _failed(self, alike: list[tuple[Asked, Future[Proposals]]], error: Exception) -> None:
        """Tell the only one who asked; of several, those whose own request fails."""
        if len(alike) == 1:
            alike[0][1].set_exception(error)
            return
        for one in alike:
            self._answer([one])


@dataclass
class Borrowed:
    """The proposals of another process, asked through a connection."""

    address: Any
    key: bytes
    _connection: list[Connection[Any, Any]] = field(default_factory=list, repr=False)

    def __reduce__(self) -> Any:
        """A copy in another process has a connection of its own."""
        return Borrowed, (self.address, self.key)

    def __call__(
        self, codes: Array, goals: Sequence[Any], constraints: Any, margin: float
    ) -> Proposals:
        """A counterfactual for each row of codes (n, d), for its goal."""
        if not self._connection:
            self._connection.append(Client(self.address, authkey=self.key))
        connection = self._connection[0]
        connection.send(Asked(codes, goals, constraints, margin))
        made = connection.recv()
        if isinstance(made, Exception):
            raise made
        return Proposals(*made)


@contextmanager
def lent(propose: Proposer) -> Iterator[Borrowed]:
    """While it lasts other processes may ask this one for proposals."""
    key, over = os.urandom(32), Event()
    listener = Listener(authkey=key)
    arguments = (listener, Gathered(propose), over)
    Thread(target=_accept, args=arguments, daemon=True).start()
    try:
        yield Borrowed(listener.address, key)
    finally:
        over.set()
        Client(
            listener.address, authkey=key
        ).close()  # wakes the thread, which sees that it is over


def _accept(listener: Listener, propose: Proposer, over: Event) -> None:
    """Answer everybody who connects, each in a thread of its own."""
    with listener:
        while not over.is_set():
            with suppress(AuthenticationError, OSError, EOFError):
                connection = listener.accept()
                Thread(target=_serve, args=(connection, propose), daemon=True).start()


def _serve(connection: Connection[Any, Any], propose: Proposer) -> None:
    """Answer one process until it ends."""
    with suppress(EOFError, OSError), connection:
        while True:
            asked = connection.recv()
            try:
                made: Any = tuple(propose(*asked))
            except Exception as error:  # noqa: BLE001 - whoever asked is told
                made = error
            connection.send(made)
