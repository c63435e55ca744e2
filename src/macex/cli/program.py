"""The commands together, and what becomes of an error: one line, exit code 2."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import getdoc
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from macex.cli.colours import complain
from macex.errors import MacexError
from macex.version import __version__

WRONG, INTERRUPTED = 2, 130
WIDEST = 76  # letters of an example in a terminal of 80
INDENT, STARTS = " " * 4, ("macex ", "cat ")  # of an example
WRONG_USE: Any = typer.BadParameter.__base__  # what all errors in the use of options derive from

# Where each command is and the first line of its help. A command's module is imported when the
# command is run, so that `macex --help` and the light commands do not wait for the heavy ones.
COMMANDS = {
    "demo": (
        "demo.main",
        "A tour in half a minute: real census rows, three searches, constraints, and a report.",
    ),
    "explain": (
        "explain.explain",
        "The least that would have to be different, for every row of a file.",
    ),
    "schema": (
        "schema.schema",
        "Show how each column of the training rows is read, and what holds between columns.",
    ),
    "whatif": (
        "whatif.whatif",
        "Change values of one row and see what follows and what the model says.",
    ),
    "steps": (
        "steps.steps",
        "Order the changes of an answer into steps, with what follows from each and what it costs.",
    ),
    "plan": ("plan.plan", "Find few common actions that flip the most rows of a file."),
    "bias": (
        "bias.bias",
        "Measure what protected columns do to decisions, to answers and to the effort of groups.",
    ),
    "recourse": (
        "recourse.recourse",
        "Count rows with an answer under the constraints, provably without one, and undecided.",
    ),
    "picture": (
        "picture.picture",
        "Show what the answers of many rows change, and which action helps which rows.",
    ),
    "replay": ("replay.replay", "Make a recorded explanation again and compare every byte."),
    "serve": ("serve.serve", "Look at decisions on a page, and ask over HTTP."),
    "doctor": (
        "doctor.doctor",
        "Show which libraries are installed, their versions, and which models can be explained.",
    ),
    "bench": ("bench.app", "Rerun the paper's experiments: `macex bench --help` says how."),
    "constraints": ("constraints.app", "Files that say what may change."),
    "project": ("project.app", "Folders that `macex serve` opens."),
    "key": ("keys.app", "Keys of a server."),
}


class Commands(TyperGroup):
    """Commands of which a line is known; the one that is run is imported."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that these arguments begin with, and the other arguments."""
        name, command, rest = super().resolve_command(ctx, args)
        return name, command and loaded(str(name)), rest


app = typer.Typer(
    name="macex",
    cls=Commands,
    help="What is the least that would have to be different for a model to decide otherwise?\n\n"
    "Begin with `macex demo`. `macex COMMAND --help` shows examples of each command.",
    no_args_is_help=True,
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


def loaded(name: str) -> Any:
    """The command of this name, imported."""
    module, _, attribute = COMMANDS[name][0].partition(".")
    found = getattr(import_module(f"macex.cli.{module}"), attribute)
    if not isinstance(found, typer.Typer):
        function, found = found, typer.Typer(add_completion=False, rich_markup_mode="markdown")
        found.command(name)(function)
    for command in found.registered_commands:
        command.help = folded(getdoc(command.callback) or "")
    made = get_command(found)
    for each in (made, *getattr(made, "commands", {}).values()):
        for option in each.params:
            if getattr(option, "is_flag", False):
                option.metavar = ""  # in help a flag takes no value
    return made


def folded(text: str) -> str:
    r"""Help whose examples can be copied: a line that is too long goes on after a backslash.

    >>> print(folded("macex plan --model model.onnx --data train.csv --rows all.csv --actions 10"))
        macex plan --model model.onnx --data train.csv --rows all.csv \
          --actions 10
    """
    lines = (f"{INDENT}{line}" if line.startswith(STARTS) else line for line in text.split("\n"))
    return "\n".join(part for line in lines for part in _folded(line))


def _folded(line: str) -> list[str]:
    if len(line) <= WIDEST or not line.startswith(INDENT):
        return [line]
    cut = line.rfind(" -", len(INDENT) + 2, WIDEST - 2)
    if cut < 0:
        return [line]
    return [f"{line[:cut]} \\", *_folded(f"{INDENT}  {line[cut + 1 :]}")]


def program() -> Any:
    """`macex` with all its commands, none of which is imported yet."""
    commands: Any = get_command(app)
    for name, (_, line) in COMMANDS.items():
        commands.add_command(TyperCommand(name, help=line))
    return commands


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit code."""
    try:
        code = program()(arguments, prog_name="macex", standalone_mode=False)
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
    complain("interrupted; `macex explain --resume` goes on")
    return INTERRUPTED


def _wrong(message: str) -> int:
    """Say in one line what is wrong."""
    line = " ".join(message.split())
    complain(line)
    return WRONG
