"""What the commands about many rows share: reading them, saying how far, showing what is found."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Any

import pandas as pd

from macex.ask.goals import goal_typed
from macex.cli import options
from macex.cli.colours import say
from macex.cli.inputs import explainer_made, training
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
from macex.scale.run import Progress, lines, reporting

FORMS = (".csv", ".html")
READ = {  # before the options of a command's own: their kinds and defaults
    "model": (options.Model, Parameter.empty),
    "data": (options.Data, Parameter.empty),
    "rows": (options.Rows, Parameter.empty),
    "label": (options.Label, None),
    "drop": (options.Drop, None),
    "want": (options.Want, None),
    "constraints": (options.Rules, None),
}
TAIL = {  # and after them
    "schema": (options.SchemaFile, None),
    "classes": (options.Classes, None),
    "out": (options.Sheet, None),
    "force": (options.Force, False),
    "allow_pickle": (options.AllowPickle, False),
    "trusted": (options.Trusted, None),
    "quiet": (options.Quiet, False),
    "as_json": (options.Json, False),
}


@dataclass(frozen=True)
class PopulationQuestion:
    """The explainer, the rows of a file, and what is asked of them."""

    explainer: Explainer
    frames: Callable[[], Iterable[pd.DataFrame]]
    count: Callable[[], int | None]  # about how many rows there are
    asks: dict[str, Any]  # what is wanted, and the constraints
    files: Mapping[str, Any]  # the options that said all this
    quiet: bool

    def population(self, sample: int | None) -> PartedPopulation:
        """All rows, chunk by chunk, or a sample of them, drawn in one pass."""
        told = partial(telling, quiet=self.quiet)
        if sample is None:
            count = None if self.quiet else self.count()
            return of_frames(self.explainer, self.frames, told, count)
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


def about_rows(command: Callable[..., None]) -> Callable[..., None]:
    """A command with the options that all commands about the rows of a file have.

    It is called with what they say to read, and with where its finding goes.
    """
    mine = list(signature(command, eval_str=True).parameters.values())[2:]
    first, last = ([_option(*one) for one in some.items()] for some in (READ, TAIL))
    every = [*first, *mine, *last]

    @wraps(command)
    def shared(**given: Any) -> None:
        show = Showing(*(given.pop(name) for name in ("out", "force", "quiet", "as_json")))
        files = {name: given.pop(name) for name in (*READ, *TAIL) if name in given}
        command(asked(files, quiet=show.quiet), show, **given)

    shared.__signature__ = Signature(every)  # type: ignore[attr-defined]
    shared.__annotations__ = {one.name: one.annotation for one in every}
    return shared


def _option(name: str, told: tuple[Any, Any]) -> Parameter:
    kind, default = told
    return Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=kind)


def asked(files: Mapping[str, Any], *, quiet: bool) -> PopulationQuestion:
    """Read what the options name."""
    learnt = training(files["data"], files["label"], files["drop"], files["schema"])
    reading = {"allow_pickle": files["allow_pickle"], "trusted": files["trusted"]}
    explainer, rules = explainer_made(learnt, files, reading), None
    if files["constraints"] is not None:
        rules = read_constraints(files["constraints"], learnt.ground(explainer.schema))
    piped, want = files["rows"] == "-", goal_typed(files["want"], explainer.classes)
    origin: Any = sys.stdin.buffer if piped else files["rows"]
    read: Callable[[], Any] = partial(frames_of, explainer, origin, CHUNK, learnt.dropped, ())
    count: Callable[[], int | None] = partial(count_rows, files["rows"])
    if piped:
        once = list(read())
        read, count = (lambda: once), (lambda: sum(map(len, once)))
    asks = {"want": want, "constraints": rules}
    return PopulationQuestion(explainer, read, count, asks, files, quiet)


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


def bar_or_lines(what: str = "", *, quiet: bool) -> Any:
    """A bar in a terminal, lines in a log; they begin with `what` is done."""
    if quiet or sys.stderr.isatty():
        return not quiet
    begun = f"macex: {what}: " if what else "macex: "
    return lines(lambda line: print(f"{begun}{line}", file=sys.stderr, flush=True))


def telling(what: str, *, quiet: bool) -> AbstractContextManager[Progress]:
    """The same for a stage of a command."""
    return reporting(bar_or_lines(what, quiet=quiet), what)
