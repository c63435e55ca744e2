"""What time points are called: a caller's labels, and their unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from macex.errors import OptionError
from macex.schema import Array


@dataclass(frozen=True)
class Times:
    """The labels of time points in order, none where they are only counted, and their unit."""

    labels: tuple[str, ...] = ()
    unit: str = ""

    def called(self, start: int, stop: int) -> tuple[str, str] | None:
        """The first and the last time point of a stretch in words; None without labels.

        >>> Times(("0", "0.1", "0.2"), "s").called(0, 2)
        ('0 s', '0.1 s')
        """
        if stop > len(self.labels):
            return None
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.labels[start]}{unit}", f"{self.labels[stop - 1]}{unit}"


def read_times(given: Any, unit: Any, length: int) -> Times:
    """The labels that a caller gave for `length` time points."""
    if not isinstance(unit, str):
        raise OptionError(f"time_unit= is text, such as 's', not {unit!r}")
    if given is None:
        return Times(tuple(map(str, range(length))), unit) if unit else Times()
    labels = written(given)
    if len(labels) != length:
        raise OptionError(f"times= has {len(labels)} labels for {length} time points")
    return Times(labels, unit)


def written(times: Any) -> tuple[str, ...]:
    """Times as text: numbers with the digits they take, days without a time of day.

    >>> written([0, 0.25])
    ('0', '0.25')
    >>> written(np.array(["2024-01-01", "2024-01-02"], "datetime64[ns]"))
    ('2024-01-01', '2024-01-02')
    """
    values: Array = np.asarray(times)
    if values.ndim != 1:
        raise OptionError(f"times= has one label for each time point, not {times!r}")
    if values.dtype.kind == "M":
        days = bool((values == values.astype("datetime64[D]")).all())
        kept = values.astype("datetime64[D]" if days else "datetime64[ms]")
        texts = [str(value).replace("T", " ") for value in kept]
        return tuple(text.removesuffix(".000") for text in texts)
    if values.dtype.kind == "f":
        return tuple(f"{value:.6g}" for value in values.tolist())
    return tuple(str(value) for value in values.tolist())


def shared(each: list[Array]) -> tuple[Array | None, str]:
    """The times that all cases have, or those since their beginnings, and the unit of these.

    >>> shared([np.array([0, 5]), np.array([0, 5])])[0].tolist()
    [0, 5]
    >>> days = np.array(["2024-01-01", "2024-01-03"], "datetime64[s]")
    >>> since, unit = shared([days, days + np.timedelta64(9, "D")])
    >>> since.tolist(), unit
    ([0.0, 2.0], 'd')
    """
    first = each[0]
    if any(len(times) != len(first) for times in each):
        return None, ""
    if all(np.array_equal(times, first) for times in each):
        counted = first.dtype.kind in "iu" and np.array_equal(first, np.arange(len(first)))
        return None if counted else first, ""
    if first.dtype.kind not in "Mmiuf" or not len(first):
        return None, ""
    since = [times - times[0] for times in each]
    if not all(np.array_equal(times, since[0]) for times in since):
        return None, ""
    return _in_words(since[0]) if since[0].dtype.kind == "m" else (since[0], "")


def _in_words(since: Array) -> tuple[Array, str]:
    """Durations in days, hours, minutes or seconds, whichever are whole numbers."""
    seconds = since / np.timedelta64(1, "s")
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if not (seconds % size).any():
            return seconds / size, unit
    return seconds, "s"
