"""`macex explain`: counterfactuals for the rows of a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from macex.ask.goals import goal_typed
from macex.ask.question import FIELDS
from macex.audit import Audit
from macex.cli import options
from macex.cli.colours import complain, say
from macex.cli.inputs import (
    columns_dropped,
    explainer_made,
    model_for,
    open_model,
    refuse_beside,
    required,
    training,
)
from macex.cli.populations import bar_or_lines
from macex.cli.toml import read_codes, read_constraints
from macex.engine.options import PREFERENCES
from macex.explainer.storage import load
from macex.render.text import batch_text
from macex.scale.chunks import placed
from macex.scale.files import explain_file, frames_of, refuse_existing
from macex.scale.forms import index_named
from macex.scale.partition import CHUNK
from macex.scale.places import place_of
from macex.scale.run import FileRun
from macex.stages.search.protocol import DEFAULT_SEARCH, EXHAUSTIVE, GRADIENTLESS, REINFORCE

SHOWN = 20
INCOMPLETE = 1  # the exit code of a run that could not read everything


def explain(
    *,
    model: options.Model,
    rows: options.Rows,
    data: Annotated[
        Path | None,
        options.files(metavar="FILE", help="The training rows: CSV, Parquet, Arrow or JSONL."),
    ] = None,
    explainer: Annotated[
        Path | None,
        options.files(metavar="FILE", help="A saved explainer instead of the training rows."),
    ] = None,
    label: options.Label = None,
    drop: options.Drop = None,
    id_: Annotated[
        list[str] | None,
        options.files(
            "--id", metavar="COLUMN", help="A column that names the rows; repeatable; '*' is all."
        ),
    ] = None,
    want: options.Want = None,
    n: Annotated[int, options.asked("-n", help=FIELDS["n"])] = 1,
    constraints: options.Rules = None,
    schema: options.SchemaFile = None,
    structure: Annotated[
        str | None, options.asked(help="What holds between columns: keep, warn or ignore.")
    ] = None,
    method: Annotated[
        str,
        options.searched(
            help=f"The search: {EXHAUSTIVE}, {REINFORCE}, {GRADIENTLESS}, or a registered one."
        ),
    ] = DEFAULT_SEARCH,
    prefer: Annotated[
        str, options.asked(help="balanced, fewest, nearest, plausible or surest.")
    ] = PREFERENCES[0],
    classes: options.Classes = None,
    seed: Annotated[int, options.searched(help="The same seed gives the same answers.")] = 0,
    max_rows: Annotated[int | None, options.searched(help=FIELDS["max_rows"])] = None,
    margin: Annotated[float, options.asked(help=FIELDS["margin"])] = 1e-6,
    diagnose: Annotated[bool, options.asked("--diagnose", help=FIELDS["diagnose"])] = False,
    robust: Annotated[float | None, options.asked(help=FIELDS["robust"])] = None,
    reach: Annotated[float | None, options.asked(help=FIELDS["reach"])] = None,
    also: Annotated[
        list[Path] | None,
        options.asked(metavar="FILE", help="Another model that must agree; repeatable."),
    ] = None,
    out: Annotated[
        str | None,
        options.written(
            metavar="FILE",
            help=".csv, .json, .jsonl, .parquet or .html, or a folder of Parquet; - for stdout.",
        ),
    ] = None,
    changes: Annotated[
        bool, options.written("--changes", help="Write one line per change.")
    ] = False,
    formula_safe: Annotated[
        bool, options.written(help="Keep spreadsheets from running the text of a CSV file.")
    ] = True,
    compression: Annotated[
        str | None, options.written(help="Compression of Parquet: snappy, zstd, gzip, lz4 or none.")
    ] = None,
    partition_by: Annotated[
        list[str] | None,
        options.written(metavar="COLUMN", help="Its values become folders of --out; repeatable."),
    ] = None,
    form: Annotated[
        str | None, options.written("--format", help="csv, json or jsonl, for --out -.")
    ] = None,
    reason_codes: Annotated[
        Path | None,
        options.written(metavar="FILE", help="A TOML table of columns and their reason codes."),
    ] = None,
    audit: Annotated[
        Path | None, options.written(metavar="FILE", help="Record every explanation there.")
    ] = None,
    sample: options.Sample = None,
    chunk: Annotated[int, options.searched(help="Rows explained together.")] = CHUNK,
    jobs: Annotated[int, options.searched(help="Processes or threads; -1 for all cores.")] = 1,
    device: Annotated[
        str | None, options.searched(help="Search on a torch device: cuda, cuda:1 or cpu.")
    ] = None,
    resume: Annotated[
        bool, options.written("--resume", help="Go on with a run that was interrupted.")
    ] = False,
    add: Annotated[
        bool,
        options.written("--add", help="Explain the files that are new since --out was written."),
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
    made: dict[str, Any] = {"method": method, "prefer": prefer}
    if explainer is not None:
        said = {"data": data, **made, "structure": structure, "classes": classes, "seed": seed}
        refuse_beside(explainer, {**said, "schema": schema, "reason-codes": reason_codes})
        opened = open_model(model, **reading)
        asked = load(explainer, opened, audit=None if audit is None else Audit(audit, model=model))
        dropped, ground = columns_dropped(drop, label), asked.engine.fitted.ground
        others = [open_model(path, **reading) for path in also or ()]
    else:
        data = required(data)
        learnt = training(data, label, drop, schema)
        files = {"model": model, "data": data, "label": label, "constraints": constraints}
        made |= {"random_state": seed, **({} if structure is None else {"structure": structure})}
        if reason_codes is not None:
            made["names"] = read_codes(reason_codes, learnt.rows)
        if audit is not None:
            made["audit"] = Audit(audit, model=model, data=data)
        asked = explainer_made(learnt, {**files, "classes": classes}, reading, made)
        dropped, ground = learnt.dropped, learnt.ground(asked.schema)
        others = [model_for(path, data, learnt.rows, **reading) for path in also or ()]
    rules = None if constraints is None else read_constraints(constraints, ground)
    call: dict[str, Any] = {"n": n, "want": goal_typed(want, asked.classes)}
    call |= {"constraints": rules, "max_rows": max_rows, "margin": margin, "diagnose": diagnose}
    call |= {"robust": robust, "reach": reach, "also": others}
    origin: Any = sys.stdin.buffer if rows == "-" else rows
    named = index_named(id_, origin, (*asked.columns, *dropped))
    if out is None:
        frame = next(iter(frames_of(asked, origin, SHOWN, dropped, named, sample)))
        found = placed(asked, device).explain(frame, on_error="keep", **call)
        if as_json:
            print(found.to_json())
        else:
            say(batch_text(found, limit=SHOWN))
        return
    target: Any = sys.stdout.buffer if out == "-" else out
    into: dict[str, Any] = {"drop": dropped, "index": named, "compression": compression}
    into |= {"form": form or ("csv" if out == "-" else None), "partition_by": partition_by or ()}
    into |= {"changes": changes, "formula_safe": formula_safe, "sample": sample, "chunk": chunk}
    into |= {"jobs": jobs, "device": device, "resume": resume, "add": add, "force": force}
    told = bar_or_lines(quiet=quiet)
    done = explain_file(asked, origin, target, progress=told, **into, **call)
    _say(done, out, quiet=quiet, as_json=as_json)
    if done.faults:
        _complain(done)


def _complain(done: FileRun) -> None:
    """Say what could not be read, and end with an exit code that says so."""
    for fault in done.faults[:SHOWN]:
        complain(str(fault))
    if len(done.faults) > SHOWN:
        complain(f"and {len(done.faults) - SHOWN} more")
    lost = f", {done.lost:,} rows are not in the output" if done.lost else ""
    complain(f"{done.unreadable:,} rows could not be read{lost}")
    raise typer.Exit(INCOMPLETE)


def _say(done: FileRun, out: str, *, quiet: bool, as_json: bool) -> None:
    stream = sys.stderr if out == "-" else sys.stdout
    if as_json:
        print(json.dumps({"out": out, **vars(done)}), file=stream)
    elif not quiet:
        print(f"{done}; written to {out}", file=stream)
