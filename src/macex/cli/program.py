"""The commands together, and what becomes of an error: one line, exit code 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from macex.cli import (
    bench,
    bias,
    constraints,
    demo,
    doctor,
    explain,
    keys,
    picture,
    plan,
    project,
    recourse,
    replay,
    schema,
    serve,
    whatif,
)
from macex.errors import MacexError
from macex.version import __version__

WRONG, INTERRUPTED = 2, 130
WRONG_USE: Any = typer.BadParameter.__base__  # what all errors in the use of options derive from

app = typer.Typer(
    name="macex",
    help="What is the least that would have to be different for a model to decide otherwise?\n\n"
    "Begin with `macex demo`. `macex COMMAND --help` teaches each command by example.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
)


def _say_version(asked: bool) -> None:
    if asked:
        print(__version__)
        raise typer.Exit


@app.callback()
def about(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_say_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """What comes before every command."""


app.command("demo")(demo.main)
app.command("explain")(explain.explain)
app.command("schema")(schema.schema)
app.add_typer(constraints.app, name="constraints")
app.command("whatif")(whatif.whatif)
app.command("plan")(plan.plan)
app.command("bias")(bias.bias)
app.command("recourse")(recourse.recourse)
app.command("picture")(picture.picture)
app.command("replay")(replay.replay)
app.command("serve")(serve.serve)
app.add_typer(project.app, name="project")
app.add_typer(keys.app, name="key")
app.command("doctor")(doctor.doctor)
app.command(
    "bench",
    add_help_option=False,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
)(bench.bench)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    try:
        code = app(arguments, prog_name="macex", standalone_mode=False)
        sys.stdout.flush()
    except typer.Exit as done:
        code = done.exit_code
    except WRONG_USE as error:
        said = error.format_message()  # nothing, where help was shown in place of a command
        return _wrong(f"{said} (macex --help tells more)") if said else WRONG
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        named = f"{error.filename}: " if error.filename else ""
        return _wrong(f"{named}{error.strerror or error}")
    except MacexError as error:
        return _wrong(str(error))
    if code == INTERRUPTED:
        return _interrupted()
    return code if isinstance(code, int) else 0


def _interrupted() -> int:
    print("macex: interrupted; `macex explain --resume` goes on", file=sys.stderr)
    return INTERRUPTED


def _wrong(message: str) -> int:
    """Say in one line what is wrong."""
    line = " ".join(message.split())
    print(f"macex: {line}", file=sys.stderr)
    return WRONG
