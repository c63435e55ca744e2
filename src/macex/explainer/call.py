"""What a caller may say in a call, and the clock of a call that has a time limit."""

from __future__ import annotations

import time
from numbers import Real
from typing import Any

import numpy as np

from macex.errors import OptionError, require_count

LONGEST_S = 1e9  # a longer time limit is as good as none


def _number(value: Any) -> bool:
    return isinstance(value, (Real, np.number)) and not isinstance(value, bool)


def deadline_after(timeout_s: float | None) -> float | None:
    """When the time of a call that begins now is over, on the clock of `time.monotonic`."""
    return None if timeout_s is None else time.monotonic() + float(min(timeout_s, LONGEST_S))


def check_call(
    n: Any, max_rows: Any, timeout_s: Any, margin: Any, on_error: Any, *, diagnose: Any = False
) -> None:
    """Raise for an argument of a call that has a value it cannot have."""
    require_count("n", n)
    if max_rows is not None:
        require_count("max_rows", max_rows)
    if timeout_s is not None and not (_number(timeout_s) and timeout_s > 0):
        raise OptionError(f"timeout_s must be a positive number of seconds, not {timeout_s!r}")
    if not _number(margin) or not 0 <= margin < 1:
        raise OptionError(f"margin must be a number from 0 to below 1, not {margin!r}")
    if not isinstance(on_error, str) or on_error not in ("raise", "keep"):
        raise OptionError(f"on_error is 'raise' or 'keep', not {on_error!r}")
    if not isinstance(diagnose, (bool, np.bool_)):
        raise OptionError(f"diagnose is True or False, not {diagnose!r}")
