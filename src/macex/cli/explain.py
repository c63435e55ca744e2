"""`macex explain`: counterfactuals for the rows of a file."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from macex.ask.goals import goal_typed
from macex.ask.question import FIELDS
from macex.audit import Audit
from macex.cli import options
from macex.cli.colours import complain, say
from macex.cli.inputs import Training, classes_named, label_hint, model_for, training
from macex.cli.models import open_model
from macex.cli.progress import bar_or_lines
from macex.cli.saved import columns_dropped, refuse_beside, required
from macex.cli.toml import read_causes, read_codes, read_constraints, read_structure
from macex.engine.options import PREFERENCES, STRUCTURES
from macex.explainer import Explainer
from macex.explainer.storage import load
from macex.render.text import batch_text
from macex.scale.chunks import placed
from macex.scale.files import explain_file, frames_of, refuse_existing
from macex.scale.names import index_named
from macex.scale.partition import CHUNK
from macex.scale.places import place_of
from macex.scale.run import FileRun
from macex.stages.search.names import DEFAULT_SEARCH, EXHAUSTIVE, GRADIENTLESS, REINFORCE

SHOWN = 20
INCOMPLETE = 1  # the exit code of a run that could not read everything


def explain(
    *,
    model: options.Model,
    rows: options.Rows,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The training rows: CSV, Parquet, Arrow or JSONL.",
            rich_help_panel=options.FILES,
        ),
    ] = None,
    explainer: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A saved explainer instead of the training rows.",
            rich_help_panel=options.FILES,
        ),
    ] = None,
    label: options.Label = None,
    drop: options.Drop = None,
    id_: Annotated[
        list[str] | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="A column that names the rows; repeatable; '*' is all.",
            rich_help_panel=options.FILES,
        ),
    ] = None,
    want: options.Want = None,
    n: Annotated[int, typer.Option("-n", help=FIELDS["n"], rich_help_panel=options.ASKED)] = 1,
    constraints: options.Rules = None,
    schema: options.SchemaFile = None,
    structure: Annotated[
        str | None,
        typer.Option(
            help="What holds between columns: keep, warn or ignore.", rich_help_panel=options.ASKED
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            help=f"The search: {EXHAUSTIVE}, {REINFORCE}, {GRADIENTLESS}, or a registered one.",
            rich_help_panel=options.SEARCH,
        ),
    ] = DEFAULT_SEARCH,
    prefer: Annotated[
        str,
        typer.Option(
            help="balanced, fewest, nearest, plausible or surest.", rich_help_panel=options.ASKED
        ),
    ] = PREFERENCES[0],
    classes: options.Classes = None,
    seed: Annotated[
        int,
        typer.Option(help="The same seed gives the same answers.", rich_help_panel=options.SEARCH),
    ] = 0,
    max_rows: Annotated[
        int | None, typer.Option(help=FIELDS["max_rows"], rich_help_panel=options.SEARCH)
    ] = None,
    margin: Annotated[
        float, typer.Option(help=FIELDS["margin"], rich_help_panel=options.ASKED)
    ] = 1e-6,
    diagnose: Annotated[
        bool, typer.Option("--diagnose", help=FIELDS["diagnose"], rich_help_panel=options.ASKED)
    ] = False,
    robust: Annotated[
        float | None, typer.Option(help=FIELDS["robust"], rich_help_panel=options.ASKED)
    ] = None,
    reach: Annotated[
        float | None, typer.Option(help=FIELDS["reach"], rich_help_panel=options.ASKED)
    ] = None,
    also: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Another model that must agree; repeatable.",
            rich_help_panel=options.ASKED,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help=".csv, .json, .jsonl, .parquet or .html, or a folder of Parquet; - for stdout.",
            rich_help_panel=options.WRITTEN,
        ),
    ] = None,
    changes: Annotated[
        bool,
        typer.Option(
            "--changes", help="Write one line per change.", rich_help_panel=options.WRITTEN
        ),
    ] = False,
    formula_safe: Annotated[
        bool,
        typer.Option(
            help="Keep spreadsheets from running the text of a CSV file.",
            rich_help_panel=options.WRITTEN,
        ),
    ] = True,
    compression: Annotated[
        str | None,
        typer.Option(
            help="Compression of Parquet: snappy, zstd, gzip, lz4 or none.",
            rich_help_panel=options.WRITTEN,
        ),
    ] = None,
    partition_by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Its values become folders of --out; repeatable.",
            rich_help_panel=options.WRITTEN,
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="csv, json or jsonl, for --out -.", rich_help_panel=options.WRITTEN
        ),
    ] = None,
    reason_codes: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A TOML table of columns and their reason codes.",
            rich_help_panel=options.WRITTEN,
        ),
    ] = None,
    audit: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Record every explanation there.", rich_help_panel=options.WRITTEN
        ),
    ] = None,
    sample: options.Sample = None,
    chunk: Annotated[
        int, typer.Option(help="Rows explained together.", rich_help_panel=options.SEARCH)
    ] = CHUNK,
    jobs: Annotated[
        int,
        typer.Option(
            help="Processes or threads; -1 for all cores.", rich_help_panel=options.SEARCH
        ),
    ] = 1,
    device: Annotated[
        str | None,
        typer.Option(
            help="Search on a torch device: cuda, cuda:1 or cpu.", rich_help_panel=options.SEARCH
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Go on with a run that was interrupted.",
            rich_help_panel=options.WRITTEN,
        ),
    ] = False,
    add: Annotated[
        bool,
        typer.Option(
            "--add",
            help="Explain the files that are new since --out was written.",
            rich_help_panel=options.WRITTEN,
        ),
    ] = False,
    force: options.Force = False,
    allow_pickle: options.AllowPickle = False,
    trusted: options.Trusted = None,
    quiet: options.Quiet = False,
    as_json: options.Json = False,
) -> None:
    """The least that would have to be different, for every row of a file.

    One row per counterfactual, in any of five forms:

        macex explain --model model.onnx --data train.csv --label income --rows new.csv --out result.csv

    Three answers each, toward a label, under constraints, as a report:

        macex explain --model model.ubj --data train.csv --rows new.csv -n 3 --want ">50K" --constraints rules.toml --out report.html

    In a pipe:

        cat new.csv | macex explain --model model.onnx --data train.csv --rows - --out - --format jsonl

    With an explainer that was saved, without its training rows:

        macex explain --model model.onnx --explainer loans.macex --rows new.csv --out result.csv

    A night's files on all cores, into a folder of Parquet files:

        macex explain --model model.ubj --data train.csv --rows night/ --id applicant --jobs -1 --out answers

    A sample of them, the same one each time:

        macex explain --model model.ubj --data train.csv --rows night/ --sample 10000 --out sample.csv

    The files that are new, from one store to another:

        macex explain --model model.ubj --data train.csv --rows s3://bank/night --out s3://bank/answers --id applicant --add

    Answers that hold under small changes, and with last year's model:

        macex explain --model model.ubj --data train.csv --rows new.csv --robust 0.9 --also last_year.ubj --out result.csv

    Without --out the first rows are shown. An interrupted run goes on with --resume and ends in
    the same bytes. Where something could not be read, it says what, and the exit code is 1.
    """  # noqa: E501 - a command is one line
    if out not in (None, "-"):
        refuse_existing(place_of("--out", out), resume=resume or add, force=force or add)
    reading: dict[str, Any] = {"allow_pickle": allow_pickle, "trusted": trusted or ()}
    said: dict[str, Any] = {"method": method, "prefer": prefer, "structure": structure}
    said |= {"classes": classes, "seed": seed, "schema": schema, "reason-codes": reason_codes}
    if explainer is not None:
        refuse_beside(explainer, {"data": data, **said})
        opened = open_model(model, **reading)
        asked = load(explainer, opened, audit=None if audit is None else Audit(audit, model=model))
        dropped, ground = columns_dropped(drop, label), asked.engine.fitted.ground
        others = [open_model(path, **reading) for path in also or ()]
    else:
        learnt = training(required(data), label, drop, schema)
        asked = _made(
            learnt, model, required(data), label, said, constraints, audit, reading=reading
        )
        dropped, ground = learnt.dropped, learnt.ground(asked.schema)
        others = _others(also, required(data), learnt, reading)
    rules = None if constraints is None else read_constraints(constraints, ground)
    call: dict[str, Any] = {"n": n, "want": goal_typed(want, asked.classes)}
    call |= {"constraints": rules, "max_rows": max_rows, "margin": margin, "diagnose": diagnose}
    call |= {"robust": robust, "reach": reach, "also": others}
    origin: Any = sys.stdin.buffer if rows == "-" else rows
    named = index_named(id_, origin, (*asked.columns, *dropped))
    if out is None:
        frame = next(iter(frames_of(asked, origin, SHOWN, dropped, named, sample)))
        found = placed(asked, device, 1).explain(frame, on_error="keep", **call)
        if as_json:
            print(found.to_json())
        else:
            say(batch_text(found, limit=SHOWN))
        return
    target: Any = sys.stdout.buffer if out == "-" else out
    form = form or ("csv" if out == "-" else None)
    done = explain_file(
        asked,
        origin,
        target,
        drop=dropped,
        index=named,
        form=form,
        compression=compression,
        partition_by=partition_by or (),
        changes=changes,
        formula_safe=formula_safe,
        sample=sample,
        chunk=chunk,
        jobs=jobs,
        device=device,
        resume=resume,
        add=add,
        force=force,
        progress=bar_or_lines(quiet=quiet),
        **call,
    )
    _say(done, out, quiet=quiet, as_json=as_json)
    if done.faults:
        _complain(done)


def _made(
    learnt: Training,
    model: Path,
    data: Path,
    label: str | None,
    said: dict[str, Any],
    constraints: Path | None,
    audit: Path | None,
    *,
    reading: dict[str, Any],
) -> Explainer:
    """The explainer that the options describe."""
    opened = model_for(model, data, learnt.rows, **reading)
    codes = said["reason-codes"]
    with label_hint(data, label):
        return Explainer(
            opened,
            learnt.rows,
            schema=learnt.kinds,
            method=said["method"],
            prefer=said["prefer"],
            structure=said["structure"] or read_structure(constraints) or STRUCTURES[0],
            causes=read_causes(constraints),
            classes=classes_named(said["classes"]),
            random_state=said["seed"],
            names=None if codes is None else read_codes(codes, learnt.rows),
            audit=None if audit is None else Audit(audit, model=model, data=data),
        )


def _complain(done: FileRun) -> None:
    """Say what could not be read, and end with an exit code that says so."""
    for fault in done.faults[:SHOWN]:
        complain(str(fault))
    if len(done.faults) > SHOWN:
        complain(f"and {len(done.faults) - SHOWN} more")
    lost = f", {done.lost:,} rows are not in the output" if done.lost else ""
    complain(f"{done.unreadable:,} rows could not be read{lost}")
    raise typer.Exit(INCOMPLETE)


def _others(
    paths: Sequence[Path] | None, data: Path, learnt: Training, reading: dict[str, Any]
) -> list[Any]:
    """The models that must agree."""
    return [model_for(path, data, learnt.rows, **reading) for path in paths or ()]


def _say(done: FileRun, out: str, *, quiet: bool, as_json: bool) -> None:
    stream = sys.stderr if out == "-" else sys.stdout
    if as_json:
        print(json.dumps({"out": out, **vars(done)}), file=stream)
    elif not quiet:
        print(f"{done}; written to {out}", file=stream)
