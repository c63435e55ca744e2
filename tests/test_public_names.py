"""What `import macex` offers, and what it must not drag in."""

from __future__ import annotations

import subprocess
import sys

import pytest

import macex

SLOW_TO_IMPORT = (
    "catboost",
    "fastapi",
    "lightgbm",
    "matplotlib",
    "onnxruntime",
    "polars",
    "sklearn",
    "sklearn.ensemble",
    "skops",
    "torch",
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


def test_importing_macex_imports_no_slow_library():
    script = f"import sys, macex; print(*[m for m in {SLOW_TO_IMPORT!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == []
