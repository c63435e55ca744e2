"""Explaining frames as they come: a generator in, a generator out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from macex.ask.constraints import Constraints
from macex.errors import OptionError
from macex.explainer import Explainer
from macex.scale.chunks import ChunkExplainer, placed, question_of
from macex.scale.workers import job_count, worked
from macex.schema.arrow_tables import frame_of
from macex.series.explainer import SeriesExplainer
from macex.series.frames import framed, is_frame


class _Chunk(NamedTuple):
    """A frame, and how many rows came before it."""

    start: int
    frame: Any


def explain_frames(
    explainer: Explainer | SeriesExplainer,
    frames: Iterable[Any],
    *,
    n: int = 1,
    want: Any = None,
    constraints: Constraints | Mapping[str, Any] | None = None,
    max_rows: int | None = None,
    margin: float = 1e-6,
    diagnose: bool = False,
    on_error: str = "keep",
    robust: float | None = None,
    reach: float | None = None,
    also: Iterable[Any] = (),
    jobs: int = 1,
    device: str | None = None,
) -> Iterator[Any]:
    """The answers for one frame of rows after another, each as `to_frame()` gives them.

    `cf.row` counts the rows of all frames from 0, so that the answers one below the other are those
    of the frames one below the other. Only a few frames are in memory at a time.

    Parameters
    ----------
    frames : frames or arrays of rows, of a few thousand rows each; read as they are needed. For a
        `SeriesExplainer`, arrays or frames of cases.
    n, want, constraints, max_rows, margin, diagnose, on_error, robust, reach, also : as in
        `Explainer.explain`, the same for all rows; a row that cannot be read, or that the model
        fails on, has no answer unless `on_error="raise"`.
    jobs : how many workers, -1 for all cores. The answers are the same.
    device : where the search runs, `"cuda"` or `"cpu"` for torch; see `macex.device.on_device`.
        With several jobs the workers share the device.

    Examples
    --------
    >>> import numpy as np
    >>> data = pd.DataFrame({"hours": range(20, 60), "debt": [1, 2] * 20})
    >>> model = lambda rows: 1 / (1 + np.exp(44.5 - rows["hours"]))
    >>> explainer = Explainer(model, data, classes=("no", "yes"))
    >>> made = explain_frames(explainer, (data.iloc[at : at + 2] for at in (10, 12)))
    >>> pd.concat(made)[["hours", "cf.row"]].to_numpy().tolist()
    [[46, 0], [46, 1], [46, 2], [46, 3]]
    """
    question = question_of(locals())
    if _is_table(frames) or not isinstance(frames, Iterable):
        raise OptionError(
            f"frames takes an iterable of frames, not a {type(frames).__name__}: for one frame "
            "there is explainer.explain(rows)"
        )
    workers = job_count(jobs)
    chunks = ChunkExplainer(placed(explainer, device), question)
    return worked(_answers, chunks, _numbered(frames, explainer), workers)


def _is_table(given: Any) -> bool:
    """Whether rows were given instead of frames of rows."""
    kinds = (str, Mapping, pd.DataFrame, pd.Series)
    return isinstance(given, kinds) or hasattr(given, "columns") or getattr(given, "ndim", 3) < 3


def _numbered(frames: Iterable[Any], explainer: Any) -> Iterator[_Chunk]:
    start = 0
    for given in frames:
        frame = frame_of(given)
        yield _Chunk(start, frame)
        if isinstance(explainer, SeriesExplainer) and is_frame(frame):
            start += len(framed(frame).cases)
        else:
            start += 1 if isinstance(frame, Mapping | pd.Series) else len(frame)


def _answers(chunks: ChunkExplainer, chunk: _Chunk) -> Any:
    table = chunks.answers(chunk.frame).to_frame()
    if isinstance(table, pd.DataFrame):
        table["cf.row"] += chunk.start
        return table
    return table.with_columns(table["cf.row"] + chunk.start)
