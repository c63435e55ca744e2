"""What the commands about many rows share: reading them all, and showing what was found."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from macex.ask.constraints import Constraints
from macex.cli.inputs import classes_named, model_for, training
from macex.cli.toml import read_constraints
from macex.errors import OptionError
from macex.explainer import Explainer
from macex.render.files import write_whole
from macex.scale.files import frames_of, refuse_existing
from macex.scale.partition import CHUNK

FORMS = (".csv", ".html")


@dataclass(frozen=True)
class Asked:
    """The explainer, all the rows of a file, and the constraints."""

    explainer: Explainer
    rows: pd.DataFrame
    constraints: Constraints | None


def asked(
    model: Path,
    data: Path,
    rows: str,
    *,
    label: str | None,
    drop: Sequence[str] | None,
    schema: Path | None,
    constraints: Path | None,
    classes: str | None,
    out: Path | None,
    force: bool,
    allow_pickle: bool,
) -> Asked:
    """Read what the options name."""
    if out is not None:
        if out.suffix not in FORMS:
            raise OptionError(f"--out {out}: the form is told by {' or '.join(FORMS)}")
        refuse_existing(out, resume=False, force=force)
    learnt = training(data, label, drop, schema)
    explainer = Explainer(
        model_for(model, data, learnt.rows, allow_pickle=allow_pickle),
        learnt.rows,
        schema=learnt.kinds,
        classes=classes_named(classes),
    )
    rules = None
    if constraints is not None:
        rules = read_constraints(constraints, learnt.ground(explainer.schema))
    origin: Any = sys.stdin.buffer if rows == "-" else rows
    frames = list(frames_of(explainer, origin, CHUNK, learnt.dropped, None))
    return Asked(explainer, pd.concat(frames), rules)


def show(
    found: Any, document: dict[str, Any], out: Path | None, *, quiet: bool, as_json: bool
) -> None:
    """Print a finding, and write it where that was asked for."""
    if out is not None:
        html = out.suffix == ".html"
        text = found.to_page() if html else found.to_frame().to_csv(index=False)
        write_whole(out, text.encode())
    if as_json:
        print(json.dumps(document, ensure_ascii=False, default=str))
    elif not quiet:
        print(found)
