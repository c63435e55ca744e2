"""What the commands about many rows share: reading them all, and showing what was found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.ask.goals import goal_typed
from macex.cli.colours import say
from macex.cli.explainers import explainer_made
from macex.cli.inputs import training
from macex.cli.progress import telling
from macex.cli.toml import read_constraints
from macex.errors import OptionError, require_count
from macex.explainer import Explainer
from macex.render.exports import csv_text, write_whole
from macex.scale.files import frames_of, refuse_existing
from macex.scale.partition import CHUNK
from macex.scale.passes import drawn
from macex.scale.places import Local
from macex.scale.populations import PartedPopulation, of_frames
from macex.scale.readers import count_rows

FORMS = (".csv", ".html")


@dataclass(frozen=True)
class Files:
    """The options that say what to read."""

    model: Path
    data: Path
    rows: str
    label: str | None
    drop: Sequence[str] | None
    want: str | None
    constraints: Path | None
    schema: Path | None
    classes: str | None
    allow_pickle: bool
    trusted: Sequence[str] | None


@dataclass(frozen=True)
class PopulationQuestion:
    """The explainer, the rows of a file, the goal and the constraints."""

    explainer: Explainer
    frames: Callable[[], Iterable[pd.DataFrame]]
    count: Callable[[], int | None]  # about how many rows there are
    want: Any
    constraints: Constraints | None

    def population(self, sample: int | None, *, quiet: bool) -> PartedPopulation:
        """All rows, chunk by chunk, or a sample of them, drawn in one pass."""
        told = partial(telling, quiet=quiet)
        if sample is None:
            return of_frames(self.explainer, self.frames, told, None if quiet else self.count())
        few = drawn(self.frames(), require_count("--sample", sample), 0)
        frames = [] if few is None else [few]
        return of_frames(self.explainer, lambda: frames, told, sum(map(len, frames)))


@dataclass(frozen=True)
class Showing:
    """The options that say where a finding goes."""

    out: Path | None
    force: bool
    quiet: bool
    as_json: bool

    def __post_init__(self) -> None:
        """Refuse, before anything is read, what cannot be written."""
        if self.out is None:
            return
        if self.out.suffix not in FORMS:
            raise OptionError(f"--out {self.out}: the form is told by {' or '.join(FORMS)}")
        refuse_existing(Local(self.out), resume=False, force=self.force)

    def __call__(self, found: Any, document: dict[str, Any]) -> None:
        """Print a finding, and write it where that was asked for."""
        if self.out is not None:
            html = self.out.suffix == ".html"
            text = found.page() if html else csv_text(found.to_frame())
            write_whole(self.out, text.encode())
        if self.as_json:
            document |= {"meta": dict(found.facts())}
            print(json.dumps(document, ensure_ascii=False, default=str))
        elif not self.quiet:
            say(found)


def asked(files: Files) -> PopulationQuestion:
    """Read what the options name."""
    learnt = training(files.data, files.label, files.drop, files.schema)
    reading = {"allow_pickle": files.allow_pickle, "trusted": files.trusted}
    explainer = explainer_made(learnt, vars(files), reading)
    rules = None
    if files.constraints is not None:
        rules = read_constraints(files.constraints, learnt.ground(explainer.schema))
    origin: Any = sys.stdin.buffer if files.rows == "-" else files.rows
    read = partial(frames_of, explainer, origin, CHUNK, learnt.dropped, ())
    once = list(read()) if files.rows == "-" else None
    want = goal_typed(files.want, explainer.classes)
    if once is not None:
        return PopulationQuestion(explainer, lambda: once, lambda: sum(map(len, once)), want, rules)
    return PopulationQuestion(explainer, read, partial(count_rows, files.rows), want, rules)


def bands_typed(given: Sequence[str] | None) -> dict[str, list[float]] | None:
    """Edges of columns of numbers as they are typed.

    >>> bands_typed(["age=25,60"])
    {'age': [25.0, 60.0]}
    """
    found = {}
    for one in given or ():
        name, _, edges = one.partition("=")
        try:
            found[name] = [float(edge) for edge in edges.split(",")]
        except ValueError:
            raise OptionError(f"--bands {one}: give a column and its edges: age=25,60") from None
    return found or None


def records(frame: pd.DataFrame) -> Any:
    """The lines of a frame as JSON has them."""
    return json.loads(frame.to_json(orient="records"))
