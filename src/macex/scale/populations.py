"""Questions about whole populations, of frames as they come: partial findings are joined.

Memory does not grow with the rows, but for a number a row. A recourse is found frame by frame and
joined. A plan takes two passes: one draws a sample of the rows in need, on which the actions are
chosen, the other counts what they do, frame by frame. An engine does the same with its partitions:
`macex.cohort.recourse.joined` and `macex.cohort.plans.joined` join what they find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from macex.cohort.plans import (
    SAMPLE,
    SLACK,
    Plan,
    chosen_for,
    counted,
    in_need,
    joined,
    read_plan_options,
)
from macex.cohort.population import advising, crowd, opened
from macex.cohort.recourse import Recourse, recourse
from macex.cohort.recourse import joined as joined_recourse
from macex.errors import OptionError
from macex.explainer import Explainer

UNFOLDED = 2**62  # groups are folded when all are known
Frames = Callable[[], Iterable[pd.DataFrame]]


def recourse_frames(
    explainer: Explainer,
    frames: Iterable[Any],
    *,
    want: Any = None,
    constraints: Any = None,
    by: Any = None,
    diagnose: bool = True,
    max_rows: int | None = None,
) -> Recourse:
    """`Explainer.recourse` for one frame of rows after another; `by` names columns.

    The finding holds no explanations.
    """
    _refuse_labels(by, explainer)
    return joined_recourse(
        recourse(
            explainer.engine,
            frame,
            want=want,
            constraints=constraints,
            by=by,
            diagnose=diagnose,
            max_rows=max_rows,
            most_groups=UNFOLDED,
        )
        for frame in frames
    )


@advising()
def plan_frames(
    explainer: Explainer,
    frames: Frames,
    *,
    want: Any = None,
    actions: int = 5,
    max_changes: int = 2,
    constraints: Any = None,
    slack: float = SLACK,
    max_cost: float | None = None,
    plausible: bool = True,
) -> Plan:
    """`Explainer.plan` for frames, which are read twice: `frames` is a function that reads them.

    The plan holds no rows: `plan.taken` says which action flips each of them.
    """
    options = read_plan_options(actions, max_changes, slack, max_cost, plausible=plausible)
    sample = drawn(_needy(explainer, frames, want, constraints), SAMPLE, _seed(explainer))
    if sample is None or not len(sample):
        everybody = [_crowd(explainer, frame, want, constraints) for frame in frames()]
        return joined([Plan((), np.full(len(one), -2), one.rows) for one in everybody])
    final = chosen_for(opened(_crowd(explainer, sample, want, constraints)), options)
    return joined(
        [counted(_crowd(explainer, frame, want, constraints), final) for frame in frames()]
    )


def _needy(explainer: Explainer, frames: Frames, want: Any, constraints: Any) -> Iterator[Any]:
    """The rows of each frame that do not reach the goal as they are."""
    for frame in frames():
        yield frame.iloc[in_need(_crowd(explainer, frame, want, constraints)).places]


def drawn(frames: Iterable[pd.DataFrame], most: int, seed: int) -> pd.DataFrame | None:
    """A random sample of at most `most` rows of all frames, in their order, read in one pass.

    It does not depend on how the rows are divided into frames. None if there is no frame.

    >>> rows = pd.DataFrame({"a": range(100)})
    >>> few = drawn([rows.iloc[:30], rows.iloc[30:]], 3, 0)
    >>> few.equals(drawn([rows], 3, 0)), len(few)
    (True, 3)
    """
    draw = np.random.default_rng(seed)
    kept: pd.DataFrame | None = None
    keys = np.zeros(0)
    for frame in frames:
        keys = np.concatenate([keys, draw.random(len(frame))])
        kept = frame if kept is None else pd.concat([kept, frame])
        if len(keys) > most:
            lowest = np.sort(np.argpartition(keys, most)[:most])
            kept, keys = kept.iloc[lowest], keys[lowest]
    return kept


def _crowd(explainer: Explainer, frame: Any, want: Any, constraints: Any) -> Any:
    return crowd(explainer.engine, frame, want, constraints)


def _seed(explainer: Explainer) -> int:
    return explainer.engine.options.random_state


def _refuse_labels(by: Any, explainer: Explainer) -> None:
    several = isinstance(by, (list, tuple)) and not set(explainer.columns).isdisjoint(by)
    if not (by is None or isinstance(by, str) or several):
        raise OptionError(f"by takes columns of the rows, since labels have no frame, not {by!r}")
