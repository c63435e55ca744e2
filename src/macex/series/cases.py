"""Cases at the door: arrays (cases, channels, time), or lists of (channels, time) arrays.

Inside, channels come before time, whatever the caller's layout. Nothing is copied on the way in, so
that a memory-mapped array stays on its disk. Where channels and time look as
if they were mistaken for each other, a caller who did not say the layout is asked.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from zlib import crc32

import numpy as np

from macex.errors import OptionError, SchemaError, closest
from macex.schema import Array
from macex.series.frames import Framed, framed, is_frame

Layout = Literal["channels_first", "channels_last"]
AXES: dict[str, tuple[str, str]] = {
    "channels_first": ("channels", "time"),
    "channels_last": ("time", "channels"),
}


@dataclass(frozen=True, eq=False)
class Cases:
    """Series of equal length as one array (n, channels, time), or of any length as a list."""

    values: Array | list[Array]
    layout: Layout

    def __len__(self) -> int:
        return len(self.values)

    @property
    def even(self) -> bool:
        """Whether all cases are parts of one array."""
        return not isinstance(self.values, list)

    @property
    def width(self) -> int:
        """The number of channels."""
        return len(self.values[0])

    @property
    def longest(self) -> int:
        """The number of time points of the longest case."""
        if isinstance(self.values, list):
            return max((case.shape[1] for case in self.values), default=0)
        return int(self.values.shape[2]) if len(self) else 0

    @property
    def dtype(self) -> np.dtype[Any]:
        """A dtype that holds the values of all cases."""
        if isinstance(self.values, list):
            return np.result_type(*{case.dtype for case in self.values})
        return self.values.dtype

    def given(self, samples: Array | list[Array]) -> Any:
        """Samples, channels first, as the model gets them: in the caller's layout."""
        if self.layout == "channels_first":
            return samples
        if isinstance(samples, list):
            return [np.ascontiguousarray(sample.T) for sample in samples]
        return np.ascontiguousarray(samples.transpose(0, 2, 1))

    def take(self, at: Array) -> Cases:
        """Some of the cases."""
        if isinstance(self.values, list):
            return Cases([self.values[i] for i in at], self.layout)
        return Cases(self.values[at], self.layout)


def read_cases(given: Any, layout: str, like: Cases | None = None) -> Cases:
    """A caller's cases; `like` are the training cases that they must resemble."""
    if not isinstance(layout, str) or layout not in AXES:
        raise OptionError(f"layout={layout!r}{closest(layout, AXES)}")
    what = "the training cases" if like is None else "the cases"
    if isinstance(given, Framed) or is_frame(given):
        given = _from_frame(given, layout)
    whole = _listed(given, layout, what) if isinstance(given, (list, tuple)) else None
    cases = Cases(_array(given, layout, what) if whole is None else whole, _layout(layout))
    if not len(cases):
        if like is None:
            raise SchemaError("there are no training cases; give the cases the model learnt")
        return Cases(like.values[:0], like.layout)
    _check_filled(cases, what)
    return cases if like is None else _alike(cases, like)


def contents(cases: Any) -> Array:
    """A number for the content of every channel of every case, (n, channels)."""
    return np.array(
        [
            [float(crc32(np.ascontiguousarray(channel, dtype=float).data)) for channel in case]
            for case in cases
        ]
    ).reshape(len(cases), -1)


def _from_frame(given: Any, layout: str) -> Any:
    """The cases of a frame in the layout; as one array where they have one length."""
    cases = (given if isinstance(given, Framed) else framed(given)).cases
    if layout != "channels_first":
        cases = [case.T for case in cases]
    even = len({case.shape for case in cases}) == 1
    if not cases:
        return []
    return np.stack(cases) if even else cases


def channel_names(given: Any, width: int, length: int | None = None) -> tuple[str, ...]:
    """The names of the channels: those given, or "channel 0" and so on.

    `length` is the number of time points: as many names hint at another layout.
    """
    if given is None:
        return tuple(f"channel {place}" for place in range(width))
    if isinstance(given, str) or not (isinstance(given, Sequence) or hasattr(given, "__array__")):
        raise OptionError(f"channels= names the {width} channels in order, not {given!r}")
    names = tuple(str(name) for name in given)
    if len(names) != width:
        turned = "; there are as many time points: is layout= the other one?"
        hint = turned if len(names) == length else ""
        raise OptionError(f"channels= has {len(names)} names for {width} channels{hint}")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise OptionError(f"channels= names two channels {twice[0]!r}; rename one of them")
    return names


def _layout(layout: str) -> Layout:
    return "channels_first" if layout == "channels_first" else "channels_last"


def _array(given: Any, layout: str, what: str) -> Array:
    values = given if isinstance(given, np.ndarray) else np.asarray(given)
    if values.ndim != 3:
        first, second = AXES[layout]
        hint = "; one case is X[None]" if values.ndim == 2 else ""
        if values.ndim == 2:
            one = "X[:, None, :]" if layout == "channels_first" else "X[:, :, None]"
            hint += f", and series of one channel are {one}"
        raise SchemaError(
            f"layout={layout!r} expects {what} as (cases, {first}, {second}), "
            f"but an array of shape {values.shape} with {values.ndim} axes was given{hint}"
        )
    _check_numbers(values.dtype, what)
    return values if layout == "channels_first" else values.transpose(0, 2, 1)


def _listed(given: Sequence[Any], layout: str, what: str) -> list[Array]:
    """Cases of unequal lengths, each with its channels first."""
    first, second = AXES[layout]
    cases = []
    for place, case in enumerate(given):
        if hasattr(type(case), "columns"):
            raise SchemaError(
                f"case {place} in a list of {what} is a {type(case).__name__} with columns; give "
                "frames of pandas or polars alone, or arrays"
            )
        values = _even(case, f"case {place} in a list of {what}")
        if values.ndim != 2:
            raise SchemaError(
                f"layout={layout!r} expects {what} in a list as arrays ({first}, {second}), "
                f"but case {place} has shape {values.shape}"
            )
        _check_numbers(values.dtype, what)
        cases.append(values if layout == "channels_first" else values.T)
    widths = {len(case) for case in cases}
    if len(widths) > 1:
        odd = next(place for place, case in enumerate(cases) if len(case) != len(cases[0]))
        raise SchemaError(
            f"case {odd} has {len(cases[odd])} channels and case 0 has {len(cases[0])}: with "
            f"layout={layout!r} every case is ({first}, {second}) with the same channels"
        )
    return cases


def _even(case: Any, what: str) -> Array:
    try:
        return np.asarray(case)
    except ValueError:
        raise SchemaError(f"{what} has channels of unequal lengths, or holds no numbers") from None


def _check_numbers(dtype: np.dtype[Any], what: str) -> None:
    if dtype.kind not in "fiub":
        raise SchemaError(
            f"{what} hold {dtype}, not numbers; cases of unequal lengths are given as a list of "
            "2-D arrays"
        )


def _check_filled(cases: Cases, what: str) -> None:
    for place, case in enumerate(cases.values if not cases.even else cases.values[:1]):
        if not case.shape[0] or not case.shape[1]:
            raise SchemaError(
                f"{what} have {case.shape[0]} channels and {case.shape[1]} time points"
                f"{'' if cases.even else f' in case {place}'}; give at least one of each"
            )


def _alike(cases: Cases, like: Cases) -> Cases:
    """Cases in the form of the training cases, or an error that says what differs."""
    if cases.width != like.width:
        first, second = AXES[like.layout]
        turned = (cases.longest, cases.width) == (like.width, like.longest)
        hint = "; turned round they would fit" if turned else ""
        raise SchemaError(
            f"the cases have {cases.width} channels and the training cases {like.width}: "
            f"layout={like.layout!r} means ({first}, {second}) in every case{hint}"
        )
    if isinstance(like.values, list):
        return Cases(list(cases.values), like.layout)
    lengths = {case.shape[1] for case in cases.values}
    if lengths != {like.longest}:
        odd = next(
            place for place, case in enumerate(cases.values) if case.shape[1] != like.longest
        )
        raise SchemaError(
            f"case {odd} has {cases.values[odd].shape[1]} time points and the training cases "
            f"{like.longest}; a model that takes unequal lengths is given lists of arrays, for "
            "training, too"
        )
    return cases if cases.even else Cases(np.stack(list(cases.values)), like.layout)


SOME = 32  # cases that are looked at
SMOOTH, ROUGH = 0.8, 0.4  # how alike values next to each other are, along time and otherwise


def question(train: Cases) -> None:
    """Warn of cases that are smooth along channels, but not along time."""
    if not train.even or train.width <= train.longest:
        return
    values = np.asarray(train.values[:: max(1, len(train) // SOME)][:SOME], dtype=float)
    if _likeness(values.transpose(0, 2, 1)) > SMOOTH and _likeness(values) < ROUGH:
        warnings.warn(
            f"the cases are read as {train.width} channels x {train.longest} time points, but "
            "values change little from channel to channel and much from time to time: if they are "
            "(cases, time, channels), pass layout='channels_last', else layout='channels_first'",
            UserWarning,
            stacklevel=4,
        )


def turned_round(cases: Cases, train: Cases) -> bool:
    """Whether cases with as many channels as time points fit training better turned round."""
    if not (cases.even and train.even) or train.width != train.longest or len(cases) == 0:
        return False
    known = np.asarray(train.values[:: max(1, len(train) // SOME)][:SOME], dtype=float)
    center, spread = np.nanmean(known, axis=(0, 2)), np.nanstd(known, axis=(0, 2)) + 1e-9
    given = np.asarray(cases.values[:SOME], dtype=float)
    here, there = (
        np.nanmean(np.abs((np.nanmean(one, axis=2) - center) / spread))
        for one in (given, given.transpose(0, 2, 1))
    )
    return bool(here > 1 and here > 4 * there)


def _likeness(values: Array) -> float:
    """How alike values next to each other along the last axis are: a correlation, 0 for noise."""
    if values.shape[2] < 3:
        return 0.0
    centered = values - np.nanmean(values, axis=(0, 2), keepdims=True)
    product = np.nanmean(centered[:, :, 1:] * centered[:, :, :-1])
    return float(product / (np.nanmean(centered**2) + 1e-12))
