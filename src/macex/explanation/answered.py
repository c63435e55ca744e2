"""What an explanation is to whoever counts, indexes or walks through it: its answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar, overload

from macex.errors import PlaceError
from macex.render.results import Result

AnswerT = TypeVar("AnswerT")


class Answered(Result, Generic[AnswerT]):
    """A result with counterfactuals, best first; one without any is false."""

    counterfactuals: tuple[AnswerT, ...]

    def __len__(self) -> int:
        return len(self.counterfactuals)

    @overload
    def __getitem__(self, at: int) -> AnswerT: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[AnswerT, ...]: ...
    def __getitem__(self, at: int | slice) -> AnswerT | tuple[AnswerT, ...]:
        try:
            return self.counterfactuals[at]
        except IndexError:
            held = f"{len(self)} counterfactual{'s' * (len(self) != 1)}"
            raise PlaceError(f"there is no answer {at}: the row has {held}, from 0") from None

    def __iter__(self) -> Iterator[AnswerT]:
        return iter(self.counterfactuals)
