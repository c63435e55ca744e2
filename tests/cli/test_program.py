"""`macex` starts quickly: a command's module is imported when the command is run."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from macex.cli.program import COMMANDS, loaded

HEAVY = {"numpy", "pandas", "scipy", "sklearn", "joblib", "jinja2"}


def imported(arguments: list[str]) -> set[str]:
    """The modules that `macex` has imported when it ends."""
    script = f"import sys; from macex.cli import main; main({arguments!r}); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("option", ["--help", "--version", "no-such-command"])
def test_before_a_command_is_known_nothing_heavy_is_imported(option):
    assert not HEAVY & imported([option])


def test_the_schema_of_a_file_needs_no_model_library(files):
    data = str(files / "train.csv")
    assert not {"scipy", "sklearn", "joblib", "jinja2"} & imported(["schema", "--data", data])


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_command_says_of_itself(name):
    assert loaded(name).help.partition("\n")[0] == COMMANDS[name][1]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, macex):
    code, said, _ = macex(f"{name} --help")
    assert code == 0
    assert f"Usage: macex {name}" in said


TELLING = ("explain", "schema", "constraints check", "whatif", "steps", "plan", "bias")
TELLING += ("recourse", "picture", "replay", "doctor", "key list")


def test_every_command_that_tells_something_tells_it_to_programs_too(macex):
    told = [name for name in TELLING if "--json" in macex(f"{name} --help")[1]]
    assert told == list(TELLING)
    rest = {name.partition(" ")[0] for name in TELLING} ^ set(COMMANDS)
    assert rest == {"demo", "serve", "bench", "project"}


@pytest.mark.parametrize(("given", "kept"), [({}, "1"), ({"OMP_NUM_THREADS": "4"}, "4")])
def test_a_server_has_one_openmp_thread_a_request_unless_told_otherwise(given, kept):
    script = (
        "import os; from macex.cli import main; code = main(['serve', '--port', '-1']); "
        "print(code, os.environ['OMP_NUM_THREADS'])"
    )
    rest = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**rest, **given},
    )
    assert done.stdout.split() == ["2", kept]


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("macex ex", {"explain"}),
        ("macex explain --al", {"--also", "--allow-pickle"}),
        ("macex project n", {"new"}),
    ],
)
def test_a_shell_completes_commands_and_options(typed, offered):
    words = typed.split()
    asking = {"COMP_WORDS": typed, "COMP_CWORD": str(len(words) - 1)}
    done = subprocess.run(
        [sys.executable, "-m", "macex.cli"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **asking, "_MACEX_COMPLETE": "complete_bash"},
    )
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("name", ["explain", "plan", "serve"])
def test_help_keeps_to_the_width_and_groups_options(name, width, macex, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    said = macex(f"{name} --help")[1]
    lines = said.splitlines()
    assert max(map(len, lines)) <= width
    titles = [] if name == "serve" else ["Files", "What is asked", "What is written"]
    assert [title for title in titles if f"╭─ {title} ─" not in said] == []


def test_without_colour_nothing_but_text_is_said():
    for colour, marked in (({"NO_COLOR": "1"}, False), ({"FORCE_COLOR": "1"}, True)):
        rest = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
        done = subprocess.run(
            [sys.executable, "-m", "macex.cli", "explain", "--help"],
            capture_output=True,
            text=True,
            check=True,
            env={**rest, **colour},
        )
        colours = re.findall(r"\x1b\[[0-9;]*3[0-9][0-9;]*m", done.stdout)
        assert bool(colours) == marked


def test_in_help_a_flag_takes_no_value(macex):
    for command in ("explain", "plan", "serve", "project new", "key list"):
        lines = macex(f"{command} --help")[1].splitlines()
        assert [line for line in lines if "bool" in line and "--help" not in line] == []
