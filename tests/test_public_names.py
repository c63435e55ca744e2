"""What `import macex` offers, and what it must not drag in."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import macex

SLOW_TO_IMPORT = (
    "array_api_compat",
    "catboost",
    "fastapi",
    "httpx",
    "jinja2",
    "joblib",
    "lightgbm",
    "openpyxl",
    "onnxruntime",
    "polars",
    "rich",
    "scipy",
    "sklearn",
    "skops",
    "torch",
    "typer",
    "urllib.request",
    "xgboost",
)


def test_public_names_are_sorted():
    assert list(macex.__all__) == sorted(macex.__all__)


def test_public_names_are_unique():
    assert len(set(macex.__all__)) == len(macex.__all__)


@pytest.mark.parametrize("name", getattr(macex, "__all__", ()))
def test_public_name_can_be_had(name):
    assert getattr(macex, name) is not None


def test_public_names_are_listed_by_dir():
    assert set(macex.__all__) <= set(dir(macex))


def imported(script: str) -> set[str]:
    """The modules that a fresh process has imported after a script."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; {script}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_macex_imports_the_version_and_nothing_else():
    ours = {name for name in imported("import macex") if name.partition(".")[0] == "macex"}
    assert ours == {"macex", "macex.version"}
    assert not {"numpy", "pandas", *SLOW_TO_IMPORT} & imported("import macex")


def test_the_public_names_need_no_slow_library():
    assert not set(SLOW_TO_IMPORT) & imported("from macex import *")


def test_type_checkers_and_python_find_a_name_in_the_same_module():
    tree = ast.parse(Path(macex.__file__).read_text(encoding="utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    told = {name.name: node.module for node in guarded.body for name in node.names}
    assert told == macex._MODULES
    assert sorted([*told, "__version__"]) == macex.__all__


def test_a_room_can_be_had_without_importing_it_first():
    assert "macex.datasets.tables" in imported("import macex; macex.datasets.load")


def test_a_misspelt_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'macex' has no attribute 'Explaner'"):
        _ = macex.Explaner
