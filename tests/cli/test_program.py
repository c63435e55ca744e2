"""`macex` starts quickly: a command's module is imported when the command is run."""

from __future__ import annotations

import os
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
